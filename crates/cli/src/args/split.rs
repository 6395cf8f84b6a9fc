//! Flags of `split`.

use super::texts_split::{BY_HELP, TEMPLATE_HELP};
use super::{CommonArgs, InputArgs, OutputArgs, TraceArgs, ViewerArgs};
use crate::outcome::exit::Failure;
use crate::text::similar::suggestion;
use crate::text::size;
use clap::Args;
use std::path::PathBuf;
use tracemill_pipeline::{SplitBy, SplitConfig, check_split_template};
use tracemill_trace::time::Duration;

/// Flags of `split`.
#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// One part per pid, tid, cat, time=DUR, size=BYTES or events=N
    #[arg(long, value_name = "WHAT", value_parser = by, help_heading = "Parts", long_help = BY_HELP)]
    pub(crate) by: SplitBy,
    /// Split parts of --by pid or tid that exceed SIZE before packing
    #[arg(long, value_name = "SIZE", value_parser = size::parse, help_heading = "Parts")]
    pub(crate) max_size: Option<u64>,
    /// Print what would be written; write only the manifest, if requested
    #[arg(long, help_heading = "Parts")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: SplitOutputArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) viewer: ViewerArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Output flags of `split`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct SplitOutputArgs {
    /// Write the files to DIR, and create it if needed [default: .]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Template of the file names [default: such as {stem}.{pid}.{tid}.{ext}]
    #[arg(short = 'O', long, value_name = "TEMPLATE", long_help = TEMPLATE_HELP)]
    pub(crate) template: Option<String>,
    /// Replace existing files
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Write a list of the parts as JSON to FILE; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
}

/// Parses `pid`, `tid`, `pid,tid`, `cat`, `time=DUR`, `size=BYTES` or `events=N`.
fn by(text: &str) -> Result<SplitBy, String> {
    let (what, value) = match text.split_once('=') {
        Some((what, value)) => (what, Some(value)),
        None => (text, None),
    };
    let positive = |number: u64| match number {
        0 => Err(format!("expected more than nothing: {text}")),
        number => Ok(number),
    };
    match (what, value) {
        ("pid", None) => Ok(SplitBy::Pid),
        ("tid" | "pid,tid", None) => Ok(SplitBy::Tid),
        ("cat", None) => Ok(SplitBy::Cat),
        ("time", Some(value)) => {
            let Duration(ns) = value.parse()?;
            positive(ns.unsigned_abs()).map(|_| SplitBy::Time(ns))
        }
        ("size", Some(value)) => positive(size::parse(value)?).map(SplitBy::Size),
        ("events", Some(value)) => {
            let number = value.parse().map_err(|_| format!("expected a number: {text}"))?;
            positive(number).map(SplitBy::Events)
        }
        _ => {
            const NAMES: [&str; 6] = ["pid", "tid", "cat", "time", "size", "events"];
            let suggestion = suggestion(what, NAMES.into_iter().filter(|&name| name != what));
            Err(format!("expected pid, tid, cat, time=DUR, size=BYTES or events=N{suggestion}"))
        }
    }
}

impl SplitArgs {
    /// Returns the configuration of the split.
    pub(crate) fn config(&self) -> Result<SplitConfig, Failure> {
        if let Some(template) = &self.output.template {
            check_split_template(template, self.by).map_err(Failure::usage)?;
        }
        let by_thread = matches!(self.by, SplitBy::Pid | SplitBy::Tid);
        if self.max_size.is_some() && !by_thread {
            return Err(Failure::usage("--max-size is for --by pid and --by tid"));
        }
        if self.max_size == Some(0) {
            return Err(Failure::usage("--max-size is at least 1"));
        }
        // the extension in the template decides about compression, as for other outputs
        let named = OutputArgs {
            output: Some(self.output.template.as_deref().unwrap_or(".").into()),
            force: self.output.force,
        };
        let output = self.trace.config(&named, false)?;
        let reserved = [&self.output.manifest, &self.common.messages.report];
        Ok(SplitConfig {
            by: self.by,
            max_size: self.max_size,
            dir: self.output.dir.clone().unwrap_or_else(|| PathBuf::from(".")),
            template: self.output.template.clone(),
            replace: self.output.force,
            reserved: reserved
                .into_iter()
                .flatten()
                .filter(|f| f.as_os_str() != "-")
                .cloned()
                .collect(),
            format: output.format,
            compression: output.compression,
            dry_run: self.dry_run,
        })
    }

    /// Returns the output in the form that other commands use.
    pub(crate) fn plain(&self) -> OutputArgs {
        // only the manifest can go to standard output
        let output = match (&self.output.manifest, self.dry_run) {
            (Some(manifest), _) => manifest.clone(),
            (None, true) => PathBuf::from("-"),
            (None, false) => PathBuf::from("."),
        };
        OutputArgs { output: Some(output), force: self.output.force }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_keys_are_parsed() {
        for (text, expected) in [
            ("pid", SplitBy::Pid),
            ("tid", SplitBy::Tid),
            ("pid,tid", SplitBy::Tid),
            ("cat", SplitBy::Cat),
            ("time=10", SplitBy::Time(10_000)),
            ("time=1.5s", SplitBy::Time(1_500_000_000)),
            ("time=0.25ms", SplitBy::Time(250_000)),
            ("time=7ns", SplitBy::Time(7)),
            ("time=2m", SplitBy::Time(120_000_000_000)),
            ("size=512M", SplitBy::Size(512 << 20)),
            ("events=1000", SplitBy::Events(1000)),
        ] {
            assert_eq!(by(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "pids",
            "pid=1",
            "time",
            "time=",
            "time=0",
            "time=-1s",
            "time=1w",
            "time=0.1ns",
            "time=9999999999999s",
            "size=0",
            "size=x",
            "events=0",
            "events=1.5",
            "tid,pid",
        ] {
            assert!(by(text).is_err(), "{text}");
        }
    }
}
