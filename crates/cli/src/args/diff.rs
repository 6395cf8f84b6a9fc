//! Flags of `diff`.

use super::analysis::FormArgs;
use super::choices::choices;
use super::gate::Figure;
use super::gate_diff::DiffGate;
use super::parts::{PartArgs, TimesFlag};
use super::picks::PickArgs;
use super::{CommonArgs, InputArgs, OutputArgs};
use crate::outcome::exit::Failure;
use clap::Args;
use std::path::PathBuf;
use tracemill_report::CompareRules;
use tracemill_report::MatchBy;
use tracemill_report::Normalize;

pub(super) const ABOUT: &str = "\
Shows what became slower: compares two traces, or many runs per side, function by function, and marks changes that are \
more than chance.

tracemill diff BASE NEW compares one run per side; a folder is one run. With --base and --new each file is a run, also each \
file and each folder of a folder. The output of an earlier tracemill tree --json or top --json can replace its trace, so that a baseline \
takes only some kilobytes.

With four or more runs per side medians are compared and each row is tested (Mann–Whitney; intervals by Hodges and \
Lehmann). With one run per side functions of CPU profiles are tested by their samples, others by their events: duration and \
number (Poisson). Stored tables have neither, so their rows get a ?. At most 5 % of the reported rows are false alarms \
(Benjamini–Hochberg).

Functions match by name, URL (without query and content hashes) and line; by name and URL if the line changed; by name if \
the URL changed and the name is unique.

--fail-on ends with status 5 if a change breaks the limit and is more than chance, or cannot be tested: 'self>5%&self>2ms', \
'total:^run$>10%', 'count>1000', 'busy>3%'. With & all conditions must hold for one row; percentages are of BASE, everything \
else is the difference. Limits on whole runs are those of report: busy, gc, tasks, blocking, longest-task, blocks, \
longest-block, fcp, lcp, inp, cls, requests: 'lcp>10%&lcp>100ms'. They are tested with four runs per side. A limit is also \
broken if no row has the name, if the metric cannot be computed, or if the window has no events.";

pub(super) const EXAMPLES: &str = "\
Examples:
  What became slower?
    tracemill diff server.json worker.json

  Compare with a stored table of an earlier run:
    tracemill top -q --json server.json -o base.json
    tracemill diff base.json worker.json

  A limit in CI:
    tracemill diff server.json worker.json --fail-on 'self>5%&self>2ms'

  Profiles of two builds, for an issue:
    tracemill diff --markdown -n 10 profiles/ testdata/node-cpu-prof";

/// Flags of `diff`.
#[derive(Debug, Args)]
#[command(mut_arg("times", |arg| arg.default_value("devtools")))]
pub(crate) struct DiffArgs {
    /// The base and the new run: files or folders
    #[arg(value_name = "BASE NEW", num_args = 0..=2)]
    pub(crate) sides: Vec<PathBuf>,
    /// Runs of the base: files, or folders of files or folders
    #[arg(long, value_name = "RUN", num_args = 1.., help_heading = "Input", conflicts_with = "sides", requires = "new")]
    pub(crate) base: Vec<PathBuf>,
    /// Runs of the new side: files, or folders of files or folders
    #[arg(long, value_name = "RUN", num_args = 1.., help_heading = "Input", conflicts_with = "sides", requires = "base")]
    pub(crate) new: Vec<PathBuf>,
    /// Stop at the first defect and write nothing (status 3)
    #[arg(long, help_heading = "Input")]
    strict: bool,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) picks: PickArgs,
    #[command(flatten)]
    pub(crate) times: TimesFlag,
    /// Which differing functions count as the same
    #[arg(long = "match", value_name = "HOW", default_value = "name", value_parser = choices(MATCHES), help_heading = "Comparison")]
    by: MatchBy,
    /// Scale times so that this takes as long in all runs: none, busy, or event:NAME
    #[arg(long, value_name = "TO", default_value = "none", value_parser = normalize, help_heading = "Comparison")]
    normalize: Normalize,
    /// Test only rows with at least this share of the busy time
    #[arg(long, value_name = "PERCENT", default_value = "0.1%", value_parser = percent, help_heading = "Comparison")]
    min_delta: f64,
    /// End with status 5 if this limit is broken, such as 'self>5%&self>2ms'; repeatable
    #[arg(long, value_name = "TERMS", help_heading = "Comparison")]
    pub(crate) fail_on: Vec<DiffGate>,
    /// Let --fail-on also count changes that may be chance
    #[arg(long, requires = "fail_on", help_heading = "Comparison")]
    pub(crate) any: bool,
    /// Show N rows [default: 30; JSON and CSV: all]
    #[arg(short = 'n', long = "top", value_name = "N", help_heading = "Rows",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rows: Option<u32>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Values of `--match`.
const MATCHES: [(&str, MatchBy, &str); 3] = [
    ("exact", MatchBy::Exact, "None: name, URL and line must be equal"),
    ("line", MatchBy::Line, "Functions with the same name and URL, if unique on each side"),
    ("name", MatchBy::Name, "Also functions with the same name, if unique on each side"),
];

fn normalize(text: &str) -> Result<Normalize, String> {
    match (text, text.strip_prefix("event:")) {
        ("none", _) => Ok(Normalize::None),
        ("busy", _) => Ok(Normalize::Busy),
        (_, Some(name)) if !name.is_empty() => Ok(Normalize::Event(name.to_owned())),
        _ => Err(format!("expected none, busy or event:NAME: {text}")),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    number
        .filter(|value| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| format!("expected 0.1%: {text}"))
}

impl DiffArgs {
    /// Returns the paths of the base and of the new side. Also returns whether each file in a
    /// folder is a separate run.
    pub(crate) fn runs(&self) -> Result<(&[PathBuf], &[PathBuf], bool), Failure> {
        match (&self.sides[..], self.base.is_empty()) {
            ([base, new], true) => {
                Ok((std::slice::from_ref(base), std::slice::from_ref(new), false))
            }
            ([], false) => Ok((&self.base, &self.new, true)),
            _ => Err(Failure::usage(
                "two sides are compared: tracemill diff BASE NEW, or --base RUN… --new RUN…",
            )),
        }
    }

    pub(crate) fn rules(&self) -> CompareRules {
        CompareRules { by: self.by, normalize: self.normalize.clone(), least: self.min_delta }
    }

    /// Returns the figures of reports to which limits refer.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let mut all: Vec<Figure> = self.fail_on.iter().flat_map(DiffGate::figures).collect();
        all.dedup();
        all
    }

    /// Returns the input of one run.
    pub(crate) fn input(&self, path: PathBuf) -> InputArgs {
        InputArgs { inputs: vec![path], strict: self.strict, ..InputArgs::default() }
    }
}
