//! `split`: one trace to parts that are traces of their own.
//!
//! ```text
//!   inputs ─ scan ─> events in partitions ─┬─> partitions of a thread, a process, a category ─┐
//!                    16 bytes each    └─> all in order ─ cut by time, size, number ─┴─> parts ─> files
//!                      │ budget
//!                      └─> one file of runs, by partition
//! ```
//!
//! Modules in that order: `partition` and `look` (events to partitions), `scan` (partitions of all inputs), `plan` (partitions to parts), `cut`
//! (parts of a sequence), `frames` (stack frames of a part), `files` (their names), `write` (parts to files).
//!
//! # What is in a part
//!
//! | what | where it goes |
//! |---|---|
//! | an event | to one part, that of its thread, process, first category, or stretch |
//! | metadata (ph M) | to every part with the thread (`thread_…`) or process (all other names) that it is of; if there is none, to the first part that has the process, else to the first |
//! | a CPU profile stream | whole, to the part of its last `Profile` event; without one, of its first chunk |
//! | keys beside the events | to every part; of `stackFrames` the frames that its events name |
//! | events by which DevTools knows pages and workers (`tracemill_viewers::essential`) | once more to each part that has a process that they are of or name, unless it ends before; the first 1024 in order |
//! | B events open at a cut | repeated at the start of the next part |
//!
//! Parts of a cut have the metadata of threads that live in them: whose first and last event are not both before or behind.
//! Begins are matched with ends as a stack for each thread, in time order; of a thread at most 1024 are repeated.
//! Of events that are repeated the last member says so (`repeated`), and the key `tracemill` of a part says of which whole it is
//! (`parts`), so that [`crate::merge()`] writes each event once. The array form has no place for that key: parts of an
//! array are objects, unless arrays are asked for.

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

/// Everything about the parts.
#[derive(Clone, Debug)]
pub struct SplitConfig {
    /// What makes a part.
    pub by: SplitBy,
    /// Parts of processes and threads are cut further, at this many bytes before packing.
    pub max_size: Option<u64>,
    /// Their folder, which is created if it does not exist.
    pub dir: PathBuf,
    /// Their names; `None` for the usual ones. See [`check_split_template`].
    pub template: Option<String>,
    /// Whether existing files may be replaced.
    pub replace: bool,
    /// Files that a part may not be, and folders whose files it may not be.
    pub reserved: Vec<PathBuf>,
    /// Their format; the first input's if `None`.
    pub format: Option<Format>,
    /// How they are packed.
    pub compression: Compression,
    /// Plan, check and report, but write nothing.
    pub dry_run: bool,
}

/// A part of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SplitPart {
    /// Its file.
    #[serde(serialize_with = "tracemill_join::report::rows::path")]
    pub file: PathBuf,
    /// `pid` as written, where parts are of processes or threads; empty if missing.
    pub pid: Option<String>,
    /// `tid` as written, where parts are of threads; empty if missing.
    pub tid: Option<String>,
    /// The category, where parts are of categories; empty if missing.
    pub cat: Option<String>,
    /// Events in the file.
    pub events: u64,
    /// Metadata events among them, which other parts may have too.
    pub metadata: u64,
    /// B events among them that are repeated from an earlier part.
    pub copies: u64,
    /// Bytes before packing. In a dry run those of NDJSON are a guess: line breaks within events are not looked for.
    pub bytes: u64,
    /// Time stamps of the first and the last event in nanoseconds; metadata and repeated ones do not count.
    pub times_ns: Option<(i64, i64)>,
}

/// What a split did. Of its run events and bytes are those of all parts.
#[derive(Clone, Debug, Serialize)]
pub struct SplitReport {
    /// Inputs, output, warnings.
    #[serde(flatten)]
    pub run: RunReport,
    /// The parts, in the order of their numbers.
    pub parts: Vec<SplitPart>,
    /// How often the index went to disk.
    pub spills: u64,
    /// Chunks of CPU profiles written behind their predecessors instead of at their times.
    pub delayed_chunks: u64,
}

impl SplitReport {
    /// Events and bytes of the run are those of all parts.
    fn add_up(&mut self) {
        self.run.events = self.parts.iter().map(|part| part.events).sum();
        self.run.bytes = self.parts.iter().map(|part| part.bytes).sum();
    }
}

/// Checks a template for the names of parts: `{stem}` of the first input, `{ext}` that says form and packing, `{part}` from 1
/// on, and, where parts are of those, `{pid}` `{tid}` `{process}` `{thread}` `{cat}`. What does not belong into a name becomes `_`.
///
/// # Errors
/// The first placeholder that means nothing here, or a separator of folders.
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

/// Splits `sources`, taken together, into parts that are traces of their own, each in the order of [`crate::merge()`].
///
/// Cost: one pass over the input at scanning speed and one write of all parts; 16 bytes of heap an event (24 for B and E
/// events where parts are cut), and beyond a quarter of the budget none, for sorted runs on disk; some hundred bytes a
/// thread, a stream and a part. Parts that are cut cost a walk over the sorted index, and where the trace has `stackFrames`
/// each part is read once more. No more files are open than twice the threads.
///
/// For a viewer ([`Config::viewer`]) each part is written to the folder of temporary files, and a merge for the viewer makes the file
/// of it, one part after the other; what is repeated at cuts is joined with its end then, so that a merge of the parts has it twice.
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
/// See [`ErrorKind`]; [`ErrorKind::Budget`] if a part is for a viewer and there are less than 64 MiB; [`ErrorKind::Parts`] if two
/// parts would have one name, there are too many, or they would take more than 64 MiB and more than 4 times what was read. Nothing is written
/// unless all inputs could be read and no file is in the way. Each file appears when it is complete: a run that fails
/// while it writes leaves those that were. Damaged input is no error (unless [`crate::Limits::strict`]).
pub fn split(
    sources: &[Source],
    split: &SplitConfig,
    config: &Config,
) -> Result<SplitReport, Error> {
    config.limits.check()?;
    if config.viewer.viewer.is_some() {
        // a merge beside the index of the parts
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

/// What is read, and what is asked for.
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
    /// The second half of a split: parts and files.
    fn write<M: Mode>(&self, owners: &[(u32, u32)]) -> Result<SplitReport, Error> {
        let SplitRun { found, runs, store, split, config, .. } = *self;
        let mut united = unite_without_annotations(&found.documents, store);
        let (usual, viewer) = (default_format(&found.documents), config.viewer.viewer);
        let mut format = self.format(usual);
        let layout = Layout::of(format);
        let frames = TraceFrames::of(&united);
        let frames = frames.as_ref().filter(|_| format != Format::Array);
        let keys = united.keys.len();
        // what is changed for a viewer is no part of a whole
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
            // the stack frames of a part cost a pass over it
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

    /// Writes parts that will have about so many bytes, and says so.
    fn write_parts(
        &self,
        job: &WriteContext<'_, '_, '_>,
        parts: &[OutputPart],
        files: Vec<PathBuf>,
        mut lens: Vec<u64>,
        report: &mut SplitReport,
    ) -> Result<(), Error> {
        let SplitRun { split, config, .. } = *self;
        // what a viewer needs is known when it is written
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
            report.run.warnings.extend(written.said);
        }
        if is_fitted {
            self.warn_of_sizes(&lens, &mut report.run.warnings);
        }
        Ok(())
    }

    /// Chunks of CPU profiles that time order would tear.
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

    /// The form of several parts of a trace that has the `usual` one.
    fn format(&self, usual: Format) -> Format {
        let viewer = self.config.viewer.viewer;
        let is_json = || self.split.template.as_ref().is_some_and(|name| is_json(name.as_ref()));
        self.split.format.unwrap_or(match usual {
            // only here is a place to say of what this is a part
            Format::Array if viewer.is_none() => Format::Object,
            // which no viewer reads
            Format::Ndjson if viewer.is_some() || is_json() => Format::Object,
            format => format,
        })
    }

    /// What parts say of the whole: a JSON object.
    fn whole(&self) -> String {
        let own = self.found.partitions.iter().filter(|partition| !partition.is_copy());
        let bytes: u64 = own.map(|partition| partition.bytes).sum();
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
