//! Flags that align the clocks of merged inputs.

use crate::files::manifest::Manifest;
use crate::outcome::exit::Failure;
use crate::text::similar::suggestion;
use clap::Args;
use std::path::PathBuf;
use tracemill_join::config::{Align, ClockRules};
use tracemill_trace::time::factor::Factor;
use tracemill_trace::time::parse_time;

/// Flags for aligning the clocks of several inputs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Clocks")]
pub(crate) struct ClockArgs {
    /// Align clocks with the first input: auto, none, start, base-time, marker:NAME, clock-sync
    ///
    /// auto: base-time if the inputs have it, else clock-sync, else none; a warning names inputs whose
    /// times are too far apart for one clock. start: the first events are at the same time. base-time:
    /// the time since 1970 that PyTorch and VizTracer (baseTimeNanoseconds) and clang
    /// (beginningOfTime) write as a top-level key. marker:NAME: the i-th event NAME of each input is
    /// moved onto the i-th of the first input; the median offset is used. clock-sync: events of phase c
    /// with the same sync_id. -v and --report print how well the clocks fit.
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = align)]
    pub(crate) align: Align,
    /// Add TIME to all times of an input, after --align: +1.5ms, -20us; a bare number is µs
    ///
    /// FILE is a path or a file name. Repeatable, once per file.
    #[arg(long, value_name = "FILE=TIME", value_parser = offset, allow_hyphen_values = true)]
    pub(crate) offset: Vec<(PathBuf, i64)>,
    /// Multiply the times and durations of an input by a decimal, before offsets are added
    ///
    /// For clocks that drift (1.000012), and for times in other units (0.001 for nanoseconds).
    #[arg(long, value_name = "FILE=FACTOR", value_parser = scale, allow_hyphen_values = true)]
    pub(crate) scale: Vec<(PathBuf, Factor)>,
}

fn align(text: &str) -> Result<Align, String> {
    const NAMES: [&str; 6] = ["auto", "none", "start", "base-time", "marker:NAME", "clock-sync"];
    text.parse().map_err(|error| format!("{error}{}", suggestion(text, NAMES)))
}

/// Splits `FILE=VALUE` at the last `=` into the file and the value.
fn file_and(text: &str) -> Result<(PathBuf, &str), String> {
    let parts = text.rsplit_once('=').filter(|(file, value)| !file.is_empty() && !value.is_empty());
    let (file, value) = parts.ok_or("expected FILE=VALUE")?;
    Ok((file.into(), value))
}

fn offset(text: &str) -> Result<(PathBuf, i64), String> {
    let (file, time) = file_and(text)?;
    Ok((file, parse_time(time)?))
}

fn scale(text: &str) -> Result<(PathBuf, Factor), String> {
    let (file, factor) = file_and(text)?;
    Ok((file, factor.parse()?))
}

impl ClockArgs {
    /// Returns the clock rules of the merge.
    pub(crate) fn rules(&self, manifest: Option<&Manifest>) -> Result<ClockRules, Failure> {
        once("--offset", self.offset.iter().map(|(file, _)| file))?;
        once("--scale", self.scale.iter().map(|(file, _)| file))?;
        let mut scales = self.scale.clone();
        scales.extend(manifest.iter().flat_map(|manifest| manifest.scales.iter().cloned()));
        Ok(ClockRules {
            align: self.align.clone(),
            offsets: self.offset.clone(),
            scales,
            stated: manifest.map_or_else(Vec::new, |manifest| manifest.offsets.clone()),
            rebase: None,
        })
    }
}

fn once<'f>(flag: &str, files: impl Iterator<Item = &'f PathBuf>) -> Result<(), Failure> {
    let mut seen = std::collections::BTreeSet::new();
    for file in files {
        if !seen.insert(file) {
            return Err(Failure::usage(format!("{flag} is given twice for {}", file.display())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_scales_are_parsed() {
        for (text, file, ns) in [
            ("a.json=+1.5ms", "a.json", 1_500_000),
            ("d/a=b.json=-20us", "d/a=b.json", -20_000),
            ("-=7", "-", 7_000),
        ] {
            assert_eq!(offset(text), Ok((file.into(), ns)), "{text}");
        }
        for text in ["a", "=1", "a=", "a=+-1", "a=++1", "a=1.5ns", "a=x"] {
            assert!(offset(text).is_err(), "{text}");
        }
        assert_eq!(scale("a=1.50").unwrap().1.to_string(), "1.5");
        assert!(scale("a=-1").is_err() && scale("a=0").is_err());
    }

    #[test]
    fn each_file_has_at_most_one_offset() {
        let file = (PathBuf::from("a"), 1);
        let args =
            ClockArgs { align: Align::Auto, offset: vec![file.clone(), file], scale: vec![] };
        assert!(args.rules(None).unwrap_err().to_string().contains("twice for a"));
    }
}
