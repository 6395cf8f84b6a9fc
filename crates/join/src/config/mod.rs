//! Configuration of a run apart from its inputs and output: limits, and rules for inputs that
//! differ.

pub mod id_set;
pub mod pattern;

use crate::config::pattern::Pattern;
use std::path::PathBuf;
use std::str::FromStr;
use tracemill_cpuprofile::ProfileInputs;
use tracemill_trace::input::expand;
use tracemill_trace::input::source::Source;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::time::factor::Factor;

/// Configuration of a run: limits, and rules for inputs that differ.
#[derive(Clone, Debug)]
pub struct Config {
    /// Limits on memory, threads and disk.
    pub limits: Limits,
    /// Rules for converting `.cpuprofile` inputs to events.
    pub profiles: ProfileInputs,
    /// Rules for names and ids that inputs share.
    pub identity: IdentityRules,
    /// Rules for aligning clocks.
    pub clocks: ClockRules,
    /// Rules for changing events for a viewer.
    pub viewer: ViewerRules,
    /// Use of indexes, instead of reading whole inputs.
    pub index: IndexUse,
    /// Folder for the indexes of traces in read-only folders; created on first use. `None`: such
    /// traces have no index.
    pub index_cache: Option<PathBuf>,
}

/// The use of indexes (`tracemill index`) by commands. Results do not depend on this option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexUse {
    /// Commands read every input and never query an index.
    #[default]
    Never,
    /// Commands query the index next to the input (`X.json.tmi`) if the index is up to date, and
    /// otherwise read the input.
    Auto,
    /// Commands query this index, which must match the only input.
    File(PathBuf),
}

pub use tracemill_trace::event::pairing::OPEN;

/// Name of the lease for tables of threads, shown when memory runs out.
pub const THREADS: &str = "processes and threads";

impl Config {
    /// The smallest supported memory budget, in bytes.
    pub const MEMORY_MIN: u64 = Limits::MEMORY_MIN;

    /// Creates the default configuration with these limits: inputs keep their names and clocks.
    pub fn of(limits: Limits) -> Self {
        Config {
            limits,
            profiles: ProfileInputs::default(),
            identity: IdentityRules::default(),
            clocks: ClockRules::default(),
            viewer: ViewerRules::default(),
            index: IndexUse::default(),
            index_cache: None,
        }
    }

    /// Returns a copy with the default rules of `merge` for names and clocks.
    pub fn as_merged(&self) -> Self {
        let mut config = self.clone();
        (config.identity.pid, config.identity.ids) = (PidPolicy::Auto, IdPolicy::Auto);
        config.clocks.align = Align::Auto;
        config
    }

    /// Returns whether there are several sources whose names or clocks may change. Then a command
    /// must read the sources as a merge does.
    ///
    /// # Errors
    /// Returns an error if a source does not exist.
    pub fn joins(&self, sources: &[Source]) -> Result<bool, Error> {
        let (names, clocks) = (&self.identity, &self.clocks);
        let is_kept = names.pid == PidPolicy::Keep && names.ids == IdPolicy::Keep;
        Ok(!(is_kept && clocks.align == Align::None) && expand(sources)?.len() > 1)
    }

    /// Creates the default configuration with `threads` workers, `memory` bytes of heap, and
    /// `tmp_dir` for spilled data. Damaged inputs are salvaged.
    pub fn new(threads: usize, memory: u64, tmp_dir: impl Into<PathBuf>) -> Self {
        Config::of(Limits::new(threads, memory, tmp_dir))
    }
}

/// Policy for pids that several inputs share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PidPolicy {
    /// Equal pids are one process.
    #[default]
    Keep,
    /// Equal pids are one process if the inputs are provably one recording: parts of one `split`,
    /// rotated logs, or a continued CPU profile stream. Otherwise the pid of the later input is
    /// renamed.
    Auto,
    /// Each input has its own processes: pids of input k grow by k times a power of ten.
    Offset,
    /// Pids are treated as with `Auto`. In addition, all `.cpuprofile` inputs become threads of one
    /// process: that of the earliest `.cpuprofile` input.
    One,
}

/// Policy for ids that several inputs share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdPolicy {
    /// Equal ids stay equal.
    #[default]
    Keep,
    /// Equal ids stay equal within a recording. Ids of a later recording are renamed if they
    /// collide with ids of earlier recordings.
    Auto,
}

/// Rules for names and ids that several inputs share. See the documentation of `identity`.
#[derive(Clone, Debug, Default)]
pub struct IdentityRules {
    /// The policy for pids.
    pub pid: PidPolicy,
    /// The policy for ids of async operations and flows, and of `args_keys`.
    pub ids: IdPolicy,
    /// Names of `args` members whose values are also ids.
    pub args_keys: Vec<String>,
    /// Labels of the processes of single inputs, by path or file name.
    pub labels: Vec<(PathBuf, String)>,
    /// Pattern that extracts the label of any other input from its path: the first group of the
    /// match, or the whole match.
    pub label_from_name: Option<Pattern>,
    /// Whether to write byte-identical events only once, except chunks of CPU profiles.
    pub dedup: bool,
    /// Whether to write byte-identical metadata events only once.
    pub dedup_metadata: bool,
    /// Whether to record the changes in the top-level key `metadata`.
    pub provenance: bool,
    /// Decisions about single inputs, which replace computed decisions.
    pub stated: Vec<StatedInput>,
}

/// The method that aligns the clocks of several inputs. See the documentation of `clock`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Times stay as written: all inputs share one clock.
    #[default]
    None,
    /// Aligns by base times, otherwise by clock-sync events, otherwise not at all.
    Auto,
    /// Makes all inputs start at the same time.
    Start,
    /// Aligns by the base times (since 1970) that inputs contain.
    BaseTime,
    /// Aligns by events of this name.
    Marker(String),
    /// Aligns by clock-sync events with equal ids.
    ClockSync,
}

impl FromStr for Align {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "auto" => Align::Auto,
            "none" => Align::None,
            "start" => Align::Start,
            "base-time" => Align::BaseTime,
            "clock-sync" => Align::ClockSync,
            _ => match text.strip_prefix("marker:").filter(|name| !name.is_empty()) {
                Some(name) => Align::Marker(name.to_owned()),
                None => {
                    let all = "auto, none, start, base-time, marker:NAME or clock-sync";
                    return Err(format!("expected {all}: {text}"));
                }
            },
        })
    }
}

/// Rules for clocks that differ. Inputs are named by path or file name.
#[derive(Clone, Debug, Default)]
pub struct ClockRules {
    /// The method that finds offsets.
    pub align: Align,
    /// Nanoseconds added to the times of single inputs, on top of the computed offset.
    pub offsets: Vec<(PathBuf, i64)>,
    /// Factors for the times and durations of single inputs, applied before any offset.
    pub scales: Vec<(PathBuf, Factor)>,
    /// Offsets of single inputs in nanoseconds, which replace the computed offsets.
    pub stated: Vec<(PathBuf, i64)>,
    /// Target time, in nanoseconds, of the earliest event of all inputs after alignment.
    pub rebase: Option<i64>,
}

/// Decisions that a manifest gives for one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedInput {
    /// Path of the input, as named among the sources.
    pub path: PathBuf,
    /// New pids by old pids, both as written in the trace. Other pids stay.
    pub pids: Vec<(String, String)>,
    /// Number of the recording that the input belongs to. `None`: the input is a separate
    /// recording.
    pub recording: Option<u64>,
}

/// A program whose rules `check` applies in addition to the general rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckFor {
    /// The Performance panel of Chrome.
    Devtools,
    /// The Perfetto UI and `trace_processor`.
    Perfetto,
}

impl CheckFor {
    /// All programs with rules.
    pub const ALL: [CheckFor; 2] = [CheckFor::Devtools, CheckFor::Perfetto];

    /// Returns the name for display.
    pub fn title(self) -> &'static str {
        match self {
            CheckFor::Devtools => "DevTools",
            CheckFor::Perfetto => "Perfetto",
        }
    }

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CheckFor::Devtools => "devtools",
            CheckFor::Perfetto => "perfetto",
        }
    }
}

tracemill_trace::serialize_by_name!(CheckFor);

/// Rules for rewriting a trace for a viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewerRules {
    /// The target viewer, if any.
    pub viewer: Option<CheckFor>,
    /// Treatment of X events, and B/E pairs, that overlap other slices of their thread.
    pub overlaps: Overlaps,
}

/// Treatment of an X event, or a B/E pair, that begins inside another slice of its thread and ends
/// after that slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlaps {
    /// The overlap stays as it is.
    #[default]
    Keep,
    /// The slice moves to a separate track next to the thread.
    Spill,
    /// An X event ends where the enclosing slice ends; a pair moves to a separate track.
    Clip,
}
