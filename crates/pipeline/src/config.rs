//! What a job is told: inputs, output, and the knobs that change its cost but never its answer (contract C4).

use crate::clock::Factor;
use crate::error::{Error, ErrorKind};
use crate::viewer::ViewerRules;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use tracemill_tokenizer::Tier;

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, a pipe, or a folder whose files are the inputs.
    Path(PathBuf),
}

impl Source {
    /// Its path; empty for standard input.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Source::Stdin => Path::new(""),
            Source::Path(path) => path,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("standard input"),
            Source::Path(path) => path.display().fmt(f),
        }
    }
}

/// Where the output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file that appears, whole and on disk, when the job is done (contract C8). An existing one is refused unless
    /// `replace`.
    File {
        /// Its path.
        path: PathBuf,
        /// Whether an existing file may be replaced.
        replace: bool,
    },
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `{"traceEvents":[…], …}`
    Object,
    /// `[…]`, which has no place for other keys.
    Array,
    /// One event a line; other keys in a first line `{"tracemill":{…}}`.
    Ndjson,
}

impl Format {
    /// Its name, as the flag has it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Object => "object",
            Format::Array => "array",
            Format::Ndjson => "ndjson",
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Format::Object, Format::Array, Format::Ndjson]
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| format!("expected object, array or ndjson: {name}"))
    }
}

/// The white space of a trace that is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Events as they stand, to the byte; in NDJSON without line breaks.
    #[default]
    Keep,
    /// None outside strings; one event a line.
    Compact,
    /// Indented by two blanks, one member a line. Not for NDJSON.
    Pretty,
}

impl Style {
    /// Its name, as the flag has it.
    pub fn name(self) -> &'static str {
        match self {
            Style::Keep => "keep",
            Style::Compact => "compact",
            Style::Pretty => "pretty",
        }
    }
}

/// How the output's bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// One gzip member, which DevTools can read.
    Gzip {
        /// 0 to 9.
        level: u32,
    },
    /// zstd.
    Zstd {
        /// 1 to 22.
        level: u32,
    },
}

/// Everything about the output.
#[derive(Clone, Debug)]
pub struct OutputConfig {
    /// Where it goes.
    pub target: Target,
    /// Its format; the first input's if `None`.
    pub format: Option<Format>,
    /// How it is packed.
    pub compression: Compression,
}

impl OutputConfig {
    /// A new file, in the format of the first input and not packed.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let target = Target::File { path: path.into(), replace: false };
        OutputConfig { target, format: None, compression: Compression::None }
    }
}

/// Knobs and limits of a run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Worker threads, at least 1.
    pub threads: usize,
    /// The most heap the run may take, in bytes; mapped files do not count (contract C7).
    pub memory: u64,
    /// Folder for spilled runs and spooled pipes.
    pub tmp_dir: PathBuf,
    /// Instruction set of the scan; the best one if `None`.
    pub tier: Option<Tier>,
    /// The most bytes that one read from a pipe takes.
    pub read_size: usize,
    /// Stop at the first defect, and check every byte (contract C5).
    pub strict: bool,
    /// Counters that another thread may watch.
    pub progress: Arc<Progress>,
    /// What `.cpuprofile` inputs become.
    pub profiles: ProfileInputs,
    /// What a merge does about names that inputs share.
    pub identity: IdentityRules,
    /// What a merge does about clocks that differ.
    pub clocks: ClockRules,
    /// What a merge does for a viewer.
    pub viewer: ViewerRules,
    /// How the memory is shared out, if not as [`Shares::of`] has it: for tests that want a spill after a few events.
    #[doc(hidden)]
    pub shares: Option<Shares>,
}

/// Whose the processes of several inputs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PidPolicy {
    /// Equal pids are one process.
    #[default]
    Keep,
    /// Equal pids are one process if the inputs are parts of one recording; else the later one is renamed.
    Auto,
    /// Each input has processes of its own: pids of the k-th grow by k times a power of ten.
    Offset,
    /// As `Auto`, and `.cpuprofile` inputs are all threads of the earliest.
    One,
}

/// Whose the ids of several inputs are.
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
    /// Of processes.
    pub pid: PidPolicy,
    /// Of async operations, flows and `args_keys`.
    pub ids: IdPolicy,
    /// Names in `args` whose values are ids too.
    pub args_keys: Vec<String>,
    /// What processes of single inputs are called, by path or file name.
    pub labels: Vec<(PathBuf, String)>,
    /// What processes of the other inputs are called: the first group of this in the path, or all that it matches.
    pub label_from_name: Option<crate::filter::Pattern>,
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
    /// They are on one already.
    #[default]
    None,
    /// By what inputs state: base times, else clock-sync events; else not at all.
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

/// What `.cpuprofile` inputs become on their way in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileInputs {
    /// Process and thread of single files, by path or file name.
    pub pid_tid: Vec<(PathBuf, u64, u64)>,
}

/// How the memory budget is shared out (contract C7). What is left is for buffers, buckets and the stack.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Bytes of pipes and packed inputs kept in memory; the rest is spooled to disk.
    pub payload: u64,
    /// Bytes of index entries; a bucket may take as much again.
    pub index: u64,
    /// Bytes that a worker scans at a time.
    pub chunk: usize,
    /// Bytes of a segment of a stream.
    pub segment: usize,
}

impl Shares {
    /// The shares of a budget for so many threads. What a worker finds in a chunk, and what the allocator keeps for it, may
    /// take eight times the chunk: all workers have half of the memory.
    pub fn of(memory: u64, threads: usize) -> Self {
        let chunk = (memory / 64).min(memory / (16 * threads as u64).max(1));
        Shares {
            payload: memory / 4,
            index: memory / 4,
            chunk: chunk.clamp(256 << 10, 8 << 20) as usize,
            segment: (memory / 32).clamp(256 << 10, 8 << 20) as usize,
        }
    }
}

impl Config {
    /// The smallest budget that everything works within.
    pub const MEMORY_MIN: u64 = 32 << 20;

    /// Everything as usual, with `threads` workers, `memory` bytes of heap and `tmp_dir` for what exceeds them. Inputs keep their
    /// names and clocks, and damaged ones are saved.
    pub fn new(threads: usize, memory: u64, tmp_dir: impl Into<PathBuf>) -> Self {
        Config {
            threads,
            memory,
            tmp_dir: tmp_dir.into(),
            tier: None,
            read_size: 256 << 10,
            strict: false,
            progress: Arc::default(),
            profiles: ProfileInputs::default(),
            identity: IdentityRules::default(),
            clocks: ClockRules::default(),
            viewer: ViewerRules::default(),
            shares: None,
        }
    }

    /// How many there may be at once of what takes so many bytes of the budget each.
    pub(crate) fn room_for(&self, each: u64) -> usize {
        usize::try_from(self.memory / each.max(1)).unwrap_or(usize::MAX)
    }

    pub(crate) fn shares(&self) -> Shares {
        self.shares.unwrap_or_else(|| Shares::of(self.memory, self.threads))
    }

    /// Checks the limits.
    ///
    /// # Errors
    /// [`ErrorKind::Budget`] if the memory is below [`Config::MEMORY_MIN`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.memory < Self::MEMORY_MIN {
            let (given, least) = (self.memory, Self::MEMORY_MIN);
            return Err(ErrorKind::Budget { given, least }.into());
        }
        Ok(())
    }
}

/// What a run has done so far. Written with relaxed ordering: for showing, not for deciding.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes of input there will be, as far as known (pipes are not).
    pub bytes_expected: AtomicU64,
    /// Bytes of input scanned.
    pub bytes_scanned: AtomicU64,
    /// Bytes of output there will be; 0 while not known.
    pub bytes_to_write: AtomicU64,
    /// Bytes of output written.
    pub bytes_written: AtomicU64,
}

impl Progress {
    pub(crate) fn add(counter: &AtomicU64, bytes: u64) {
        counter.fetch_add(bytes, Ordering::Relaxed);
    }
}
