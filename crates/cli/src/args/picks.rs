//! Flags of `top`, `tree`, `flame` and `diff` that select events and times.

use super::choices::choices;
use super::parts::{PartArgs, TraceTimes, window_between};
use crate::outcome::exit::Failure;
use crate::text::times::window;
use clap::Args;
use tracemill_analysis::{
    GroupBy, Matcher, Per, Picks, Query, ReadRules, RowKey, Shape, Trace, Weights, Window,
};
use tracemill_trace::time::windows::TimeWindow;

/// Flags that select events, calls and times.
#[derive(Debug, Args)]
#[command(next_help_heading = "What counts")]
pub(crate) struct PickArgs {
    /// Only the window from A to B, counted like --from; A or B may be empty
    ///
    /// Repeatable: several windows are added up. panel is the window that DevTools opens with, full is
    /// the whole trace.
    #[arg(long, value_name = "A..B", value_parser = time_range)]
    window: Vec<TimeStretch>,
    /// Only the time during matching events or calls of any thread; a key (r-12) selects one event
    #[arg(long, value_name = "REGEX", conflicts_with_all = ["from", "to", "duration", "head", "tail", "window"])]
    during: Option<Matcher>,
    /// Only the thread and time of the event with this key (r-12), as report and tree --log print it
    #[arg(long, value_name = "KEY", conflicts_with_all = ["from", "to", "duration", "head", "tail", "window", "during"])]
    event: Option<String>,
    /// Only the time during matching events or calls of the same thread (name or URL)
    #[arg(long, value_name = "REGEX")]
    focus: Option<Matcher>,
    /// Leave out the time during matching events or calls
    #[arg(long, value_name = "REGEX")]
    ignore: Option<Matcher>,
    /// Hide matching rows; their time counts for their callers
    #[arg(long, value_name = "REGEX")]
    hide: Option<Matcher>,
    /// Start trees at matching rows
    #[arg(long, value_name = "REGEX")]
    root: Option<Matcher>,
    /// Only rows with TEXT in their name or URL, ignoring case
    ///
    /// Like the filter box of DevTools, which also searches args. In the call tree and the log it
    /// selects events and calls; bottom-up it selects top rows.
    #[arg(long, value_name = "TEXT", value_parser = Matcher::of_text)]
    text: Option<Matcher>,
    /// How long each sample of a CPU profile counts
    #[arg(long, value_name = "RULE", default_value = "next", value_parser = choices(WEIGHTS))]
    weights: Weights,
    /// What calls of one row have in common [default: devtools in a table of one thread, else place]
    #[arg(long, value_name = "KEY", value_parser = choices(KEYS), help_heading = "Rows")]
    key: Option<RowKey>,
}

/// A window of time.
#[derive(Clone, Copy, Debug)]
enum TimeStretch {
    /// The window between two times.
    Between(TimeWindow),
    /// The window that DevTools' panel shows first.
    Panel,
    /// The whole trace.
    Full,
}

fn time_range(text: &str) -> Result<TimeStretch, String> {
    match text {
        "panel" => Ok(TimeStretch::Panel),
        "full" => Ok(TimeStretch::Full),
        _ => window(text).map(TimeStretch::Between),
    }
}

/// Values of `--key`.
const KEYS: [(&str, RowKey, &str); 5] = [
    ("devtools", RowKey::Devtools, "DevTools' id of the row: function, script, line and column"),
    ("place", RowKey::Place, "Function, URL, line and column"),
    ("line", RowKey::Line, "Function, URL and line"),
    ("function", RowKey::Function, "The function's name"),
    ("url", RowKey::Url, "The URL: one row per file"),
];

/// Values of `--weights`.
const WEIGHTS: [(&str, Weights, &str); 3] = [
    ("next", Weights::Next, "Until the next sample, as in DevTools"),
    ("delta", Weights::Delta, "Since the sample before, as in bun, deno and most scripts"),
    ("hits", Weights::Hits, "All samples the same, like hit counts"),
];

/// Rows that a flag names, by a name, a pattern or a key.
#[derive(Clone, Debug)]
pub(crate) enum AskedRows {
    Name(String),
    Matching(Matcher),
    Key(String),
}

impl AskedRows {
    /// Returns the text that was given for the flag.
    pub(crate) fn text(&self) -> &str {
        match self {
            AskedRows::Name(text) | AskedRows::Key(text) => text,
            AskedRows::Matching(matcher) => matcher.as_str(),
        }
    }

    /// Returns whether rows with a name are requested.
    pub(crate) fn is_match(&self, name: &str) -> bool {
        match self {
            AskedRows::Name(text) => text == name,
            AskedRows::Matching(matcher) => matcher.is_match(name),
            AskedRows::Key(_) => false,
        }
    }
}

/// The requested table: its shape, its grouping, and the threads that share it.
pub(crate) struct RequestedTable {
    pub(crate) shape: Shape,
    pub(crate) by: GroupBy,
    pub(crate) per: Per,
}

impl PickArgs {
    /// Returns the text that rows must contain, if one is requested.
    pub(crate) fn text(&self) -> Option<&Matcher> {
        self.text.as_ref()
    }

    /// Returns whether windows or events select the time.
    pub(crate) fn has_window(&self) -> bool {
        !self.window.is_empty() || self.during.is_some() || self.event.is_some()
    }

    /// Returns whether the selected time may consist of several ranges.
    pub(crate) fn is_in_pieces(&self) -> bool {
        self.window.len() > 1
            || self.during.is_some()
            || self.focus.is_some()
            || self.ignore.is_some()
    }

    /// Returns the names of rows that the trace must have, with their flags. If one is missing, the
    /// result has no rows.
    pub(crate) fn asked_rows(&self) -> Vec<(&'static str, AskedRows)> {
        let matchers = [
            ("--during", &self.during),
            ("--focus", &self.focus),
            ("--root", &self.root),
            ("--text", &self.text),
        ];
        let matchers = matchers
            .into_iter()
            .filter_map(|(flag, matcher)| Some((flag, AskedRows::Matching(matcher.clone()?))));
        let event = self.event.iter().map(|key| ("--event", AskedRows::Key(key.clone())));
        matchers.chain(event).collect()
    }

    /// Returns the rules for reading inputs.
    pub(crate) fn read_rules(&self, part: &PartArgs, by: GroupBy) -> ReadRules {
        ReadRules { weights: self.weights, as_stored: self.has_panel(), ..part.read_rules(by) }
    }

    /// Returns whether the window that DevTools' panel shows first is requested.
    fn has_panel(&self) -> bool {
        self.window.iter().any(|window| matches!(window, TimeStretch::Panel))
    }

    /// Returns the requested windows, except for the windows of events. `panel` returns the window
    /// that DevTools' panel shows first.
    fn windows(
        &self,
        part: &PartArgs,
        span: TraceTimes,
        panel: impl Fn() -> Result<Window, Failure>,
    ) -> Result<Vec<Window>, Failure> {
        let ranges = self.window.iter().map(|window| match window {
            TimeStretch::Between(range) => window_between(span, range.from, range.to),
            TimeStretch::Full => window_between(span, None, None),
            TimeStretch::Panel => panel(),
        });
        part.window(span)?.into_iter().map(Ok).chain(ranges).collect()
    }

    /// Returns the numbers of the selected threads, and the query.
    pub(crate) fn query(
        &self,
        part: &PartArgs,
        trace: &Trace,
        table: RequestedTable,
    ) -> Result<(Vec<usize>, Query), Failure> {
        let mut threads = trace.choose(&part.choice());
        let rules = part.table_rules();
        let panel = || Ok(trace.opening_window()?);
        let mut windows = self.windows(part, TraceTimes::of(trace), panel)?;
        if part.as_panel() && !part.has_window() && !self.has_window() {
            windows.push(trace.opening_window()?);
        }
        if let Some(key) = &self.event {
            let found = trace.event(&threads, key)?;
            threads = found.iter().map(|(at, _)| *at).collect();
            windows.extend(found.map(|(_, window)| window));
        }
        if let Some(matcher) = &self.during {
            let text = matcher.as_str();
            let is_key = ["r-", "p-"].iter().any(|kind| text.starts_with(kind));
            let found = if is_key { trace.event(&threads, text)? } else { None };
            windows = match found {
                Some((_, window)) => vec![window],
                None => trace.during(&threads, matcher, rules)?,
            };
            if windows.is_empty() {
                threads.clear();
            }
        }
        let picks = Picks {
            focus: self.focus.clone(),
            ignore: self.ignore.clone(),
            hide: self.hide.clone(),
            root: self.root.clone(),
            text: self.text.clone(),
            categories: Vec::new(),
        };
        let RequestedTable { shape, by, per } = table;
        let key = self.key;
        Ok((threads, Query { shape, by, rules, per, windows, picks, key }))
    }
}
