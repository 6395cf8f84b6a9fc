//! Flags of `profile list` and `profile extract`.

use super::index::IndexFlag;
use super::texts::{EXTRACT_ABOUT, EXTRACT_EXAMPLES, LIST_ABOUT, LIST_EXAMPLES};
use super::{CommonArgs, Deferred, InputArgs, OutputArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use tracemill_join::config::id_set::IdSet;
use tracemill_pipeline::{ProfileChoice, ProfileTarget, check_template};
use tracemill_trace::output::target::Target;

/// What to do with the CPU profiles in traces.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileVerb {
    /// List CPU profiles: thread, start, duration, samples, damage
    #[command(long_about = LIST_ABOUT, after_long_help = LIST_EXAMPLES)]
    List(Deferred<ListArgs>),
    /// Write each CPU profile to a .cpuprofile file
    #[command(long_about = EXTRACT_ABOUT, after_long_help = EXTRACT_EXAMPLES)]
    Extract(Deferred<ExtractArgs>),
}

/// Flags of `profile list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) index: IndexFlag,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Write JSON with all fields and exact numbers
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Flags of `profile extract`.
#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) index: IndexFlag,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    #[command(flatten)]
    pub(crate) output: ExtractOutputArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Criteria by which profiles are selected.
#[derive(Debug, Args)]
#[command(next_help_heading = "Choice")]
pub(crate) struct ChoiceArgs {
    /// Only these processes: ids and ranges such as 1,2,5-9; "" is no id
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    pub(crate) pid: Vec<IdSet>,
    /// Only these threads
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    pub(crate) tid: Vec<IdSet>,
    /// Only profiles with these ids, such as 0x1
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    pub(crate) id: Vec<IdSet>,
}

/// Output flags of `profile extract`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ExtractOutputArgs {
    /// Write the files to DIR, and create it if needed [default: .]
    #[arg(short, long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) dir: Option<PathBuf>,
    /// Template of the file names [default: CPU.{date}.{time}.{pid}.{tid}.{seq}.cpuprofile]
    ///
    /// Fields: {date} {time} {pid} {tid} {id} {seq} {process} {thread}. Characters that file names
    /// cannot contain become _.
    #[arg(short = 'O', long, value_name = "TEMPLATE", conflicts_with = "output", value_parser = template)]
    pub(crate) template: Option<String>,
    /// Write the single selected profile to FILE; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files
    #[arg(short, long)]
    pub(crate) force: bool,
}

fn template(text: &str) -> Result<String, String> {
    check_template(text).map(|()| text.to_owned())
}

impl ChoiceArgs {
    /// Returns the selected profiles.
    pub(crate) fn choice(&self) -> ProfileChoice {
        let united = |sets: &[IdSet]| {
            let mut sets = sets.iter();
            let mut all = sets.next()?.clone();
            sets.for_each(|set| all.extend(set));
            Some(all)
        };
        ProfileChoice { pid: united(&self.pid), tid: united(&self.tid), id: united(&self.id) }
    }
}

impl ExtractOutputArgs {
    /// Returns where profiles are written. Returns an error if a profile might replace the report.
    pub(crate) fn target(&self, report: Option<&PathBuf>) -> ProfileTarget {
        let replace = self.force;
        match &self.output {
            Some(path) if path.as_os_str() == "-" => ProfileTarget::One(Target::Stdout),
            Some(path) => ProfileTarget::One(Target::File { path: path.clone(), replace }),
            None => ProfileTarget::Folder {
                dir: self.dir.clone().unwrap_or_else(|| PathBuf::from(".")),
                template: self.template.clone(),
                replace,
                reserved: report.cloned(),
            },
        }
    }

    /// Returns the output in the form that other commands use.
    pub(crate) fn plain(&self) -> OutputArgs {
        // a path other than `-`, because files in a folder leave standard output free
        let output = self.output.clone().unwrap_or_else(|| PathBuf::from("."));
        OutputArgs { output: Some(output), force: self.force }
    }
}
