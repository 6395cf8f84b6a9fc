//! What a run did: counts and warnings. What was lost of its inputs is in `losses`.

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

/// What became of the names of an input, or of a CPU profile in one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InputIdentity {
    /// Its path, or `standard input`.
    pub name: String,
    /// What its processes are called.
    pub label: Option<String>,
    /// Inputs of one number are parts of one recording.
    pub recording: usize,
    /// New pids by old ones, both as written.
    #[serde(serialize_with = "rows::map")]
    pub pids: Vec<(String, String)>,
    /// Ids that are renamed: `id`, the names of `--args-key`, `stackFrames`; and what is done to each spelling of them.
    #[serde(serialize_with = "rows::map")]
    pub ids: Vec<(String, String)>,
}

/// What a merge did about names that inputs share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IdentityReport {
    /// Per input, in order; empty if there was one only.
    pub inputs: Vec<InputIdentity>,
    /// Metadata events left out because there was another of the same bytes.
    pub metadata_dropped: u64,
    /// Keys of `IdentityRules::args_keys` that no event has in its `args`; empty if none was looked for.
    pub args_keys_absent: Vec<String>,
}

/// How the offset of an input was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClockMethod {
    /// By the first event.
    Start,
    /// By the moment since 1970 that the input states.
    BaseTime,
    /// By events of this name.
    Marker(String),
    /// By clock-sync events.
    ClockSync,
    /// It was given.
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

/// What became of the clock of an input: its times were multiplied by `scale`, then `offset_ns` was added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InputClock {
    /// Its path, or `standard input`.
    pub name: String,
    /// How the offset was found; `None` if it was not looked for, or there was nothing to find it by.
    pub method: Option<ClockMethod>,
    /// Nanoseconds in all, what was given included.
    pub offset_ns: i64,
    /// The factor, a decimal, if there is one.
    pub scale: Option<String>,
    /// Events that were matched; of the reference, those that there were to match.
    pub matches: u64,
    /// Nanoseconds: how far the worst of several matches is from its counterpart.
    pub residual_ns: Option<i64>,
    /// Nanoseconds by which the offset may be wrong, as far as the matches, or the unit of what is stated, tell.
    pub uncertainty_ns: Option<i64>,
    /// By how many 10^-9 of its time the clock falls behind, if the matches drift apart.
    pub drift_ppb: Option<i64>,
}

/// What became of DevTools' annotations (`metadata.modifications`): labels, links, ranges, hidden and expandable entries,
/// and breadcrumbs but for the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnnotationReport {
    /// Annotations in the output, or in all outputs together.
    pub kept: u64,
    /// Annotations that were dropped, by reason, in the order of reasons.
    #[serde(serialize_with = "rows::map")]
    pub dropped: Vec<(AnnotationDrop, u64)>,
}

impl AnnotationReport {
    /// A warning, if any were dropped.
    pub fn warning(&self) -> Option<Warning> {
        (!self.dropped.is_empty()).then(|| Warning::AnnotationsDropped(self.dropped.clone()))
    }
}

/// What was changed for a viewer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ViewerReport {
    /// The viewer, if it was for one.
    #[serde(rename = "for")]
    pub viewer: Option<CheckFor>,
    /// Kinds of changes of which there were any: name, how many, and what it is.
    #[serde(serialize_with = "changes")]
    pub changes: Vec<(&'static str, u64, &'static str)>,
}

/// Changes as a map of how many.
fn changes<S: Serializer>(
    changes: &[(&'static str, u64, &'static str)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(changes.iter().map(|(name, count, _)| (name, count)))
}

impl ViewerReport {
    /// Adds what was changed in another output for the same viewer.
    pub fn add(&mut self, other: ViewerReport) {
        self.viewer = self.viewer.or(other.viewer);
        for (name, count, sentence) in other.changes {
            match self.changes.iter_mut().find(|(change, ..)| *change == name) {
                Some((_, own, _)) => *own += count,
                None => self.changes.push((name, count, sentence)),
            }
        }
    }
}

/// What every verb that writes a trace says of its run.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Per input, in order.
    pub inputs: Vec<InputReport>,
    /// Events written.
    pub events: u64,
    /// Bytes written, before packing.
    pub bytes: u64,
    /// The format written.
    pub format: Format,
    /// Instruction set of the scan.
    #[serde(serialize_with = "rows::tier")]
    pub tier: Tier,
    /// Worker threads.
    pub threads: usize,
    /// Bytes of pipes and packed inputs spooled to disk.
    pub spooled_bytes: u64,
    /// Keys left out because the format has no place for them.
    pub keys_lost: u64,
    /// What was changed for a viewer.
    pub viewer: ViewerReport,
    /// What became of DevTools' annotations. Of parts: what is in any part is kept, as often as parts have it.
    pub annotations: AnnotationReport,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

impl RunReport {
    /// The report of a run that has written nothing so far.
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

    /// Stretches and keys lost in all.
    pub fn lost(&self) -> u64 {
        self.keys_lost + self.inputs.iter().map(InputReport::lost).sum::<u64>()
    }
}

/// What `merge` did.
#[derive(Clone, Debug, Serialize)]
pub struct MergeReport {
    /// Inputs, output, warnings.
    #[serde(flatten)]
    pub run: RunReport,
    /// Sorted runs of the index spilled to disk.
    pub spilled_runs: u64,
    /// Chunks of CPU profiles written later than their time, behind their predecessor.
    pub delayed_chunks: u64,
    /// Events left out because others are equal: those that `split` had repeated in several parts, and with
    /// [`crate::config::IdentityRules::dedup`] all.
    pub copies: u64,
    /// What was renamed.
    pub identity: IdentityReport,
    /// What became of the clock of each input, in order.
    pub clocks: Vec<InputClock>,
}

impl MergeReport {
    /// The report of a run that has done nothing so far.
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

/// What `convert` did.
#[derive(Clone, Debug, Serialize)]
pub struct ConvertReport {
    /// Inputs, output, warnings.
    #[serde(flatten)]
    pub run: RunReport,
    /// The white space written.
    pub style: Style,
    /// Bytes of the index spilled to disk.
    pub spilled_bytes: u64,
}

/// Events that `filter` left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The criterion that they failed first: `pid`, `min-dur`, `drop gpu`, `invert`, `shrink-to` and so on.
    pub reason: &'static str,
    /// How many.
    pub events: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Something that `filter` was asked for and that nothing in the inputs is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unmatched {
    /// By which flag.
    pub flag: &'static str,
    /// As it was given: one pattern, id, range, category or phase.
    pub asked: String,
}

/// What the inputs of `filter` have of a kind of which something was asked for in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    /// The flag that asks for it.
    pub flag: &'static str,
    /// Each once, in ascending order: ids as numbers, as far as they are some, names as text.
    pub values: Vec<String>,
}

/// What `filter` did. What it left out is not lost.
#[derive(Clone, Debug, Serialize)]
pub struct FilterReport {
    /// Inputs, output, warnings.
    #[serde(flatten)]
    pub run: RunReport,
    /// Metadata events, which stay whatever the criteria are.
    pub metadata: u64,
    /// Other events that stay.
    pub matching: u64,
    /// What went, by reason.
    pub dropped: Vec<Dropped>,
    /// What was asked for and nothing is, each by itself, whatever the other criteria say.
    pub unmatched: Vec<Unmatched>,
    /// Ids and names of processes and threads, where some of `unmatched` ask for others. Names, categories and phases of events
    /// are not kept by the scan: `info()` tells those.
    #[serde(skip)]
    pub present: Vec<Present>,
    /// With a size to fit: what is shorter than this many nanoseconds went; all but metadata if it is [`i64::MAX`].
    pub threshold_ns: Option<i64>,
    /// Bytes of the index spilled to disk.
    pub spilled_bytes: u64,
}

impl FilterReport {
    /// Whether the inputs had events, and the criteria left none but metadata.
    pub fn is_empty(&self) -> bool {
        self.matching == 0 && !self.dropped.is_empty()
    }
}
