//! Reports of runs: counts and warnings.

pub mod annotation_drop;
mod following;
pub mod reported_losses;
pub mod rows;
pub mod warning;

use crate::config::CheckFor;
use crate::report::warning::{AnnotationDrop, Warning};
use serde::{Serialize, Serializer};
use std::fmt;
use tracemill_tokenizer::Tier;
use tracemill_trace::Limits;
use tracemill_trace::output::target::{Format, Style};
use tracemill_trace::run::losses::InputReport;

/// New names of an input, or of a CPU profile in an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InputIdentity {
    /// Path of the input, or `standard input`.
    pub name: String,
    /// Label of the processes of the input.
    pub label: Option<String>,
    /// Number of the recording; all inputs of a recording have the same number.
    pub recording: usize,
    /// New pids by old pids, both as written.
    #[serde(serialize_with = "rows::map")]
    pub pids: Vec<(String, String)>,
    /// Renamed kinds of ids (`id`, names of `--args-key`, `stackFrames`), each with its rules.
    #[serde(serialize_with = "rows::map")]
    pub ids: Vec<(String, String)>,
}

/// New names and labels of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IdentityReport {
    /// One entry per input, in order; empty for a single input.
    pub inputs: Vec<InputIdentity>,
    /// Number of metadata events dropped as byte-identical duplicates.
    pub metadata_dropped: u64,
    /// Keys of `IdentityRules::args_keys` that occur in the `args` of no event; empty if no key was
    /// searched.
    pub args_keys_absent: Vec<String>,
}

/// The method that found the clock offset of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClockMethod {
    /// The offset aligns the first events.
    Start,
    /// The offset follows from the base time (since 1970) in the input.
    BaseTime,
    /// The offset aligns events of this name.
    Marker(String),
    /// The offset aligns clock-sync events.
    ClockSync,
    /// The user gave the offset.
    Given,
}

impl fmt::Display for ClockMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClockMethod::Start => f.write_str("start"),
            ClockMethod::BaseTime => f.write_str("base-time"),
            ClockMethod::Marker(name) => write!(f, "marker:{name}"),
            ClockMethod::ClockSync => f.write_str("clock-sync"),
            ClockMethod::Given => f.write_str("given"),
        }
    }
}

impl Serialize for ClockMethod {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Clock of an input: times were multiplied by `scale`, then `offset_ns` was added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InputClock {
    /// Path of the input, or `standard input`.
    pub name: String,
    /// The method that found the offset; `None` if no offset was requested or found.
    pub method: Option<ClockMethod>,
    /// Total offset in nanoseconds, including an offset that the user gave.
    pub offset_ns: i64,
    /// The factor as a decimal, if any.
    pub scale: Option<String>,
    /// Number of matched events; for the reference input, the number available for matching.
    pub matches: u64,
    /// Largest distance in nanoseconds between a matched event and its counterpart.
    pub residual_ns: Option<i64>,
    /// Possible error of the offset in nanoseconds, estimated from the matches, or from the unit of
    /// the base time.
    pub uncertainty_ns: Option<i64>,
    /// Drift of the clock in parts per billion of its time, if the matches show one; positive if
    /// the clock is slow.
    pub drift_ppb: Option<i64>,
}

/// Counts of DevTools annotations (`metadata.modifications`): labels, links, ranges, hidden and
/// expandable entries, and breadcrumbs except the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnnotationReport {
    /// Number of annotations in all outputs together.
    pub kept: u64,
    /// Number of dropped annotations per reason, in the order of reasons.
    #[serde(serialize_with = "rows::map")]
    pub dropped: Vec<(AnnotationDrop, u64)>,
}

impl AnnotationReport {
    /// Returns a warning if any annotation was dropped.
    pub fn warning(&self) -> Option<Warning> {
        (!self.dropped.is_empty()).then(|| Warning::AnnotationsDropped(self.dropped.clone()))
    }
}

/// Changes made for a viewer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ViewerReport {
    /// The viewer, if the output is for one.
    #[serde(rename = "for")]
    pub viewer: Option<CheckFor>,
    /// Kinds of changes: name, count, and description. Kinds that did not occur are left out.
    #[serde(serialize_with = "changes")]
    pub changes: Vec<(&'static str, u64, &'static str)>,
}

fn changes<S: Serializer>(
    changes: &[(&'static str, u64, &'static str)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(changes.iter().map(|(name, count, _)| (name, count)))
}

impl ViewerReport {
    /// Adds the changes of another output for the same viewer.
    pub fn add(&mut self, other: ViewerReport) {
        self.viewer = self.viewer.or(other.viewer);
        for (name, count, sentence) in other.changes {
            match self.changes.iter_mut().find(|(change, ..)| *change == name) {
                Some((_, sum, _)) => *sum += count,
                None => self.changes.push((name, count, sentence)),
            }
        }
    }
}

/// Report of a command that writes a trace.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Reports of the inputs, in order.
    pub inputs: Vec<InputReport>,
    /// Number of events written.
    pub events: u64,
    /// Number of bytes written, before compression.
    pub bytes: u64,
    /// The format written.
    pub format: Format,
    /// SIMD instruction set of the scan.
    #[serde(serialize_with = "rows::tier")]
    pub tier: Tier,
    /// Number of worker threads.
    pub threads: usize,
    /// Number of bytes of pipes and compressed inputs spooled to disk.
    pub spooled_bytes: u64,
    /// Number of keys that the output format cannot hold.
    pub keys_lost: u64,
    /// Changes made for a viewer.
    pub viewer: ViewerReport,
    /// DevTools annotations. `split` counts an annotation once for each part that has it.
    pub annotations: AnnotationReport,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl RunReport {
    /// Creates the report of a run that has written nothing yet.
    pub fn new(limits: &Limits) -> Self {
        RunReport {
            inputs: Vec::new(),
            events: 0,
            bytes: 0,
            format: Format::Object,
            tier: limits.tier.unwrap_or_else(Tier::best),
            threads: limits.threads,
            spooled_bytes: 0,
            keys_lost: 0,
            viewer: ViewerReport::default(),
            annotations: AnnotationReport::default(),
            warnings: Vec::new(),
        }
    }

    /// Returns the number of losses in all inputs, plus the number of lost keys.
    pub fn lost(&self) -> u64 {
        self.keys_lost + self.inputs.iter().map(InputReport::lost).sum::<u64>()
    }
}

/// Report of `merge`.
#[derive(Clone, Debug, Serialize)]
pub struct MergeReport {
    /// Inputs, output and warnings.
    #[serde(flatten)]
    pub run: RunReport,
    /// Number of sorted runs of the index spilled to disk.
    pub spilled_runs: u64,
    /// Number of CPU profile chunks written later than their time, so that each follows its
    /// predecessor.
    pub delayed_chunks: u64,
    /// Number of duplicate events left out: those that `split` repeats in several parts, and with
    /// [`crate::config::IdentityRules::dedup`] all duplicates.
    pub copies: u64,
    /// Renamed pids and ids.
    pub identity: IdentityReport,
    /// Clock of each input, in order.
    pub clocks: Vec<InputClock>,
}

impl MergeReport {
    /// Creates the report of a run that has done nothing yet.
    pub fn new(limits: &Limits) -> Self {
        MergeReport {
            run: RunReport::new(limits),
            spilled_runs: 0,
            delayed_chunks: 0,
            copies: 0,
            identity: IdentityReport::default(),
            clocks: Vec::new(),
        }
    }
}

/// Report of `convert`.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertReport {
    /// Inputs, output and warnings.
    #[serde(flatten)]
    pub run: RunReport,
    /// The white space style of the output.
    pub style: Style,
    /// Number of bytes of the index spilled to disk.
    pub spilled_bytes: u64,
}

/// Events that `filter` dropped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The first criterion that the events failed: `pid`, `min-dur`, `drop gpu`, `invert`,
    /// `shrink-to` and so on.
    pub reason: &'static str,
    /// Number of events.
    pub events: u64,
    /// Size of the events in bytes.
    pub bytes: u64,
}

/// A value of a `filter` option that nothing in the inputs matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unmatched {
    /// Name of the option.
    pub flag: &'static str,
    /// The value as given: one pattern, id, range, category or phase.
    pub asked: String,
}

/// Existing values for a `filter` option that had an unmatched value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    /// Name of the option.
    pub flag: &'static str,
    /// Distinct values in ascending order: numeric ids as numbers, all other values as text.
    pub values: Vec<String>,
}

/// Report of `filter`. Dropped events do not count as lost.
#[derive(Clone, Debug, Serialize)]
pub struct FilterReport {
    /// Inputs, output and warnings.
    #[serde(flatten)]
    pub run: RunReport,
    /// Number of metadata events, which are always kept.
    pub metadata: u64,
    /// Number of other events kept.
    pub matching: u64,
    /// Dropped events by reason.
    pub dropped: Vec<Dropped>,
    /// Option values that match nothing in the inputs, each checked independently of the other
    /// criteria.
    pub unmatched: Vec<Unmatched>,
    /// Existing ids and names of processes and threads, for options in `unmatched`. The scan does
    /// not collect names, categories and phases of events; `info()` reports those.
    #[serde(skip)]
    pub present: Vec<Present>,
    /// For `--shrink-to`: events shorter than this many nanoseconds were dropped. [`i64::MAX`]: all
    /// events except metadata were dropped.
    pub threshold_ns: Option<i64>,
    /// Number of bytes of the index spilled to disk.
    pub spilled_bytes: u64,
}

impl FilterReport {
    /// Returns whether the inputs had events and the criteria kept only metadata.
    pub fn is_empty(&self) -> bool {
        self.matching == 0 && !self.dropped.is_empty()
    }
}
