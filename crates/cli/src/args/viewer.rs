//! Flags that adapt an output to a viewer.

use super::choices::choices;
use crate::outcome::exit::Failure;
use clap::Args;
use tracemill_join::config::{CheckFor, Overlaps, ViewerRules};
use tracemill_trace::output::target::Format;

/// Flags that adapt the output to a viewer.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ViewerArgs {
    /// Rewrite events that a viewer mishandles, so that the output opens and renders correctly
    ///
    /// Removes all such findings of `check --for`. A message and --report count the changes. The output
    /// is in time order, like that of merge.
    #[arg(long = "for", value_name = "VIEWER", value_parser = choices(VIEWERS))]
    viewer: Option<CheckFor>,
    /// How to handle slices that partially overlap another slice of their thread [default: spill for
    /// perfetto, keep for devtools]
    #[arg(long, value_name = "RULE", requires = "viewer", value_parser = choices(OVERLAPS))]
    overlaps: Option<Overlaps>,
}

/// Values of `--for`.
const VIEWERS: [(&str, CheckFor, &str); 2] = [
    (
        "devtools",
        CheckFor::Devtools,
        "The Performance panel of Chrome: B and E of each thread become X; one TracingStartedInBrowser, and a CommitLoad \
         for processes that DevTools would hide; i becomes I; missing name, cat and args are added; large ProfileChunks are \
         split; NaN becomes null. CPU profiles are shown as the main thread of a page and its workers",
    ),
    (
        "perfetto",
        CheckFor::Perfetto,
        "Perfetto: pids and tids have 32 bits; ids of flows are numbers",
    ),
];

/// Values of `--overlaps`.
const OVERLAPS: [(&str, Overlaps, &str); 3] = [
    ("keep", Overlaps::Keep, "Keep them: viewers drop them, or draw them over each other"),
    ("spill", Overlaps::Spill, "Move them to another track with the name of the thread"),
    ("clip", Overlaps::Clip, "End X events with the slice in which they begin; move pairs"),
];

impl ViewerArgs {
    /// Returns whether a viewer is given.
    pub(crate) fn is_asked(&self) -> bool {
        self.viewer.is_some()
    }

    /// Returns the rules for the viewer. `format` is the output format, if one is requested.
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
    fn overlaps_default_to_the_rule_of_the_viewer() {
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
