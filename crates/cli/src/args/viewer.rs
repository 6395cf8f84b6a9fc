//! Flags on the viewer that an output is for.

use super::choices::choices;
use crate::exit::Failure;
use clap::Args;
use tracemill_join::config::{CheckFor, Overlaps, ViewerRules};
use tracemill_trace::output::target::Format;

/// What the output is for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ViewerArgs {
    /// Change what a viewer stumbles over, so that it opens the output and shows it right
    ///
    /// What `check --for` finds of this kind is gone then. A message and --report say what was changed, and how often. The output is in time order, like that of merge.
    #[arg(long = "for", value_name = "VIEWER", value_parser = choices(VIEWERS))]
    viewer: Option<CheckFor>,
    /// What to do with X events, and pairs of B and E, that begin inside another of their thread and end after it
    /// [default: spill for perfetto, keep for devtools]
    #[arg(long, value_name = "RULE", requires = "viewer", value_parser = choices(OVERLAPS))]
    overlaps: Option<Overlaps>,
}

/// Programs that show traces.
const VIEWERS: [(&str, CheckFor, &str); 2] = [
    (
        "devtools",
        CheckFor::Devtools,
        "The Performance panel of Chrome: B and E of each thread become X; one TracingStartedInBrowser, and a CommitLoad \
         for processes that DevTools would hide; i becomes I; name, cat and args are there; large ProfileChunks are cut; \
         NaN becomes null. CPU profiles are shown as the main thread of a page and its workers",
    ),
    (
        "perfetto",
        CheckFor::Perfetto,
        "Perfetto: pids and tids fit into 32 bits; flows have an id that is a number",
    ),
];

/// What becomes of events that overlap.
const OVERLAPS: [(&str, Overlaps, &str); 3] = [
    ("keep", Overlaps::Keep, "They stay: viewers drop them, or draw them over each other"),
    ("spill", Overlaps::Spill, "They move to a track beside their thread, with its name"),
    ("clip", Overlaps::Clip, "X events end with the one in which they begin; pairs move"),
];

impl ViewerArgs {
    /// Whether the output is for a viewer.
    pub(crate) fn is_asked(&self) -> bool {
        self.viewer.is_some()
    }

    /// What the pipeline takes; `format` is the form asked for.
    pub(crate) fn rules(&self, format: Option<Format>) -> Result<ViewerRules, Failure> {
        let Some(viewer) = self.viewer else { return Ok(ViewerRules::default()) };
        if format == Some(Format::Ndjson) {
            return Err(Failure::usage(
                "--for writes what a viewer reads, and none reads ndjson: --format object or array",
            ));
        }
        let usual = match viewer {
            CheckFor::Devtools => Overlaps::Keep,
            CheckFor::Perfetto => Overlaps::Spill,
        };
        let overlaps = self.overlaps.unwrap_or(usual);
        Ok(ViewerRules { viewer: Some(viewer), overlaps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::Parser;

    fn rules(flags: &str) -> Option<ViewerRules> {
        let words = ["tracemill", "merge"].into_iter().chain(flags.split_whitespace());
        match Cli::try_parse_from(words).ok()?.verb {
            Verb::Merge(args) => {
                let format = args.trace.config(&args.output, false).ok()?.format;
                args.viewer.rules(format).ok()
            }
            _ => unreachable!("asked for merge"),
        }
    }

    #[test]
    fn each_viewer_has_its_rule_for_overlaps() {
        let of = |viewer, overlaps| Some(ViewerRules { viewer: Some(viewer), overlaps });
        assert_eq!(rules(""), Some(ViewerRules::default()));
        assert_eq!(rules("--for devtools"), of(CheckFor::Devtools, Overlaps::Keep));
        assert_eq!(rules("--for perfetto"), of(CheckFor::Perfetto, Overlaps::Spill));
        let clipped = rules("--for devtools --overlaps clip --format array");
        assert_eq!(clipped, of(CheckFor::Devtools, Overlaps::Clip));
        for wrong in ["--overlaps clip", "--for emacs", "--for perfetto --format ndjson"] {
            assert_eq!(rules(wrong), None, "{wrong}");
        }
    }
}
