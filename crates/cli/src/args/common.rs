//! Flags that several commands have: inputs, outputs, limits and messages.

use crate::outcome::exit::Failure;
use crate::process::memory;
use crate::text::size;
use crate::text::time_in_name::time_in_name;
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;
use tracemill_cpuprofile::ProfileInputs;
use tracemill_join::config::Config;
use tracemill_tokenizer::Tier;
use tracemill_trace::output::target::Target;
use tracemill_trace::run::limits::Progress;
use tracemill_trace::{Limits, Source};

/// The inputs of a command.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// Traces: files, folders (recursively), addresses (s3://…), or - for standard input [default: -]
    ///
    /// Folders: files that are not traces are skipped and counted, and so are hidden files and
    /// indexes (.tmi). Links to folders are not followed. Several inputs are read as the one trace
    /// that `tracemill merge` makes of them: processes of different recordings stay separate, and
    /// clocks are aligned.
    #[arg(value_name = "INPUT", help_heading = None)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Read more inputs from FILE, one per line
    ///
    /// NUL characters separate the names if the list has any, as in the output of `find -print0`.
    /// `-` is standard input. These inputs come after the INPUTs of the command line. Files that are
    /// not traces are skipped and counted, unless --strict is given.
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,
    /// Stop at the first defect and write nothing (status 3)
    ///
    /// Checks every byte: strings must be UTF-8, numbers must be JSON. Without --strict, damaged
    /// events are left out and reported (status 1).
    #[arg(long)]
    pub(crate) strict: bool,
    /// Process and thread of a .cpuprofile, instead of those in its file name
    ///
    /// FILE is a path or a file name. Repeatable, once per file.
    #[arg(long, value_name = "FILE=PID:TID", value_parser = pid_tid)]
    pub(crate) pid_tid: Vec<(PathBuf, u64, u64)>,
    /// Whether the inputs were found in a folder. If so, files that are not traces are skipped.
    #[arg(skip)]
    pub(crate) is_found: bool,
}

impl InputArgs {
    /// Returns whether standard input is one of the inputs of the command line.
    pub(crate) fn reads_stdin(&self) -> bool {
        let is_stdin = |path: &PathBuf| path.as_os_str() == "-";
        let is_default = self.inputs.is_empty() && self.files_from.is_none();
        is_default || self.inputs.iter().any(is_stdin)
    }

    /// Returns whether a folder is one of the inputs of the command line.
    pub(crate) fn has_folder(&self) -> bool {
        self.inputs.iter().any(|path| path.is_dir())
    }

    /// Returns command-line words that read the same inputs.
    pub(crate) fn words(&self) -> Vec<String> {
        let InputArgs { inputs, files_from, pid_tid, .. } = self;
        let mut words: Vec<String> = Vec::new();
        for (file, pid, tid) in pid_tid {
            words.extend(["--pid-tid".to_owned(), format!("{}={pid}:{tid}", file.display())]);
        }
        if let Some(list) = files_from {
            words.extend(["--files-from".to_owned(), list.display().to_string()]);
        }
        words.extend(inputs.iter().map(|path| match path.display().to_string() {
            // a file name that begins with a hyphen would be taken for a flag
            name if name.starts_with('-') && name != "-" => format!("./{name}"),
            name => name,
        }));
        words
    }
}

/// Parses `FILE=PID:TID`.
pub(super) fn pid_tid(text: &str) -> Result<(PathBuf, u64, u64), String> {
    let parts = text.rsplit_once('=').and_then(|(file, ids)| {
        let (pid, tid) = ids.split_once(':')?;
        Some((PathBuf::from(file), pid.parse().ok()?, tid.parse().ok()?))
    });
    parts.ok_or_else(|| "expected FILE=PID:TID with two numbers".to_owned())
}

/// The output file.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write to FILE, complete or not at all; - is standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files
    #[arg(short, long)]
    pub(crate) force: bool,
}

/// Limits of a run. None of these changes the output.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Use N worker threads [default: all processors]
    #[arg(short = '@', long, visible_short_alias = 'j', value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) threads: Option<u16>,
    /// Use at most SIZE of heap memory, such as 64M or 1.5G [default: a quarter of the memory]
    ///
    /// Memory is that of the machine, or the limit of its container (cgroup) or ulimit (-v, -d) if
    /// that is lower. On small machines the default is more than a quarter, up to 256M, and leaves an
    /// eighth free. Input files are mapped and do not count. Data beyond SIZE goes to the folder of
    /// -T. K, M and G are powers of 1024.
    #[arg(short, long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) memory: Option<u64>,
    /// Wait until the output is on disk, so that it survives a power cut
    ///
    /// Without --sync the system writes it to disk some time after the command ends.
    #[arg(long, help_heading = "Output")]
    pub(crate) sync: bool,
    /// Put temporary files into DIR [default: TMPDIR, or /tmp]
    #[arg(short = 'T', long, value_name = "DIR")]
    pub(crate) tmp_dir: Option<PathBuf>,
    /// Use this instruction set in the scan: for tests
    #[arg(long, hide = true, env = "TRACEMILL_TIER", hide_env = true)]
    pub(crate) tier: Option<Tier>,
    /// Read at most SIZE at once from a pipe: for tests
    #[arg(long, hide = true, value_name = "SIZE", value_parser = size::parse, default_value = "256K")]
    pub(crate) read_size: u64,
}

/// Messages on standard error.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Messages")]
pub(crate) struct MessageArgs {
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print decisions and details too (-vv: memory use as well)
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Show progress
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: TerminalChoice,
    /// Colour the messages
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: TerminalChoice,
    /// Write a JSON report to FILE: counts, and each loss with its byte offset
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// Limits and messages: the flags of all commands that read traces.
#[derive(Clone, Debug, Args)]
pub(crate) struct CommonArgs {
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
}

/// When to show progress or colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TerminalChoice {
    /// On a terminal only
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl OutputArgs {
    /// Returns the output file. Returns `None` for standard output.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.output.as_ref().filter(|path| path.as_os_str() != "-")
    }

    /// Returns the output with a name by the time in UTC, as DevTools and cpu-prof give it, if the path
    /// is a folder: `FOLDER/Trace-20250510T134625.json`.
    pub(crate) fn in_folder(&self, now: SystemTime) -> OutputArgs {
        let is_folder =
            |path: &PathBuf| path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir();
        let name = |folder: &PathBuf| folder.join(format!("Trace-{}.json", time_in_name(now)));
        let folder = self.file().filter(|path| is_folder(path));
        let output = folder.map(name).or_else(|| self.output.clone());
        OutputArgs { output, ..*self }
    }

    pub(super) fn target(&self) -> Target {
        match self.file() {
            Some(path) => Target::File { path: path.clone(), replace: self.force },
            None => Target::Stdout,
        }
    }
}

impl LimitArgs {
    /// Returns the configuration of the pipeline for these flags.
    pub(crate) fn config(
        &self,
        input: &InputArgs,
        progress: &Arc<Progress>,
    ) -> Result<Config, Failure> {
        let read_size = usize::try_from(self.read_size).ok().filter(|&size| size > 0);
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let limits = Limits {
            tier: self.tier,
            read_size: read_size.ok_or_else(|| Failure::usage("--read-size is at least 1"))?,
            strict: input.strict,
            sync: self.sync,
            progress: Arc::clone(progress),
            ..Limits::new(
                self.threads.map_or_else(processors, usize::from),
                self.memory.unwrap_or_else(memory::default_budget),
                self.tmp_dir.clone().unwrap_or_else(std::env::temp_dir),
            )
        };
        let profiles = ProfileInputs { pid_tid: input.pid_tid.clone() };
        Ok(Config { profiles, index_cache: index_cache(), ..Config::of(limits) })
    }
}

/// Returns the folder for indexes that cannot be written next to their traces (XDG cache folder).
fn index_cache() -> Option<PathBuf> {
    let folder =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    Some(caches?.join("tracemill"))
}

impl InputArgs {
    /// Returns the inputs of the command line, then those of a manifest.
    pub(crate) fn sources_and(&self, listed: &[PathBuf]) -> Result<Vec<Source>, Failure> {
        let names = [&*self.inputs, listed].concat();
        let sources = crate::files::inputs::sources(&names, self.files_from.as_deref())?;
        let sources = sources.into_iter().map(|source| match source {
            Source::Listed(path) if self.strict => Source::Path(path),
            Source::Path(path) if self.is_found && !self.strict => Source::Listed(path),
            source => source,
        });
        Ok(sources.collect())
    }
}
