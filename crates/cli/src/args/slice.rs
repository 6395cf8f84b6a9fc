//! Flags of `slice`.

use super::choices::choices;
use super::index::IndexFlag;
use super::{CommonArgs, InputArgs, OutputArgs, TraceArgs, ViewerArgs};
use crate::outcome::exit::Failure;
use crate::text::times::{GivenMoment, positive, window};
use clap::Args;
use std::path::PathBuf;
use tracemill_inspect::around::EventName;
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};

pub(super) const SLICE_ABOUT: &str = "\
Writes a time window of a trace as a complete trace that viewers render correctly.

Times are microseconds, or have a unit: ns us ms s m h. They count from the trace start, which is the smallest ts of all \
events except metadata (a lone 0 far before the others does not count); @T is a timestamp of the trace. A window includes \
its start and excludes its end. Several windows make one trace. If the trace has an index (`tracemill index`), only the \
parts that the window needs are read.

Events that cross an edge are cut there (--edges clip). An X event gets the ts and dur of the part inside. An open B gets \
an E at the end of the window; an E gets its B at the start. Async pairs, and flows with a step inside, are handled in the \
same way. The last value of each counter before the window is repeated at its start. CPU profiles keep the samples inside \
the window, with their times and the nodes they need. Nothing else of an event changes. If the trace ends inside the \
window, nothing is closed.

Some events always stay: metadata, events without a ts, and the events that identify pages, frames and workers for \
DevTools: TracingStartedInBrowser (moved to the start of the window, where DevTools then begins), TracingStartedInPage, \
TracingSessionIdForWorker, navigationStart, CommitLoad, FrameCommittedInBrowser. DevTools annotations stay with their \
events. With --for devtools the panel opens on the window, and info counts the events outside it.

The order is that of merge; a window of the whole trace gives the bytes of merge. If no event is in a window, the status \
is 1 and a warning shows the time range of the trace.";

pub(super) const SLICE_EXAMPLES: &str = "\
Examples:
  From 12 s after the start, for 500 ms:
    tracemill slice trace.json --from 12s --duration 500ms -o part.json

  Around the longest task, ready for DevTools:
    tracemill slice trace.json --around RunTask --for devtools -o longest.json

  Around a finding of report, by its key:
    tracemill slice trace.json --event r-3724 --margin 20ms -o task.json.gz

  The first and the last five seconds:
    tracemill slice trace.json --head 5s -o first.json
    tracemill slice trace.json --tail 5s -o last.json

  Between two timestamps of the trace, in one pass with the least memory:
    tracemill slice trace.json.gz --from @522975000000 --to @522976000000 -o part.json.gz

  The thirteenth second, written like a region of samtools:
    tracemill slice trace.json 12s-13s -o second.json

  Around the third task of the trace:
    tracemill slice trace.json --around RunTask --nth 3 -o third.json

  Three windows in one trace:
    tracemill slice trace.json --window 1s..1.2s --window 7s..7.2s --window 9.9s.. -o parts.json

  One second of a large trace, then another, without reading the rest:
    tracemill index trace.json
    tracemill slice trace.json --from 17s --duration 1s -o one.json
    tracemill slice trace.json --from 40s --duration 1s -o other.json

  Only events that are entirely inside, unchanged:
    tracemill slice trace.json --from 1s --to 2s --edges drop | tracemill info";

/// Flags of `slice`.
#[derive(Debug, Args)]
pub(crate) struct SliceArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) index: IndexFlag,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) viewer: ViewerArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// The windows to cut out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Window")]
pub(crate) struct WindowArgs {
    /// Start at T after the trace start, or at timestamp @T [default: trace start]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) from: Option<GivenMoment>,
    /// End at T, counted like --from [default: trace end]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) to: Option<GivenMoment>,
    /// End this long after --from
    #[arg(long, value_name = "TIME", conflicts_with = "to", value_parser = positive)]
    pub(crate) duration: Option<i64>,
    /// Only the first TIME of the trace
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) head: Option<i64>,
    /// Only the last TIME of the trace
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) tail: Option<i64>,
    /// Only the window from A to B, counted like --from; A or B may be empty
    ///
    /// A-B is the same, also among the INPUTs if no file has that name: `tracemill slice trace.json
    /// 12s-13s`. Repeatable, also with other flags: windows that overlap or touch become one.
    #[arg(long, value_name = "A..B", value_parser = window)]
    pub(crate) window: Vec<TimeWindow>,
    /// Cut around the longest event with this name, or with a name that /REGEX/ matches
    ///
    /// Names of the trace and names of DevTools both match: RunTask and Task. The window is the time of
    /// the event (of B and E: between them), with --margin before and after. The inputs are read twice.
    #[arg(long, value_name = "NAME", group = "anchor")]
    pub(crate) around: Option<EventName>,
    /// Only the time of the event with this key (r-12), as report and tree --log print it
    ///
    /// The inputs are read twice.
    #[arg(long, value_name = "KEY", group = "anchor")]
    pub(crate) event: Option<String>,
    /// Keep TIME before and after the event of --around or --event [default: 5ms]
    #[arg(long, value_name = "TIME", requires = "anchor", value_parser = positive)]
    pub(crate) margin: Option<i64>,
    /// Use the Nth event of that name in time order, instead of the longest
    #[arg(long, value_name = "N", requires = "around", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) nth: Option<u64>,
    /// How to handle events that cross an edge of the window
    #[arg(long, value_name = "RULE", default_value = "clip", value_parser = choices(EDGES))]
    pub(crate) edges: Edges,
}

/// Values of `--edges`.
const EDGES: [(&str, Edges, &str); 3] = [
    ("clip", Edges::Clip, "Cut them there: close or open them"),
    ("keep", Edges::Keep, "Keep them whole and unchanged"),
    ("drop", Edges::Drop, "Leave them out"),
];

impl SliceArgs {
    /// Takes words such as `12s-13s` from the inputs to the windows, unless a file has such a name.
    pub(crate) fn take_regions(&mut self) {
        let is_region = |path: &PathBuf| {
            let begins = |c: char| c.is_ascii_digit() || c == '@';
            let text = path.to_str().filter(|text| text.starts_with(begins));
            let window = text.and_then(|text| window(text).ok());
            window.filter(|window| window.from.is_some() && window.to.is_some() && !path.exists())
        };
        let regions = self.input.inputs.iter().filter_map(is_region).collect::<Vec<_>>();
        self.input.inputs.retain(|path| is_region(path).is_none());
        self.window.window.extend(regions);
    }
}

impl WindowArgs {
    /// Returns the requested windows.
    pub(crate) fn windows(&self) -> Result<Vec<TimeWindow>, Failure> {
        let mut windows = self.window.clone();
        if self.from.is_some() || self.to.is_some() || self.duration.is_some() {
            let (from, to) =
                (self.from.map(|given| given.moment), self.to.map(|given| given.moment));
            let behind = |duration: i64| match from.unwrap_or(Moment::FromStart(0)) {
                Moment::FromStart(from) => Moment::FromStart(from.saturating_add(duration)),
                Moment::BeforeEnd(from) => Moment::BeforeEnd(from.saturating_sub(duration)),
                Moment::At(from) => Moment::At(from.saturating_add(duration)),
            };
            windows.push(TimeWindow { from, to: self.duration.map(behind).or(to) });
        }
        if let Some(time) = self.head {
            windows.push(TimeWindow { from: None, to: Some(Moment::FromStart(time)) });
        }
        if let Some(time) = self.tail {
            windows.push(TimeWindow { from: Some(Moment::BeforeEnd(time)), to: None });
        }
        if windows.is_empty() && self.around.is_none() && self.event.is_none() {
            return Err(Failure::usage(
                "which time? give --from with --to or --duration, --head, --tail, --window A..B, --around NAME, or --event KEY",
            ));
        }
        Ok(windows)
    }

    /// Returns a hint about the unit of times that were given without a unit, which means
    /// microseconds. Returns `None` unless the trace, of `lasts` nanoseconds, would contain them as
    /// seconds or milliseconds.
    pub(crate) fn unit_hint(&self, lasts: u64) -> Option<String> {
        let mut all = Vec::new();
        for (flag, given) in [("--from", self.from), ("--to", self.to)] {
            let Some(given) = given else { continue };
            let (Moment::FromStart(ns), true) = (given.moment, given.bare) else { return None };
            all.push((flag, u64::try_from(ns).ok()?));
        }
        all.retain(|&(_, ns)| ns > 0);
        let &(flag, ns) = all.first()?;
        let last = all.last()?.1;
        // the second time may be later than the end of the trace
        let is_within =
            |scale| ns.saturating_mul(scale) <= lasts && last.saturating_mul(scale) / 2 <= lasts;
        let (units, unit) = match () {
            () if is_within(1_000_000) => ("seconds", "s"),
            () if is_within(1_000) => ("milliseconds", "ms"),
            () => return None,
        };
        // the number keeps every nanosecond
        let number = format!("{}.{:03}", ns / 1000, ns % 1000);
        let number = number.trim_end_matches('0').trim_end_matches('.');
        Some(format!("{flag} {number} is {number} µs; for {units} write {flag} {number}{unit}"))
    }
}
