//! Flags of the command line, with their help. Code in this module touches no files.
//!
//! The words of the command line begin with a verb, also called command. Flags that several verbs
//! have are in structs that the verbs flatten. Methods of these structs return the configuration of
//! the pipeline.

mod analysis;
mod check;
mod choices;
mod clock;
mod common;
mod convert;
mod deferred;
mod diff;
mod export;
mod filter;
mod flame;
mod gate;
mod gate_diff;
mod gate_report;
mod identity;
mod index;
mod info;
mod packaging;
mod parts;
mod picks;
mod profile;
mod query;
mod record;
mod redact;
mod report;
mod short;
mod show;
mod slice;
mod split;
mod tables;
mod texts;
mod texts_analysis;
mod texts_check;
mod texts_split;
mod trace;
#[cfg(feature = "view")]
mod view;
mod viewer;

pub(crate) use analysis::{CallsArgs, CsvForm, FormArgs, JsonForm, ResultForm, TopArgs, TreeArgs};
pub(crate) use check::CheckArgs;
pub(crate) use clock::ClockArgs;
pub(crate) use common::{
    CommonArgs, InputArgs, LimitArgs, MessageArgs, OutputArgs, TerminalChoice,
};
pub(crate) use convert::ConvertArgs;
pub(crate) use deferred::Deferred;
pub(crate) use diff::DiffArgs;
pub(crate) use export::Export;
pub(crate) use filter::{CriteriaArgs, FilterArgs};
pub(crate) use flame::{FlameArgs, PictureForm};
pub(crate) use gate::Figure;
pub(crate) use gate_report::ReportRow as GateRow;
pub(crate) use identity::IdentityArgs;
pub(crate) use index::IndexArgs;
pub(crate) use info::InfoArgs;
pub(crate) use packaging::{CompletionsArgs, ManArgs};
pub(crate) use parts::{ChosenThreads, PartArgs, TimesFlag, TraceTimes, flag_words};
pub(crate) use picks::{AskedRows, PickArgs, RequestedTable};
pub(crate) use profile::{ExtractArgs, ListArgs, ProfileVerb};
pub(crate) use query::{QueryArgs, refuse_unknown};
pub(crate) use record::RecordArgs;
pub(crate) use redact::RedactArgs;
pub(crate) use report::ReportArgs;
pub(crate) use show::ShowArgs;
pub(crate) use slice::{SliceArgs, WindowArgs};
pub(crate) use split::SplitArgs;
pub(crate) use tables::TableArgs;
pub(crate) use trace::TraceArgs;
#[cfg(feature = "view")]
pub(crate) use view::ViewArgs;
pub(crate) use viewer::ViewerArgs;

use crate::files::manifest::Manifest;
use crate::outcome::exit::Failure;
use clap::{Args, Command, CommandFactory, Parser, Subcommand};
#[cfg(test)]
use std::sync::Arc;
use texts::{AFTER_HELP, LONG_ABOUT, MERGE_ABOUT, MERGE_EXAMPLES};
use tracemill_join::config::Config;

/// Merge, slice, filter, check and analyse performance traces of any size
#[derive(Debug, Parser)]
#[command(
    name = "tracemill",
    version,
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Returns the clap command with the flags of all verbs. It has neither `--help` nor `--version`.
pub(crate) fn command() -> Command {
    let root = Cli::command().disable_help_flag(true).disable_version_flag(true);
    let mut root = root.disable_help_subcommand(true);
    root.build();
    root
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Merge traces into one, sorted by time
    #[command(visible_alias = "sort", long_about = MERGE_ABOUT, after_long_help = MERGE_EXAMPLES)]
    Merge(Deferred<MergeArgs>),
    /// Show what a trace contains, and which viewers open it
    #[command(visible_alias = "stats", long_about = info::ABOUT, after_long_help = info::EXAMPLES)]
    Info(Deferred<InfoArgs>),
    /// Write an index, so that other verbs read only what they need
    #[command(long_about = index::ABOUT, after_long_help = index::EXAMPLES)]
    Index(Deferred<IndexArgs>),
    /// Show a trace of any size in a browser
    #[cfg(feature = "view")]
    #[command(long_about = view::ABOUT, after_long_help = view::EXAMPLES)]
    View(Deferred<ViewArgs>),
    /// Show what is slow, on one page with the next steps
    #[command(long_about = report::ABOUT, after_long_help = report::EXAMPLES)]
    Report(Deferred<ReportArgs>),
    /// Show one event: its stack, what started it, what it started
    #[command(long_about = show::ABOUT, after_long_help = show::EXAMPLES)]
    Show(Deferred<ShowArgs>),
    /// Show where the time goes: functions and events by self time
    #[command(long_about = texts_analysis::TOP_ABOUT, after_long_help = texts_analysis::TOP_EXAMPLES)]
    Top(Deferred<TopArgs>),
    /// Show call trees, bottom-up trees and event logs
    #[command(long_about = texts_analysis::TREE_ABOUT, after_long_help = texts_analysis::TREE_EXAMPLES)]
    Tree(Deferred<TreeArgs>),
    /// Draw flame graphs and flame charts, as SVG or on the terminal
    #[command(long_about = flame::ABOUT, after_long_help = flame::EXAMPLES)]
    Flame(Deferred<FlameArgs>),
    /// Compare two traces, or many runs per side: what became slower
    #[command(long_about = diff::ABOUT, after_long_help = diff::EXAMPLES)]
    Diff(Deferred<DiffArgs>),
    /// Answer SQL over traces of any size
    #[command(long_about = query::ABOUT, after_long_help = query::EXAMPLES)]
    Query(Deferred<QueryArgs>),
    /// Write CPU samples as function calls, for viewers without samples
    #[command(long_about = texts_analysis::CALLS_ABOUT, after_long_help = texts_analysis::CALLS_EXAMPLES)]
    Calls(Deferred<CallsArgs>),
    /// List the CPU profiles in traces, or extract them
    #[command(subcommand, long_about = texts::PROFILE_ABOUT, subcommand_value_name = "VERB",
              subcommand_help_heading = "Verbs")]
    Profile(ProfileVerb),
    /// Find what is wrong with a trace, and suggest repairs
    #[command(long_about = texts_check::CHECK_ABOUT, after_long_help = texts_check::CHECK_EXAMPLES)]
    Check(Deferred<CheckArgs>),
    /// Write another format: array, NDJSON, Perfetto, folded stacks
    #[command(long_about = convert::ABOUT, after_long_help = convert::EXAMPLES)]
    Convert(Deferred<ConvertArgs>),
    /// Keep some events: by process, thread, name, duration, time, size
    #[command(long_about = filter::ABOUT, after_long_help = filter::EXAMPLES)]
    Filter(Deferred<FilterArgs>),
    /// Split a trace into parts by process, thread, time or size
    #[command(long_about = texts_split::SPLIT_ABOUT, after_long_help = texts_split::SPLIT_EXAMPLES)]
    Split(Deferred<SplitArgs>),
    /// Cut out a time window as a complete trace
    #[command(visible_alias = "cut", long_about = slice::SLICE_ABOUT, after_long_help = slice::SLICE_EXAMPLES)]
    Slice(Deferred<SliceArgs>),
    /// Replace URLs, paths and user names, to share a trace
    #[command(long_about = redact::ABOUT, after_long_help = redact::EXAMPLES)]
    Redact(Deferred<RedactArgs>),
    /// Run a Node program and write one trace of all its threads
    #[command(long_about = record::ABOUT, after_long_help = record::EXAMPLES)]
    Record(Deferred<RecordArgs>),
    /// Write a shell script that completes verbs and flags
    #[command(long_about = packaging::COMPLETIONS_ABOUT, after_long_help = packaging::COMPLETIONS_EXAMPLES)]
    Completions(Deferred<CompletionsArgs>),
    /// Write the manual: one page, or all pages into a folder
    #[command(long_about = packaging::MAN_ABOUT, after_long_help = packaging::MAN_EXAMPLES)]
    Man(Deferred<ManArgs>),
}

impl Verb {
    /// Moves windows such as `12s-13s` and keys such as `r-12` from the inputs to their flags.
    pub(crate) fn take_words(&mut self) {
        match self {
            Verb::Slice(args) => args.take_regions(),
            Verb::Show(args) => args.take_keys(),
            Verb::Query(args) => args.take_sql(),
            _ => {}
        }
    }

    /// Returns the flags about messages. Returns `None` if the verb has none.
    pub(crate) fn messages(&self) -> Option<&MessageArgs> {
        Some(match self {
            Verb::Merge(args) => &args.common.messages,
            Verb::Info(args) => &args.common.messages,
            Verb::Index(args) => &args.common.messages,
            #[cfg(feature = "view")]
            Verb::View(args) => &args.common.messages,
            Verb::Show(args) => &args.common.messages,
            Verb::Top(args) => &args.common.messages,
            Verb::Tree(args) => &args.common.messages,
            Verb::Calls(args) => &args.common.messages,
            Verb::Flame(args) => &args.common.messages,
            Verb::Diff(args) => &args.common.messages,
            Verb::Query(args) => &args.common.messages,
            Verb::Report(args) => &args.common.messages,
            Verb::Profile(ProfileVerb::List(args)) => &args.common.messages,
            Verb::Profile(ProfileVerb::Extract(args)) => &args.common.messages,
            Verb::Check(args) => &args.common.messages,
            Verb::Convert(args) => &args.common.messages,
            Verb::Filter(args) => &args.common.messages,
            Verb::Split(args) => &args.common.messages,
            Verb::Slice(args) => &args.common.messages,
            Verb::Redact(args) => &args.common.messages,
            Verb::Record(args) => &args.common.messages,
            Verb::Completions(_) | Verb::Man(_) => return None,
        })
    }
}

/// Flags of `merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) viewer: ViewerArgs,
    #[command(flatten)]
    pub(crate) identity: IdentityArgs,
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    /// Print what would be written; write only the manifest, if requested
    ///
    /// Prints which inputs belong to the same recording, which ids would be renamed and which clocks
    /// moved. The inputs are read, but the events are not sorted, so copies in parts, delayed chunks of
    /// CPU profiles and the size of the output are unknown.
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl MergeArgs {
    /// Sets the rules of `config` for ids and clocks.
    pub(crate) fn set_rules(
        &self,
        config: &mut Config,
        manifest: Option<&Manifest>,
    ) -> Result<(), Failure> {
        config.identity = self.identity.rules(manifest);
        config.clocks = self.clocks.rules(manifest)?;
        Ok(())
    }

    /// Returns the configuration for these flags, without those of a manifest.
    #[cfg(test)]
    fn config(&self) -> Result<Config, Failure> {
        let mut config = self.common.limits.config(&self.input, &Arc::default())?;
        self.set_rules(&mut config, None)?;
        Ok(config)
    }
}

/// Returns a fixed configuration for tests of messages about it.
#[cfg(test)]
pub(crate) fn test_config() -> Config {
    let flags = ["tracemill", "merge", "-@2", "-m64M", "-T/t", "--tier=scalar"];
    match Cli::parse_from(flags).verb {
        Verb::Merge(args) => args.config().expect("flags are sound"),
        _ => unreachable!("asked for merge"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use tracemill_join::config::{CheckFor, IdPolicy, PidPolicy};
    use tracemill_tokenizer::Tier;
    use tracemill_trace::output::target::{Compression, Format, OutputConfig, Target};

    fn merge(flags: &str) -> Result<MergeArgs, clap::Error> {
        let words = ["tracemill", "merge"].into_iter().chain(flags.split_whitespace());
        match Cli::try_parse_from(words)?.verb {
            Verb::Merge(args) => Ok(args.0),
            _ => unreachable!("asked for merge"),
        }
    }

    fn output(flags: &str) -> Result<OutputConfig, String> {
        let args = merge(flags).map_err(|e| e.to_string())?;
        args.trace.config(&args.output, false).map_err(|e| e.to_string())
    }

    #[test]
    fn clap_definitions_are_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn short_flags_are_parsed() {
        let args = merge("a - -o x -f -@ 3 -m 64M -T /t -z zst -v --strict").unwrap();
        assert_eq!(args.input.inputs, [PathBuf::from("a"), PathBuf::from("-")]);
        assert_eq!(args.output.target(), Target::File { path: "x".into(), replace: true });
        let config = args.config().unwrap();
        assert_eq!(
            (config.limits.threads, config.limits.memory, config.limits.strict),
            (3, 64 << 20, true)
        );
        assert_eq!(config.limits.tmp_dir, PathBuf::from("/t"));
        assert_eq!(merge("-j4").unwrap().common.limits.threads, Some(4));
    }

    #[test]
    fn compression_follows_the_file_name_unless_given() {
        let compression = |flags: &str| output(flags).map(|config| config.compression);
        assert_eq!(compression("-o a.json"), Ok(Compression::None));
        assert_eq!(compression(""), Ok(Compression::None));
        assert_eq!(compression("-o a.json.gz"), Ok(Compression::Gzip { level: 6 }));
        assert_eq!(compression("-o a.zst"), Ok(Compression::Zstd { level: 3 }));
        assert_eq!(compression("-o a.gz -z none"), Ok(Compression::None));
        assert_eq!(compression("-o a.gz -z zstd"), Ok(Compression::Zstd { level: 3 }));
        assert_eq!(compression("-z gzip --level 0"), Ok(Compression::Gzip { level: 0 }));
        assert_eq!(compression("-z zst --level 19"), Ok(Compression::Zstd { level: 19 }));
    }

    #[test]
    fn levels_have_the_range_of_their_codec() {
        let refusal = |flags: &str| output(flags).unwrap_err();
        assert_eq!(refusal("-z gz --level 10"), "--level of gz is 0 to 9, got 10");
        assert_eq!(refusal("-z zst --level 0"), "--level of zst is 1 to 19, got 0");
        assert_eq!(refusal("-z zst --level 20"), "--level of zst is 1 to 19, got 20");
        assert!(refusal("--level 3").starts_with("--level needs packed output"));
    }

    #[test]
    fn compressed_output_to_a_terminal_is_refused() {
        let config = |flags: &str| {
            let args = merge(flags).unwrap();
            args.trace.config(&args.output, true)
        };
        assert!(config("-z gz").is_err());
        assert!(config("-z gz -o -").is_err());
        assert!(config("-z gz -o a").is_ok());
        assert!(config("").is_ok());
    }

    #[test]
    fn identity_flags_are_parsed() {
        let args = merge("--pid-tid a=b.cpuprofile=7:8 --pid one --for devtools").unwrap();
        let config = args.config().unwrap();
        assert_eq!(config.profiles.pid_tid, [("a=b.cpuprofile".into(), 7, 8)]);
        assert_eq!(config.identity.pid, PidPolicy::One);
        let format = args.trace.config(&args.output, false).unwrap().format;
        let rules = args.viewer.rules(format).unwrap();
        assert_eq!(rules.viewer, Some(CheckFor::Devtools));
        let usual = merge("").unwrap().config().unwrap().identity;
        assert_eq!((usual.pid, usual.ids), (PidPolicy::Auto, IdPolicy::Auto));
        for wrong in [
            "--pid-tid a",
            "--pid-tid a=1",
            "--pid-tid a=1:x",
            "--pid two",
            "--for emacs",
            "--label a",
            "--label =b",
        ] {
            assert!(merge(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn invalid_values_are_refused() {
        for flags in ["-@ 0", "-@ x", "-m lots", "--format xml", "-z rar", "-q -v", "--tier mmx"] {
            assert!(merge(flags).is_err(), "{flags}");
        }
        let none = merge("--read-size 0").unwrap().config();
        assert!(none.is_err());
        assert_eq!(merge("--tier scalar").unwrap().common.limits.tier, Some(Tier::Scalar));
        assert_eq!(output("--format ndjson").unwrap().format, Some(Format::Ndjson));
        assert!(output("--format folded").unwrap_err().contains("convert --format folded"));
    }
}
