//! `split`: divides a trace into parts that are traces themselves.
//!
//! ```text
//!   inputs ─ scan ─> partitions ───┬─> by thread, process, category ────────┐
//!                    16 bytes each └─> in order ─ cut by time, size, number ┴─> parts ─> files
//!                      │ budget
//!                      └─> one file of runs, by partition
//! ```
//!
//! Modules in order: `partition` and `look` (events to partitions), `scan` (partitions of all
//! inputs), `plan` (partitions to parts), `cut`, `frames` (stack frames), `files` (names), `write`.
//!
//! | content | part |
//! |---|---|
//! | event | the part of its thread, process, first category, or range |
//! | metadata (ph M) | each part with its thread (`thread_…`) or process (other names); otherwise the first part with the process, or the first part |
//! | CPU profile stream | the part of its last `Profile` event or its first chunk |
//! | top-level keys | each part; `stackFrames` only with the frames its events refer to |
//! | events by which DevTools knows pages and workers (`tracemill_viewers::essential`) | also each part with a process that they name, unless the part ends before; only the first 1024 events |
//! | B events open at a cut | also the next part; at most 1024 per thread |
//!
//! Cut parts have the metadata of threads that are alive in them. Repeated events are marked
//! (`repeated`), and the key `tracemill` of a part identifies the whole trace (`parts`), so that
//! [`crate::merge()`] writes each event once. The array form has no such key, so parts of an array
//! are objects by default.

mod by;
mod cut;
mod files;
mod frames;
mod group;
mod live_threads;
mod look;
mod pages;
mod partition;
mod plan;
mod scan;
mod write;

pub use by::SplitBy;
use frames::{TraceFrames, bytes_around};
use look::{ByThread, Categories, CutThreads, Mode, WholeTraceCut};
use pages::PageEvents;
use plan::{OutputPart, Planner, owners};
use scan::{SplitInputs, SplitScan};
use serde::Serialize;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use tracemill_join::clock::far_apart;
use tracemill_join::config::Config;
use tracemill_join::identity::parts::statement;
use tracemill_join::inputs::{of_inputs, scan};
use tracemill_join::report::RunReport;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{Elsewhere, EventIndex, Scanned};
use tracemill_trace::order::{Lists, Order, PartitionRuns};
use tracemill_trace::output::target::{Compression, Format, OutputConfig, Target, is_json};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::{Error, ErrorKind};
use tracemill_trace::store::Store;
use tracemill_write::annotations::unfollowed;
use tracemill_write::file_names::unknown_placeholder;
use tracemill_write::keys::{OutputKey, free_name, unite_without_annotations};
use tracemill_write::layout::{Layout, default_format};
use tracemill_write::reordering::Reordering;
use tracemill_write::trace_writer::warn;
use write::WriteContext;

/// Options of `split`.
#[derive(Clone, Debug)]
pub struct SplitConfig {
    /// The criterion of the split.
    pub by: SplitBy,
    /// Maximum bytes of a part before compression, when splitting by process or thread.
    pub max_size: Option<u64>,
    /// The folder of the parts, which is created if it does not exist.
    pub dir: PathBuf,
    /// Template of the file names; `None` for the default. See [`check_split_template`].
    pub template: Option<String>,
    /// Whether existing files may be replaced.
    pub replace: bool,
    /// Files that no part may overwrite, and folders whose files no part may overwrite.
    pub reserved: Vec<PathBuf>,
    /// Format of the parts; `None` for the format of the first input.
    pub format: Option<Format>,
    /// Compression of the parts.
    pub compression: Compression,
    /// Whether to plan, check and report without writing.
    pub dry_run: bool,
}

/// A part of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SplitPart {
    /// The file of the part.
    #[serde(serialize_with = "tracemill_join::report::rows::path")]
    pub file: PathBuf,
    /// The `pid` as written, when splitting by process or thread; empty if missing.
    pub pid: Option<String>,
    /// The `tid` as written, when splitting by thread; empty if missing.
    pub tid: Option<String>,
    /// The category, when splitting by category; empty if missing.
    pub cat: Option<String>,
    /// Number of events.
    pub events: u64,
    /// Number of metadata events. Other parts may have the same events.
    pub metadata: u64,
    /// Number of events repeated from other parts.
    pub copies: u64,
    /// Bytes before compression. In a dry run this is an estimate for NDJSON, because line breaks
    /// inside events are not counted.
    pub bytes: u64,
    /// Times of the first and the last event in nanoseconds, without metadata and repeated events.
    pub times_ns: Option<(i64, i64)>,
}

/// The result of `split`. Events and bytes of its run are totals.
#[derive(Clone, Debug, Serialize)]
pub struct SplitReport {
    /// Inputs, output and warnings.
    #[serde(flatten)]
    pub run: RunReport,
    /// The parts, in order.
    pub parts: Vec<SplitPart>,
    /// Number of times that the index was spilled to disk.
    pub spills: u64,
    /// Number of CPU profile chunks written after their predecessors instead of at their times.
    pub delayed_chunks: u64,
}

impl SplitReport {
    /// Sets events and bytes of the run to the totals of all parts.
    fn add_up(&mut self) {
        self.run.events = self.parts.iter().map(|part| part.events).sum();
        self.run.bytes = self.parts.iter().map(|part| part.bytes).sum();
    }
}

/// Checks a template for the names of parts.
/// A template may contain `{stem}` (name of the first input), `{ext}` (for format and compression),
/// `{part}` (number from 1 on) and, depending on the split, `{pid}`, `{tid}`, `{process}`,
/// `{thread}` and `{cat}`. Characters that are unsafe in file names become `_`.
///
/// # Errors
/// Returns a message if the template contains `/` or a placeholder that this split does not have.
pub fn check_split_template(template: &str, by: SplitBy) -> Result<(), String> {
    if template.contains('/') {
        return Err("a template names files, not folders".into());
    }
    match unknown_placeholder(template, by.placeholders()) {
        Some(name) => Err(format!(
            "{{{name}}} means nothing for these parts; there are {{{}}}",
            by.placeholders().join("} {")
        )),
        None => Ok(()),
    }
}

/// Merges `sources` and splits the result into parts that are traces themselves. Each part is in
/// the order of [`crate::merge()`].
///
/// For a viewer ([`Config::viewer`]), a merge for the viewer reads each part from a temporary file.
/// This merge joins repeated begin events with their end events, so a later merge of the parts has
/// both copies.
///
/// Cost: one pass over the input at scanning speed and one write of all parts. Cut parts also need
/// a walk over the sorted index, and parts with `stackFrames` are read once more. Takes 16 bytes of
/// memory per event (24 for B and E events if parts are cut), which spill to disk, and a few
/// hundred bytes per thread, stream and part. Each thread has at most one part open.
///
/// ```
/// use tracemill_pipeline::{Compression, Config, Source, SplitBy, SplitConfig, split};
/// # let folder = tempfile::tempdir()?;
/// # let trace = folder.path().join("trace.json");
/// # std::fs::write(&trace, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":50},{"ph":"X","name":"b","pid":1,"tid":2,"ts":2000,"dur":900}]"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let threads = SplitConfig {
///     by: SplitBy::Tid,
///     max_size: None,
///     dir: folder.path().join("threads"),
///     template: None, // trace.1.1.json
///     replace: false,
///     reserved: Vec::new(),
///     format: None,
///     compression: Compression::None,
///     dry_run: false,
/// };
/// let report = split(&[Source::Path(trace)], &threads, &config)?;
/// let parts: Vec<_> = report.parts.iter().map(|part| (part.tid.as_deref(), part.events)).collect();
/// assert_eq!(parts, [(Some("1"), 1), (Some("2"), 1)]);
/// assert!(report.parts[0].file.ends_with("trace.1.1.json"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`ErrorKind`]. Returns [`ErrorKind::Budget`] if parts are for a viewer and the memory limit
/// is below 64 MiB. Returns [`ErrorKind::Parts`] if two parts have the same name, if there are too
/// many parts, or if they would take more than 64 MiB and four times the input.
///
/// Nothing is written if an input cannot be read or a file exists already. Files appear when they
/// are complete; a run that fails later leaves them. Damaged input is not an error, unless
/// [`crate::Limits::strict`] is set.
pub fn split(
    sources: &[Source],
    split: &SplitConfig,
    config: &Config,
) -> Result<SplitReport, Error> {
    config.limits.check()?;
    if config.viewer.viewer.is_some() {
        // the merge needs memory in addition to the index of the parts
        let (given, least) = (config.limits.memory, 2 * Config::MEMORY_MIN);
        if given < least {
            return Err(ErrorKind::Budget { given, least }.into());
        }
    }
    if let Some(template) = &split.template {
        check_split_template(template, split.by).map_err(refusal)?;
    }
    match (split.by, split.max_size) {
        (SplitBy::Pid | SplitBy::Tid, None) => run::<ByThread>(sources, split, config),
        (SplitBy::Pid | SplitBy::Tid, Some(_)) => run::<CutThreads>(sources, split, config),
        (SplitBy::Cat, None) => run::<Categories>(sources, split, config),
        (_, None) => run::<WholeTraceCut>(sources, split, config),
        (_, Some(_)) => Err(refusal("a largest size is for parts by process or thread".into())),
    }
}

fn refusal(found: String) -> Error {
    ErrorKind::Parts { found }.into()
}

fn run<M: Mode>(
    sources: &[Source],
    split: &SplitConfig,
    config: &Config,
) -> Result<SplitReport, Error> {
    let Scanned { inputs, index, observed } =
        scan(sources, config, Elsewhere, SplitScan::<M>::new(&config.limits))?;
    let EventIndex { long_events, documents, .. } = index;
    let store = &inputs.store().with_long(&long_events);
    let (mut found, mut runs) = observed.end_reading(documents, store)?;
    let owners = owners(&mut found);
    if M::CUT {
        runs.resolve_ties(Order(store), config.limits.threads);
    }
    let all =
        SplitRun { found: &found, runs: &runs, store, inputs: &inputs, sources, split, config };
    all.write::<M>(&owners)
}

struct SplitRun<'w, 'p> {
    found: &'w SplitInputs,
    runs: &'w PartitionRuns,
    store: &'w Store<'p>,
    inputs: &'w Inputs,
    sources: &'w [Source],
    split: &'w SplitConfig,
    config: &'w Config,
}

impl<'w> SplitRun<'w, '_> {
    /// Plans the parts and writes the files.
    fn write<M: Mode>(&self, owners: &[(u32, u32)]) -> Result<SplitReport, Error> {
        let SplitRun { found, runs, store, split, config, .. } = *self;
        let mut united = unite_without_annotations(&found.documents, store);
        let (usual, viewer) = (default_format(&found.documents), config.viewer.viewer);
        let mut format = self.format(usual);
        let layout = Layout::of(format);
        let frames = TraceFrames::of(&united);
        let frames = frames.as_ref().filter(|_| format != Format::Array);
        let keys = united.keys.len();
        // a merge cannot join parts that were changed for a viewer
        if format != Format::Array && viewer.is_none() {
            let value = vec![Cow::Owned(statement(&self.whole()))];
            united.keys.push(OutputKey { name: free_name(&united), value });
        }
        let pages = PageEvents::of(found, runs, Order(store), split.by);
        let planner = Planner {
            found,
            runs,
            order: Order(store),
            by: split.by,
            max_size: split.max_size,
            overhead: bytes_around(layout, &united, frames) + pages.bytes(),
            frames,
            room: config.limits.table_quota(),
        };
        let groups = planner.groups(owners);
        let mut parts = planner.parts(&groups)?;
        pages.repeat(&mut parts, &groups, &planner);
        if parts.len() == 1 && split.format.is_none() && usual == Format::Array && viewer.is_none()
        {
            format = usual;
        }
        let layout = Layout::of(format);
        if parts.len() == 1 {
            united.keys.truncate(keys);
        }
        let delays = self.delays(&planner)?;
        let mut report = self.report(format, &delays);
        warn(&united, &delays, &mut report.run);
        if format == Format::Array {
            report.run.keys_lost = united.keys.len() as u64;
        } else {
            report.run.annotations = unfollowed(&found.documents, store);
            report.run.warnings.extend(report.run.annotations.warning());
        }
        let job = WriteContext {
            planner: &planner,
            groups: &groups,
            united: &united,
            frames: frames.filter(|_| format != Format::Array),
            around: bytes_around(layout, &united, frames),
            lists: &Lists::default(),
            delays: &delays,
            layout,
            output: &self.output(format),
            inputs: self.inputs,
            config,
        };
        let files = self.files(&parts, &groups, format)?;
        if !split.dry_run {
            // computing the stack frames of parts takes a pass over each part
            self.refuse_repetition(&parts.iter().map(|part| part.bytes).collect::<Vec<_>>())?;
        }
        let lens: Vec<u64> = parts.iter().map(|part| job.len(part)).collect();
        if split.dry_run {
            self.warn_of_sizes(&lens, &mut report.run.warnings);
            report.parts = self.described(&parts, &groups, files, &lens);
        } else {
            self.refuse_repetition(&lens)?;
            self.write_parts(&job, &parts, files, lens, &mut report)?;
        }
        report.add_up();
        Ok(report)
    }

    /// Writes parts of about `lens` bytes, and reports them.
    fn write_parts(
        &self,
        job: &WriteContext<'_, '_, '_>,
        parts: &[OutputPart],
        files: Vec<PathBuf>,
        mut lens: Vec<u64>,
        report: &mut SplitReport,
    ) -> Result<(), Error> {
        let SplitRun { split, config, .. } = *self;
        // for a viewer, sizes are known after writing
        let is_fitted = config.viewer.viewer.is_some();
        if !is_fitted {
            self.warn_of_sizes(&lens, &mut report.run.warnings);
        }
        let make = std::fs::create_dir_all(&split.dir);
        make.map_err(|e| Error::write(split.dir.display(), e))?;
        config.limits.progress.bytes_to_write.store(lens.iter().sum(), Ordering::Relaxed);
        let written = job.write_all(parts, &files)?;
        lens.iter_mut().zip(&written).for_each(|(len, part)| *len = part.bytes);
        report.parts = self.described(parts, job.groups, files, &lens);
        for (part, written) in report.parts.iter_mut().zip(written) {
            part.events = written.events;
            report.run.viewer.add(written.viewer);
            report.run.warnings.extend(written.warnings);
        }
        if is_fitted {
            self.warn_of_sizes(&lens, &mut report.run.warnings);
        }
        Ok(())
    }

    /// Finds the CPU profile chunks to delay.
    fn delays(&self, planner: &Planner<'_, '_, '_>) -> Result<Reordering, Error> {
        let suspects = self.found.streams.clone().suspects();
        match suspects.is_empty() {
            true => Ok(Reordering::default()),
            false => Reordering::find(
                &suspects,
                planner.chunks(&suspects),
                planner.order,
                &self.config.limits,
            ),
        }
    }

    /// Returns the format of several parts of a trace whose default format is `usual`.
    fn format(&self, usual: Format) -> Format {
        let viewer = self.config.viewer.viewer;
        let is_json = || self.split.template.as_ref().is_some_and(|name| is_json(name.as_ref()));
        self.split.format.unwrap_or(match usual {
            // only an object can identify the whole trace
            Format::Array if viewer.is_none() => Format::Object,
            // viewers do not read NDJSON
            Format::Ndjson if viewer.is_some() || is_json() => Format::Object,
            format => format,
        })
    }

    /// Returns a JSON object that identifies the whole trace.
    fn whole(&self) -> String {
        let originals = self.found.partitions.iter().filter(|partition| !partition.is_copy());
        let bytes: u64 = originals.map(|partition| partition.bytes).sum();
        let threads = self.found.partitions.iter();
        let spans = threads.filter_map(|partition| partition.span);
        let span = spans.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
        let span = span.map_or_else(String::new, |(first, last)| {
            format!(",\"first_ns\":{first},\"last_ns\":{last}")
        });
        format!("{{\"events\":{},\"bytes\":{bytes}{span}}}", self.found.events)
    }

    fn report(&self, format: Format, delays: &Reordering) -> SplitReport {
        let spans =
            self.inputs.reports.iter().filter_map(|input| Some((input.span?, &*input.name)));
        let far = far_apart(spans.map(|((first, last), name)| (first, last, name)));
        SplitReport {
            run: RunReport {
                inputs: self.inputs.reports.clone(),
                format,
                spooled_bytes: self.inputs.spooled,
                warnings: of_inputs(self.inputs).chain(far).collect(),
                ..RunReport::new(&self.config.limits)
            },
            parts: Vec::new(),
            spills: self.runs.spills,
            delayed_chunks: delays.count(),
        }
    }

    fn output(&self, format: Format) -> OutputConfig {
        let target = Target::File { path: PathBuf::new(), replace: self.split.replace };
        OutputConfig { target, format: Some(format), compression: self.split.compression }
    }
}
