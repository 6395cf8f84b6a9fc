//! What a run is told beside its inputs and its output: limits, and rules for inputs that differ.

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

/// What a run is told: its limits, and what it does about inputs that differ.
#[derive(Clone, Debug)]
pub struct Config {
    /// What it may take.
    pub limits: Limits,
    /// What `.cpuprofile` inputs become.
    pub profiles: ProfileInputs,
    /// What a merge does about names that inputs share.
    pub identity: IdentityRules,
    /// What a merge does about clocks that differ.
    pub clocks: ClockRules,
    /// What a merge does for a viewer.
    pub viewer: ViewerRules,
    /// Whether an index beside an input is asked in its place.
    pub index: IndexUse,
    /// Where indexes go, and are looked for, of traces in folders that cannot be written; nowhere if `None`. It is made where it is needed.
    pub index_cache: Option<PathBuf>,
}

/// Whether an index (`tracemill index`) is asked where it can answer. Answers are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexUse {
    /// Every input is read.
    #[default]
    Never,
    /// That beside the input (`X.json.tmi`), if it is there and still that of the input; else the input is read.
    Auto,
    /// This one, which must be that of the one input.
    File(PathBuf),
}

pub use tracemill_trace::event::pairing::OPEN;

/// What takes memory where tables of threads have no room.
pub const THREADS: &str = "processes and threads";

impl Config {
    /// The smallest budget that everything works within.
    pub const MEMORY_MIN: u64 = Limits::MEMORY_MIN;

    /// Everything as usual within these limits: inputs keep their names and clocks.
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

    /// Returns the same with the rules of a merge without options for names and clocks.
    pub fn as_merged(&self) -> Self {
        let mut config = self.clone();
        (config.identity.pid, config.identity.ids) = (PidPolicy::Auto, IdPolicy::Auto);
        config.clocks.align = Align::Auto;
        config
    }

    /// Returns whether these sources are several inputs whose names or clocks may change, so that a verb reads them as a merge does.
    ///
    /// # Errors
    /// If a source is not there.
    pub fn joins(&self, sources: &[Source]) -> Result<bool, Error> {
        let (names, clocks) = (&self.identity, &self.clocks);
        let is_kept = names.pid == PidPolicy::Keep && names.ids == IdPolicy::Keep;
        Ok(!(is_kept && clocks.align == Align::None) && expand(sources)?.len() > 1)
    }

    /// As [`Config::of`], with `threads` workers, `memory` bytes of heap and `tmp_dir` for what exceeds them; damaged inputs
    /// are saved.
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
    /// Equal pids are one process if there is proof that the inputs are one recording: parts of one `split`, rotated
    /// logs, a CPU profile stream that goes on. Else the pid of the later input is renamed.
    Auto,
    /// Each input has processes of its own: pids of the k-th grow by k times a power of ten.
    Offset,
    /// As `Auto`, and `.cpuprofile` inputs are all threads of the earliest.
    One,
}

/// Policy for ids that several inputs share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdPolicy {
    /// Equal ids are one.
    #[default]
    Keep,
    /// Equal ids are one within a recording; those of a later one are renamed if they lie among earlier ones.
    Auto,
}

/// What a merge does about names that inputs share. See the documentation of `identity`.
#[derive(Clone, Debug, Default)]
pub struct IdentityRules {
    /// The policy for pids.
    pub pid: PidPolicy,
    /// The policy for ids of async operations, flows and `args_keys`.
    pub ids: IdPolicy,
    /// Names in `args` whose values are ids too.
    pub args_keys: Vec<String>,
    /// What processes of single inputs are called, by path or file name.
    pub labels: Vec<(PathBuf, String)>,
    /// What processes of the other inputs are called: the first group of this in the path, or all that it matches.
    pub label_from_name: Option<Pattern>,
    /// Write events that are equal to the byte once, but for chunks of CPU profiles.
    pub dedup: bool,
    /// Write metadata events that are equal to the byte once.
    pub dedup_metadata: bool,
    /// Write into `metadata` what was done.
    pub provenance: bool,
    /// What is known of single inputs already, instead of what would be decided.
    pub stated: Vec<StatedInput>,
}

/// How the times of several inputs are put on one line. See the documentation of `clock`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Times stay: all inputs have one clock already.
    #[default]
    None,
    /// Inputs are aligned by what they state: base times, else clock-sync events, else not at all.
    Auto,
    /// All inputs begin at once.
    Start,
    /// By the moments since 1970 that inputs state.
    BaseTime,
    /// By the events of this name.
    Marker(String),
    /// By clock-sync events of one id.
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

/// What a merge does about clocks that differ. Inputs are named by path or file name.
#[derive(Clone, Debug, Default)]
pub struct ClockRules {
    /// How offsets are found.
    pub align: Align,
    /// Nanoseconds that are added to the times of single inputs, beside what is found.
    pub offsets: Vec<(PathBuf, i64)>,
    /// What times and lengths of single inputs are multiplied by, before anything is added.
    pub scales: Vec<(PathBuf, Factor)>,
    /// Nanoseconds for single inputs, instead of what would be found.
    pub stated: Vec<(PathBuf, i64)>,
    /// The time, in nanoseconds, at which the earliest event of all inputs is put, those at their offsets.
    pub rebase: Option<i64>,
}

/// What a manifest says of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedInput {
    /// The input, as it is named among the sources.
    pub path: PathBuf,
    /// New pids by old ones, both as written in the trace; other pids keep theirs.
    pub pids: Vec<(String, String)>,
    /// Inputs of one number are parts of one recording; without it, the input is one of its own.
    pub recording: Option<u64>,
}

/// A program whose rules are checked beside the general ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckFor {
    /// The Performance panel of Chrome.
    Devtools,
    /// The Perfetto UI and `trace_processor`.
    Perfetto,
}

impl CheckFor {
    /// All of them.
    pub const ALL: [CheckFor; 2] = [CheckFor::Devtools, CheckFor::Perfetto];

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            CheckFor::Devtools => "DevTools",
            CheckFor::Perfetto => "Perfetto",
        }
    }

    /// Its name, as the flag has it.
    pub fn name(self) -> &'static str {
        match self {
            CheckFor::Devtools => "devtools",
            CheckFor::Perfetto => "perfetto",
        }
    }
}

tracemill_trace::serialize_by_name!(CheckFor);

/// What a merge does for a viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewerRules {
    /// The viewer, if it is for one.
    pub viewer: Option<CheckFor>,
    /// What becomes of X events, and pairs of B and E, that overlap others of their thread.
    pub overlaps: Overlaps,
}

/// What becomes of an X event, or a pair of B and E, that begins inside another of its thread and ends after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlaps {
    /// It stays as it is.
    #[default]
    Keep,
    /// It moves to a lane of its own beside the thread.
    Spill,
    /// An X event ends where the one ends that it begins in; a pair moves.
    Clip,
}
