//! Flags of `flame`.

use super::choices::choices;
use super::parts::{GROUPS, PartArgs, TimesFlag, UNITS};
use super::picks::PickArgs;
use super::{CommonArgs, InputArgs, OutputArgs};
use crate::outcome::exit::Failure;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tracemill_analysis::{GroupBy, Per, RowThreshold};
use tracemill_export::{ChangeRules, Order, PictureRules};

pub(super) const ABOUT: &str = "\
Draws flame graphs and flame charts of traces and CPU profiles, or of many of them as one picture.

-o FILE.svg writes a self-contained SVG. In a browser, click or press Enter to zoom, / to search, arrows to move between \
frames; the URL keeps the view. Without -o the picture is drawn as text, as wide as the terminal. Light and dark colours \
follow the settings of the reader.

Frames are below their callers, those with the most time on the left; (idle) is left out. --order time makes a flame chart, with a band for \
each thread; --flame turns the picture upside down. At most 20,000 frames are drawn; narrower frames become one frame that \
shows their number.

--peek NAME draws the callers of a function above it and its callees below. --diff BASE colours a picture of all threads by \
change: slower (red), faster (blue) or new (violet); frames that only BASE has are in a second band.

The same input gives the same bytes on every machine.";

pub(super) const EXAMPLES: &str = "\
Examples:
  A flame graph of the main thread, on the terminal:
    tracemill flame --main server.json

  All profiles of a folder as one picture:
    tracemill flame profiles/ -o profiles.svg

  A flame chart of 40 milliseconds:
    tracemill flame --order time --from 60ms --to 100ms server.json -o chart.svg

  The callers and callees of a function:
    tracemill flame --peek run profiles/ -o run.svg

  What a change made slower:
    tracemill flame --diff server.json worker.json -o change.svg";

/// Flags of `flame`.
#[derive(Debug, Args)]
pub(crate) struct FlameArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) picks: PickArgs,
    #[command(flatten)]
    pub(crate) times: TimesFlag,
    /// Order the frames of a caller by this
    #[arg(long, value_name = "ORDER", default_value = "heavy", value_parser = choices(ORDERS), help_heading = "Picture")]
    pub(crate) order: Order,
    /// Draw callees above their callers
    #[arg(long = "flame", help_heading = "Picture")]
    pub(crate) up: bool,
    /// Show only the callers and callees of this function or event
    #[arg(long, value_name = "NAME", help_heading = "Picture", conflicts_with = "diff")]
    pub(crate) peek: Option<String>,
    /// Colour by the change since BASE: a trace, a CPU profile or a folder
    #[arg(long, value_name = "BASE", help_heading = "Picture")]
    pub(crate) diff: Option<PathBuf>,
    /// Colour by total time instead of self time
    #[arg(long, help_heading = "Picture", requires = "diff")]
    total: bool,
    /// Draw smaller changes in grey: a share of the picture
    #[arg(
        long,
        value_name = "PERCENT",
        help_heading = "Picture",
        requires = "diff",
        default_value = "1%"
    )]
    min_delta: RowThreshold,
    /// Scale BASE to the total of the other side
    #[arg(long, help_heading = "Picture", requires = "diff")]
    normalize: bool,
    /// Draw (idle) too, which --order time always draws
    #[arg(long, help_heading = "Picture")]
    with_idle: bool,
    /// Show N levels [default: 1000]
    ///
    /// Deeper frames count for their caller.
    #[arg(long, value_name = "N", help_heading = "Picture", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Draw at most N frames
    #[arg(long, value_name = "N", default_value = "20000", help_heading = "Picture",
          value_parser = clap::value_parser!(u32).range(2..=200_000))]
    max_frames: u32,
    /// Group by this
    #[arg(long, value_name = "KEY", default_value = "none", value_parser = choices(GROUPS), help_heading = "Picture")]
    pub(crate) group_by: GroupBy,
    /// Draw the threads of each UNIT as one [default: thread; of folders, with --peek and --diff: all]
    #[arg(long, value_name = "UNIT", value_parser = choices(UNITS), help_heading = "Picture")]
    per: Option<Per>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Format of the picture [default: svg if the name of -o ends in .svg, else text]
    #[arg(long, value_name = "FORM", help_heading = "Output")]
    format: Option<PictureForm>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Orders of the frames of a caller.
const ORDERS: [(&str, Order, &str); 3] = [
    ("heavy", Order::Heavy, "By total time, largest first"),
    ("name", Order::Name, "By name"),
    ("time", Order::Time, "By time, one frame per event and call: a flame chart"),
];

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PictureForm {
    /// A self-contained SVG
    Svg,
    /// Text, as wide as the terminal
    Text,
}

impl FlameArgs {
    /// Returns the requested format, by flag or file name.
    pub(crate) fn form(&self) -> Result<PictureForm, Failure> {
        let end = self.output.file().and_then(|path| path.extension()?.to_str());
        let form = self.format.or(match end.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Some(PictureForm::Svg),
            None | Some("txt") => Some(PictureForm::Text),
            Some(_) => None,
        });
        form.ok_or_else(|| {
            Failure::usage(
                "flame writes .svg, which is interactive in a browser, and .txt: choose such a name or a --format; \
                 tracemill tree writes .folded, .speedscope.json and .pb",
            )
        })
    }

    pub(crate) fn rules(&self) -> PictureRules {
        let depth = self.depth.map_or(1000, |depth| depth as usize);
        let (most, idle) = (self.max_frames as usize, self.with_idle);
        PictureRules { order: self.order, up: self.up, most, depth, idle }
    }

    /// Returns the rules for colouring differences.
    pub(crate) fn change(&self) -> Result<ChangeRules, Failure> {
        let RowThreshold::Percent(least) = self.min_delta else {
            return Err(Failure::usage("--min-delta is a share of the picture: 1%"));
        };
        Ok(ChangeRules { total: self.total, least, normalize: self.normalize })
    }

    /// Returns the unit whose threads are drawn in the same graph.
    pub(crate) fn per(&self) -> Result<Per, Failure> {
        let by_time = self.order == Order::Time;
        if by_time && (self.peek.is_some() || self.diff.is_some() || self.group_by != GroupBy::None)
        {
            return Err(Failure::usage(
                "--order time has a frame for each event: --peek, --diff and --group-by add them up, leave those out",
            ));
        }
        match self.per {
            Some(Per::Thread) | None if by_time => Ok(Per::Thread),
            Some(_) if by_time => {
                Err(Failure::usage("--order time has a band for each thread: leave out --per"))
            }
            None if self.peek.is_some() || self.diff.is_some() || self.input.has_folder() => {
                Ok(Per::All)
            }
            Some(per) if self.diff.is_some() && per != Per::All => Err(Failure::usage(
                "--diff compares all threads as one: leave out --per, or choose threads with --pid, --tid and --main",
            )),
            per => Ok(per.unwrap_or(Per::Thread)),
        }
    }
}
