//! Flags of `slice`.

use super::choices::choices;
use super::index::IndexFlag;
use super::{CommonArgs, InputArgs, OutputArgs, TraceArgs, ViewerArgs};
use crate::exit::Failure;
use crate::times::{GivenMoment, positive, window};
use clap::Args;
use std::path::PathBuf;
use tracemill_inspect::around::EventName;
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};

pub(super) const SLICE_ABOUT: &str = "\
Writes the part of a trace that lies in a window of time, as a trace that still renders.

Times are microseconds, or have a unit: ns us ms s m h. They count from the start of the trace, which is the \
smallest ts of all events but metadata (a lone 0 far before all others does not count); with @ they are time stamps \
as written. An event that starts exactly at the end of a window is no longer in it. Several windows make one trace. \
If the trace has an index (`tracemill index`), only what the window needs is read.

Events that cross an edge are cut there (--edges clip): an X event gets the ts and dur of the part inside; a B \
without its E in the window gets an E at the end; an E without its B gets that B at the start; async pairs, and \
flows with a step inside, likewise. The last value of each counter before the window is repeated at its start. CPU \
profiles keep their samples inside the window, with their times and the nodes they need. Nothing else of an event \
changes. If the trace ends inside the window, nothing is closed.

These stay wherever they stand: metadata, events without a ts, and the events by which DevTools knows pages, frames \
and workers: TracingStartedInBrowser (moved to the start of the window, where DevTools then begins), \
TracingStartedInPage, TracingSessionIdForWorker, navigationStart, CommitLoad, FrameCommittedInBrowser. DevTools \
annotations follow their events; those of events that are cut away go too. With --for devtools the panel opens on \
the window, and info says how many events are kept before and after it.

The order is that of merge, and a window that holds the whole trace gives the bytes of merge. If no event lies in a \
window, the status is 1 and a warning says where the trace lies.";

pub(super) const SLICE_EXAMPLES: &str = "\
Examples:
  From 12 s after the start, for 500 ms:
    tracemill slice trace.json --from 12s --duration 500ms -o part.json

  The first and the last five seconds:
    tracemill slice trace.json --head 5s -o first.json
    tracemill slice trace.json --tail 5s -o last.json

  Between two time stamps of the trace, in one pass with the least memory:
    tracemill slice trace.json.gz --from @522975000000 --to @522976000000 -o part.json.gz

  The thirteenth second, as samtools has regions:
    tracemill slice trace.json 12s-13s -o second.json

  Around the longest task, and around the third:
    tracemill slice trace.json --around RunTask --margin 20ms -o longest.json
    tracemill slice trace.json --around RunTask --nth 3 -o third.json

  From a finding of report, by its key, to a file:
    tracemill slice trace.json --event r-3724 --margin 20ms --for devtools -o task.json.gz

  Around three moments, in one trace:
    tracemill slice trace.json --window 1s..1.2s --window 7s..7.2s --window 9.9s.. -o parts.json

  One second of a large trace, and another, without reading the rest of it:
    tracemill index trace.json
    tracemill slice trace.json --from 17s --duration 1s -o one.json
    tracemill slice trace.json --from 40s --duration 1s -o other.json

  Only events that lie wholly inside, unchanged:
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

/// Which time.
#[derive(Debug, Args)]
#[command(next_help_heading = "Window")]
pub(crate) struct WindowArgs {
    /// Begin at T: after the start of the trace, or @T as it stands in it [default: its start]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) from: Option<GivenMoment>,
    /// End before T [default: the end of the trace]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) to: Option<GivenMoment>,
    /// End this long after --from
    #[arg(long, value_name = "TIME", conflicts_with = "to", value_parser = positive)]
    pub(crate) duration: Option<i64>,
    /// The first TIME of the trace
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) head: Option<i64>,
    /// The last TIME of the trace, up to the end of its last event
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) tail: Option<i64>,
    /// From A to before B, each as in --from; either may be left out; A-B is the same
    ///
    /// A-B may also stand among the INPUTs, as in `tracemill slice trace.json 12s-13s`, if no file has that name. May be given more than once, and together with the others: windows that overlap or touch become one.
    #[arg(long, value_name = "A..B", value_parser = window)]
    pub(crate) window: Vec<TimeWindow>,
    /// Around the longest event with this name, or with one that /REGEX/ matches; the inputs are read twice
    ///
    /// A name is that of the trace or that of DevTools: RunTask or Task. The window is its time, with --margin before and after. For B and E it is the time between them.
    #[arg(long, value_name = "NAME", group = "anchor")]
    pub(crate) around: Option<EventName>,
    /// Around the event or call with this key, as report and tree --log print it (r-3724); the inputs are read twice
    #[arg(long, value_name = "KEY", group = "anchor")]
    pub(crate) event: Option<String>,
    /// Time to keep before and after the event of --around or --event [default: 5ms]
    #[arg(long, value_name = "TIME", requires = "anchor", value_parser = positive)]
    pub(crate) margin: Option<i64>,
    /// The Nth event of that name by time, counted from 1, instead of the longest
    #[arg(long, value_name = "N", requires = "around", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) nth: Option<u64>,
    /// What to do with events that cross an edge
    #[arg(long, value_name = "RULE", default_value = "clip", value_parser = choices(EDGES))]
    pub(crate) edges: Edges,
}

/// What to do with events that cross an edge.
const EDGES: [(&str, Edges, &str); 3] = [
    ("clip", Edges::Clip, "They are cut there, and closed or opened"),
    ("keep", Edges::Keep, "They are kept, whole and unchanged"),
    ("drop", Edges::Drop, "They are left out"),
];

impl SliceArgs {
    /// Takes regions such as `12s-13s` out of the inputs: names that no file has and that are two times.
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
    /// What the pipeline takes.
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

    /// What to say of times without a unit in a trace that lasts so many nanoseconds: they are microseconds, and the first of them
    /// would lie in the trace as seconds, or milliseconds, too.
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
        // the end of a window may lie behind the trace
        let is_within =
            |scale| ns.saturating_mul(scale) <= lasts && last.saturating_mul(scale) / 2 <= lasts;
        let (units, unit) = match () {
            () if is_within(1_000_000) => ("seconds", "s"),
            () if is_within(1_000) => ("milliseconds", "ms"),
            () => return None,
        };
        // microseconds are whole to the nanosecond
        let number = format!("{}.{:03}", ns / 1000, ns % 1000);
        let number = number.trim_end_matches('0').trim_end_matches('.');
        Some(format!("{flag} {number} is {number} µs; for {units} write {flag} {number}{unit}"))
    }
}
