//! `split`: one trace to parts that are traces of their own (contracts C1–C8).
//!
//! ```text
//!   inputs ─ scan ─> events in lanes ─┬─> lanes of a thread, a process, a category ─┐
//!                    16 bytes each    └─> all in order ─ cut by time, size, number ─┴─> parts ─> files
//!                      │ budget
//!                      └─> one file of runs, by lane
//! ```
//!
//! Modules in that order: `lane` and `scan` (events to lanes), `index` (lanes of all inputs), `plan` (lanes to parts), `cut`
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
//! | B events open at a cut | repeated at the start of the next part, and listed in its key `tracemill` |
//!
//! Parts of a cut have the metadata of threads that live in them: whose first and last event are not both before or behind.
//! Begins are matched with ends as a stack for each thread, in time order; of a thread at most 1024 are repeated.
//! `{"tracemill":{"copies":[event,…]}}` has them as they are written, so that [`crate::merge()`] takes
//! out one equal event for each. The array form has no place for it, so nothing is repeated there.

mod cut;
mod files;
mod frames;
mod index;
mod lane;
mod living;
mod plan;
mod scan;
mod write;

use crate::annotations::{Annotations, Fates};
use crate::clock::far_apart;
use crate::config::Config;
use crate::delays::Delays;
use crate::inputs::read_all;
use crate::keys::unite;
use crate::layout::Layout;
use crate::layout::default_format;
use crate::merge::warn;
use crate::names::unknown_placeholder;
use crate::report::AnnotationReport;
use frames::Frames;
use index::{Found, Index};
use lane::Kind;
use plan::{Part, Planner, owners};
use scan::{Categories, CutThreads, CutWhole, Mode, Threads};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use tracemill_core::error::{Error, ErrorKind};
use tracemill_core::losses::InputReport;
use tracemill_core::order::{LaneRuns, Lists, Order};
use tracemill_core::read::Inputs;
use tracemill_core::source::Source;
use tracemill_core::store::Store;
use tracemill_core::target::{Compression, Format, OutputConfig, Target};
use tracemill_tokenizer::Tier;
use write::Job;

/// Bytes at most of the key that lists what is repeated, beside the list.
const COPIES_KEY: u64 = 40;

/// What makes a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBy {
    /// A process.
    Pid,
    /// A thread of a process.
    Tid,
    /// A category, the first of those an event has.
    Cat,
    /// This many nanoseconds, counted from the first event; stretches without events make no part.
    Time(i64),
    /// At most this many bytes before packing, unless one event alone is larger.
    Size(u64),
    /// At most this many events, metadata and repeated ones not counted.
    Events(u64),
}

impl SplitBy {
    /// Placeholders of templates that mean something.
    fn placeholders(self) -> &'static [&'static str] {
        match self {
            SplitBy::Pid => &["stem", "ext", "part", "pid", "process"],
            SplitBy::Tid => &["stem", "ext", "part", "pid", "process", "tid", "thread"],
            SplitBy::Cat => &["stem", "ext", "part", "cat"],
            SplitBy::Time(_) | SplitBy::Size(_) | SplitBy::Events(_) => &["stem", "ext", "part"],
        }
    }

    /// The usual template.
    fn template(self, numbered: bool) -> &'static str {
        match (self, numbered) {
            (SplitBy::Pid, false) => "{stem}.{pid}.{ext}",
            (SplitBy::Pid, true) => "{stem}.{pid}.{part}.{ext}",
            (SplitBy::Tid, false) => "{stem}.{pid}.{tid}.{ext}",
            (SplitBy::Tid, true) => "{stem}.{pid}.{tid}.{part}.{ext}",
            (SplitBy::Cat, _) => "{stem}.{cat}.{ext}",
            _ => "{stem}.{part}.{ext}",
        }
    }
}

/// Everything about the parts.
#[derive(Clone, Debug)]
pub struct SplitConfig {
    /// What makes a part.
    pub by: SplitBy,
    /// Parts of processes and threads are cut further, at this many bytes before packing.
    pub max_size: Option<u64>,
    /// Their folder, which is made if it does not exist.
    pub dir: PathBuf,
    /// Their names; `None` for the usual ones. See [`check_split_template`].
    pub template: Option<String>,
    /// Whether existing files may be replaced.
    pub replace: bool,
    /// Files that a part may not be.
    pub reserved: Vec<PathBuf>,
    /// Their format; the first input's if `None`.
    pub format: Option<Format>,
    /// How they are packed.
    pub compression: Compression,
    /// Plan, check and report, but write nothing.
    pub dry_run: bool,
}

/// A part of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitPart {
    /// Its file.
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

/// What a split did.
#[derive(Clone, Debug)]
pub struct SplitReport {
    /// Per input, in order.
    pub inputs: Vec<InputReport>,
    /// The parts, in the order of their numbers.
    pub parts: Vec<SplitPart>,
    /// Their format.
    pub format: Format,
    /// The instruction set of the scan.
    pub tier: Tier,
    /// Worker threads.
    pub threads: usize,
    /// How often the index went to disk.
    pub spills: u64,
    /// Bytes of inputs that were spooled to disk.
    pub spooled_bytes: u64,
    /// Chunks of CPU profiles written behind their predecessors instead of at their times.
    pub delayed_chunks: u64,
    /// Keys left out because the format has no place for them.
    pub keys_lost: u64,
    /// What became of DevTools' annotations: those that are in any part are kept, each as often as parts have it.
    pub annotations: AnnotationReport,
    /// What the user should know, one sentence each.
    pub warnings: Vec<String>,
}

impl SplitReport {
    /// Stretches and keys lost in all.
    pub fn lost(&self) -> u64 {
        self.keys_lost + self.inputs.iter().map(InputReport::lost).sum::<u64>()
    }
}

/// Checks a template for the names of parts: `{stem}` of the first input, `{ext}` that says form and packing, `{part}` from 1
/// on, and, where parts are of those, `{pid}` `{tid}` `{process}` `{thread}` `{cat}`. What does not belong into a name becomes `_`.
///
/// # Errors
/// The first placeholder that means nothing here, or a separator of folders.
pub fn check_split_template(template: &str, by: SplitBy) -> Result<(), String> {
    if template.contains('/') {
        return Err("a template names files, not folders; use -d DIR for the folder".into());
    }
    match unknown_placeholder(template, by.placeholders()) {
        Some(name) => Err(format!(
            "{{{name}}} means nothing with this --by; there are {{{}}}",
            by.placeholders().join("} {")
        )),
        None => Ok(()),
    }
}

/// Splits `sources`, taken together, into parts that are traces of their own, each in the order of contract C3.
///
/// Cost: one pass over the input at scanning speed and one write of all parts; 16 bytes of heap an event (24 for B and E
/// events where parts are cut), and beyond a quarter of the budget none, for sorted runs on disk; some hundred bytes a
/// thread, a stream and a part. Parts that are cut cost a walk over the sorted index, and where the trace has `stackFrames`
/// each part is read once more. No more files are open than twice the threads.
///
/// # Errors
/// See [`ErrorKind`]; [`ErrorKind::Parts`] if two parts would have one name, there are too many, they would take more than
/// a GiB and 32 times what was read, or annotations would have to be gone through for minutes. Nothing is written
/// unless all inputs could be read and no file is in the way. Each file appears when it is complete: a run that fails
/// while it writes leaves those that were. Damaged input is no error (unless [`crate::Limits::strict`]).
pub fn split(
    sources: &[Source],
    split: &SplitConfig,
    config: &Config,
) -> Result<SplitReport, Error> {
    config.check()?;
    if let Some(template) = &split.template {
        check_split_template(template, split.by).map_err(refusal)?;
    }
    match (split.by, split.max_size) {
        (SplitBy::Pid | SplitBy::Tid, None) => run::<Threads>(sources, split, config),
        (SplitBy::Pid | SplitBy::Tid, Some(_)) => run::<CutThreads>(sources, split, config),
        (SplitBy::Cat, None) => run::<Categories>(sources, split, config),
        (_, None) => run::<CutWhole>(sources, split, config),
        (_, Some(_)) => Err(refusal(
            "a largest size is for parts by process or thread (--by pid, --by tid)".into(),
        )),
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
    let mut index = Index::<M>::new(config);
    let mut inputs = read_all(sources, config, &mut index)?;
    let spans = inputs.reports.iter().filter_map(|input| Some((input.span?, &*input.name)));
    let warning = far_apart(spans.map(|((first, last), name)| (first, last, name)));
    inputs.warnings.extend(warning);
    let long = std::mem::take(&mut index.long);
    let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
    let store = &Store::new(payloads, long);
    let (mut found, mut runs) = index.end_reading(store)?;
    let owners = owners(&mut found);
    if M::CUT {
        runs.settle(Order(store), config.threads);
    }
    let all = Work { found: &found, runs: &runs, store, inputs: &inputs, sources, split, config };
    all.write::<M>(&owners)
}

/// What is read, and what is asked for.
struct Work<'w, 'p> {
    found: &'w Found,
    runs: &'w LaneRuns,
    store: &'w Store<'p>,
    inputs: &'w Inputs,
    sources: &'w [Source],
    split: &'w SplitConfig,
    config: &'w Config,
}

impl<'w> Work<'w, '_> {
    /// The second half of a split: parts and files.
    fn write<M: Mode>(&self, owners: &[(u32, u32)]) -> Result<SplitReport, Error> {
        let Work { found, runs, store, split, config, .. } = *self;
        let united = unite(&found.documents, store);
        let annotations = Annotations::read(&found.documents, self.inputs, false, store);
        let has_begins = found.lanes.iter().any(|lane| lane.kind == Kind::Begins);
        let format = split.format.unwrap_or_else(|| match default_format(&found.documents) {
            // only here is a place to say what is repeated
            Format::Array if has_begins => Format::Object,
            format => format,
        });
        let layout = Layout::of(format);
        let planner = Planner {
            found,
            runs,
            order: Order(store),
            by: split.by,
            max_size: split.max_size,
            repeats: M::CUT && format != Format::Array,
            overhead: layout.opening(&united).len() as u64
                + layout.closing_len(&united)
                + annotations.len()
                + COPIES_KEY,
        };
        let groups = planner.groups(owners);
        let parts = planner.parts(&groups)?;
        let suspects = found.streams.clone().suspects();
        let delays = match suspects.is_empty() {
            true => Delays::default(),
            false => Delays::find(&suspects, planner.chunks(&suspects), planner.order, config)?,
        };
        let mut report = self.report(format, &delays);
        warn(&united, &delays, &format, &mut report.warnings);
        if M::CUT && has_begins && format == Format::Array && parts.len() > 1 {
            report.warnings.push(
                "B events that are open at a cut are not repeated: the array form has no place to say so \
                 (--format object has)"
                    .into(),
            );
        }
        report.keys_lost = if format == Format::Array { united.keys.len() as u64 } else { 0 };
        let job = Job {
            planner: &planner,
            groups: &groups,
            united: &united,
            frames: Frames::of(&united),
            annotations: &annotations,
            lists: &Lists::Memory([Vec::new(), Vec::new()]),
            delays: &delays,
            layout,
            output: &self.output(format),
            inputs: self.inputs,
            config,
        };
        let files = self.files(&parts, &groups, format)?;
        let known = self.known(&job, &parts)?;
        let mut lens: Vec<u64> = known.iter().map(|known| known.0).collect();
        let fates = known.into_iter().map(|known| known.1);
        report.annotations = fates.fold(Fates::default(), Fates::unite).report();
        report.warnings.extend(report.annotations.warning());
        self.warn_of_sizes(&lens, &mut report.warnings);
        if !split.dry_run {
            self.refuse_repetition(&lens)?;
            let make = std::fs::create_dir_all(&split.dir);
            make.map_err(|e| Error::write(split.dir.display(), e))?;
            config.progress.bytes_to_write.store(lens.iter().sum(), Ordering::Relaxed);
            lens = job.write_all(&parts, &files, &mut report.warnings)?;
        }
        report.parts = self.described(&parts, &groups, files, &lens);
        Ok(report)
    }

    /// What is known of parts before they are written.
    fn known(&self, job: &Job<'_, '_, '_>, parts: &[Part]) -> Result<Vec<(u64, Fates)>, Error> {
        // what becomes of annotations costs a pass over each part: 17,000 parts of 12 MB took minutes, and were refused then
        let least: Vec<u64> = parts.iter().map(|part| part.bytes).collect();
        let refusal = self.refuse_repetition(&least).and_then(|()| {
            let frames = job.frames.as_ref().map_or(0, |frames| frames.len() / 16);
            self.refuse_search(parts.len(), job.annotations.len() + frames)
        });
        if self.split.dry_run && refusal.is_err() {
            return Ok(parts.iter().map(|part| job.rough_len(part)).collect());
        }
        refusal.map(|()| parts.iter().map(|part| job.len(part)).collect())
    }

    fn report(&self, format: Format, delays: &Delays) -> SplitReport {
        SplitReport {
            inputs: self.inputs.reports.clone(),
            parts: Vec::new(),
            format,
            tier: self.config.tier.unwrap_or_else(Tier::best),
            threads: self.config.threads,
            spills: self.runs.spills,
            spooled_bytes: self.inputs.spooled,
            delayed_chunks: delays.count(),
            keys_lost: 0,
            annotations: AnnotationReport::default(),
            warnings: self.inputs.warnings.clone(),
        }
    }

    fn output(&self, format: Format) -> OutputConfig {
        let target = Target::File { path: PathBuf::new(), replace: self.split.replace };
        OutputConfig { target, format: Some(format), compression: self.split.compression }
    }
}
