//! Flags of `top`, `tree`, `flame` and `diff`: what of threads counts, and when.

use super::choices::choices;
use super::parts::{PartArgs, TimeSpan, window_between};
use crate::exit::Failure;
use crate::times::window;
use clap::Args;
use tracemill_analysis::{
    GroupBy, Matcher, Per, Picks, Query, ReadRules, RowKey, Shape, Trace, Weights, Window,
};
use tracemill_trace::time::windows::TimeWindow;

/// See the module doc.
#[derive(Debug, Args)]
#[command(next_help_heading = "What counts")]
pub(crate) struct PickArgs {
    /// From A to B, each as in --from; either may be left out. Several windows are added up. panel is what DevTools opens with, full all
    #[arg(long, value_name = "A..B", value_parser = stretch)]
    window: Vec<TimeStretch>,
    /// Only the time in which a matching event or call is open, on any thread; added up. A key (r-12) is that of one event
    #[arg(long, value_name = "REGEX", conflicts_with_all = ["from", "to", "duration", "head", "tail", "window"])]
    during: Option<Matcher>,
    /// Only the thread and time of this event or call: its key, as report and tree --log print it (r-12)
    #[arg(long, value_name = "KEY", conflicts_with_all = ["from", "to", "duration", "head", "tail", "window", "during"])]
    event: Option<String>,
    /// Only the time in which a matching event or call of the thread is open: name, in the trace or in DevTools, or URL
    #[arg(long, value_name = "REGEX")]
    focus: Option<Matcher>,
    /// Not the time in which a matching one is open
    #[arg(long, value_name = "REGEX")]
    ignore: Option<Matcher>,
    /// No rows for matching ones: their time goes to their callers
    #[arg(long, value_name = "REGEX")]
    hide: Option<Matcher>,
    /// Trees begin at matching ones
    #[arg(long, value_name = "REGEX")]
    root: Option<Matcher>,
    /// Only rows with this text in their name or URL, in any case, like the filter of DevTools (which looks at args too)
    ///
    /// Call tree and log are made of events and calls that have it; bottom-up it applies to the rows at the top.
    #[arg(long, value_name = "TEXT", value_parser = Matcher::of_text)]
    text: Option<Matcher>,
    /// How long a sample of a CPU profile counts
    #[arg(long, value_name = "RULE", default_value = "next", value_parser = choices(WEIGHTS))]
    weights: Weights,
    /// What calls must have in common to be one row [default: their id in DevTools if the table has one thread, else their place]
    #[arg(long, value_name = "KEY", value_parser = choices(KEYS), help_heading = "Rows")]
    key: Option<RowKey>,
}

/// A window of time.
#[derive(Clone, Copy, Debug)]
enum TimeStretch {
    /// Between two times.
    Between(TimeWindow),
    /// The one that the panel of DevTools opens with.
    Panel,
    /// The whole trace.
    Full,
}

fn stretch(text: &str) -> Result<TimeStretch, String> {
    match text {
        "panel" => Ok(TimeStretch::Panel),
        "full" => Ok(TimeStretch::Full),
        _ => window(text).map(TimeStretch::Between),
    }
}

/// What calls must have in common.
const KEYS: [(&str, RowKey, &str); 5] = [
    ("devtools", RowKey::Devtools, "DevTools' id of the row: function, script, line and column"),
    ("place", RowKey::Place, "Function, URL, line and column"),
    ("line", RowKey::Line, "Function, URL and line"),
    ("function", RowKey::Function, "The function's name"),
    ("url", RowKey::Url, "The URL: a row for each file"),
];

/// For how long a sample counts.
const WEIGHTS: [(&str, Weights, &str); 3] = [
    ("next", Weights::Next, "Until the next sample, as in DevTools"),
    ("delta", Weights::Delta, "The time since the sample before, as in bun, deno and most scripts"),
    ("hits", Weights::Hits, "All the same, like hit counts"),
];

/// What a flag names rows by.
#[derive(Clone, Debug)]
pub(crate) enum AskedRows {
    Name(String),
    Matching(Matcher),
    Key(String),
}

impl AskedRows {
    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        match self {
            AskedRows::Name(text) | AskedRows::Key(text) => text,
            AskedRows::Matching(matcher) => matcher.as_str(),
        }
    }
}

/// What a table is asked for.
pub(crate) struct Asked {
    pub(crate) shape: Shape,
    pub(crate) by: GroupBy,
    pub(crate) per: Per,
}

impl PickArgs {
    /// Whether windows of time were asked for, or what counts by events.
    pub(crate) fn has_window(&self) -> bool {
        !self.window.is_empty() || self.during.is_some() || self.event.is_some()
    }

    /// Whether what counts may be several stretches of time.
    pub(crate) fn is_in_pieces(&self) -> bool {
        self.window.len() > 1
            || self.during.is_some()
            || self.focus.is_some()
            || self.ignore.is_some()
    }

    /// What rows are named by, without which there is no answer.
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

    /// How inputs are read.
    pub(crate) fn read_rules(&self, part: &PartArgs, by: GroupBy) -> ReadRules {
        ReadRules { weights: self.weights, as_stored: self.has_panel(), ..part.read_rules(by) }
    }

    /// Whether the window that DevTools opens with is asked for.
    fn has_panel(&self) -> bool {
        self.window.iter().any(|own| matches!(own, TimeStretch::Panel))
    }

    /// The windows of a trace, but for those that follow from events; `panel` is that
    /// which DevTools opens with.
    fn windows(
        &self,
        part: &PartArgs,
        span: TimeSpan,
        panel: impl Fn() -> Result<Window, Failure>,
    ) -> Result<Vec<Window>, Failure> {
        let stretches = self.window.iter().map(|own| match own {
            TimeStretch::Between(own) => window_between(span, own.from, own.to),
            TimeStretch::Full => window_between(span, None, None),
            TimeStretch::Panel => panel(),
        });
        part.window(span)?.into_iter().map(Ok).chain(stretches).collect()
    }

    /// The threads, by their numbers, and what is asked of them.
    pub(crate) fn query(
        &self,
        part: &PartArgs,
        trace: &Trace,
        asked: Asked,
    ) -> Result<(Vec<usize>, Query), Failure> {
        let mut threads = trace.choose(&part.choice());
        let rules = part.table_rules();
        let panel = || Ok(trace.opening_window()?);
        let mut windows = self.windows(part, TimeSpan::of(trace), panel)?;
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
        };
        let Asked { shape, by, per } = asked;
        let key = self.key;
        Ok((threads, Query { shape, by, rules, per, windows, picks, key }))
    }
}
