//! Flags of `top`, `tree`, `flame`, `diff`, `report` and `calls` that select threads, window and
//! tables.

use super::choices::choices;
use crate::outcome::exit::Failure;
use crate::text::times::{GivenMoment, positive};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tracemill_analysis::{
    Entities, Entries, GroupBy, Matcher, Per, ReadRules, SourceMaps, TableRules, ThreadChoice,
    Times, Trace, Wanted, Window,
};
use tracemill_join::config::id_set::IdSet;
use tracemill_join::config::pattern::Pattern;
use tracemill_trace::time::windows::Moment;

/// Flags that select threads, window and events.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which part")]
pub(crate) struct PartArgs {
    /// Only these processes: ids and ranges such as 1,2,5-9; "" is no id
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    pid: Vec<IdSet>,
    /// Only these threads
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    tid: Vec<IdSet>,
    /// Only processes whose name (process_name) matches
    #[arg(long, value_name = "REGEX")]
    process: Vec<Pattern>,
    /// Only threads whose name (thread_name) matches
    #[arg(long, value_name = "REGEX")]
    thread: Vec<Pattern>,
    /// Only the main thread
    ///
    /// This is CrRendererMain of the main frame, JavaScriptMainThread of Node, thread 0 of CPU
    /// profiles, or else the thread with the most events.
    #[arg(long)]
    main: bool,
    /// Start at T after the trace start, or at timestamp @T [default: trace start]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    from: Option<GivenMoment>,
    /// End at T, counted like --from [default: trace end]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    to: Option<GivenMoment>,
    /// End this long after --from
    #[arg(long, value_name = "TIME", conflicts_with = "to", value_parser = positive)]
    duration: Option<i64>,
    /// Only the first TIME of the trace
    #[arg(long, value_name = "TIME", value_parser = positive, conflicts_with_all = ["from", "to", "duration", "tail"])]
    head: Option<i64>,
    /// Only the last TIME of the trace
    #[arg(long, value_name = "TIME", value_parser = positive, conflicts_with_all = ["from", "to", "duration"])]
    tail: Option<i64>,
    /// Collapse calls between ignored scripts, as DevTools does [default REGEX: node_modules and node:]
    ///
    /// REGEX matches URLs; @FILE has one REGEX per line. Calls of ignored scripts directly below
    /// other ignored calls are left out.
    #[arg(long, value_name = "REGEX", num_args = 0..=1, require_equals = true, conflicts_with = "all_events", value_parser = listed)]
    ignore_list: Option<Option<Matcher>>,
    /// Put names that differ only in digits into one row: digits become N
    #[arg(long)]
    fold_numbers: bool,
    /// Also count events that DevTools does not draw, such as internal browser tasks
    #[arg(long, conflicts_with = "like")]
    all_events: bool,
    /// Reproduce a viewer including its defects: panel is the Performance panel of DevTools
    ///
    /// Applies DevTools' ignore list (node: and node_modules), leaves out entries hidden in DevTools and
    /// threads that it does not show, uses the window that it opens with (--window full: the whole
    /// trace), and pairs B and E across all threads in file order.
    #[arg(long, value_name = "VIEWER")]
    pub(crate) like: Option<Viewer>,
    /// Map domains to companies, for --group-by third-party and report [default: root domains]
    ///
    /// FILE is entities.json of the npm package third-party-web.
    #[arg(long, value_name = "FILE")]
    entities: Option<PathBuf>,
    #[command(flatten)]
    maps: MapArgs,
}

/// Flags that select source maps.
#[derive(Debug, Args)]
#[command(next_help_heading = "Source maps")]
pub(crate) struct MapArgs {
    /// Show functions by the names and positions of their sources: a map, or a folder of scripts or maps
    ///
    /// Repeatable. Maps inside the trace (metadata.sourceMaps) are always used. Only files in these
    /// folders are opened, whatever scripts and traces refer to.
    #[arg(long, value_name = "DIR|FILE")]
    source_maps: Vec<PathBuf>,
    /// Show functions as recorded, even if the trace contains source maps
    #[arg(long, conflicts_with = "source_maps")]
    no_source_maps: bool,
}

impl MapArgs {
    /// Returns the paths of source maps, or an error if one does not exist.
    pub(crate) fn source_maps(&self) -> Result<SourceMaps, Failure> {
        for path in &self.source_maps {
            path.metadata().map_err(|why| {
                Failure::usage(format!("cannot read source maps: {}: {why}", path.display()))
            })?;
        }
        Ok(SourceMaps { paths: self.source_maps.clone(), of_traces: !self.no_source_maps })
    }
}

/// Parses an ignore list: a pattern, or `@FILE`. The file has one pattern per line, and comments
/// that begin with `#`.
fn listed(text: &str) -> Result<Matcher, String> {
    let Some(path) = text.strip_prefix('@') else { return text.parse() };
    let lines =
        std::fs::read_to_string(path).map_err(|why| format!("cannot read {path}: {why}"))?;
    let lines = lines.lines().map(str::trim);
    let patterns = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let patterns: Vec<String> = patterns.map(|pattern| format!("(?:{pattern})")).collect();
    match patterns.is_empty() {
        true => Err(format!("{path} has no pattern")),
        false => patterns.join("|").parse(),
    }
}

/// A viewer to reproduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Viewer {
    /// The Performance panel of DevTools
    Panel,
}

/// The flag `--times`.
#[derive(Debug, Args)]
#[command(next_help_heading = "What counts")]
pub(crate) struct TimesFlag {
    /// How to compute times
    #[arg(long, value_name = "CLOCK", default_value = "auto", value_parser = choices(TIMES))]
    times: Times,
}

impl TimesFlag {
    /// Returns how times are computed. With `--like panel`, times are those of DevTools.
    pub(crate) fn times(&self, part: &PartArgs) -> Result<Times, Failure> {
        match (self.times, part.as_panel()) {
            (Times::Exact, true) => Err(Failure::usage(
                "--like panel has the times of DevTools: leave out --times exact, or --like panel",
            )),
            (_, true) => Ok(Times::Devtools),
            (times, _) => Ok(times),
        }
    }

    /// Returns command-line words that compute times in the same way.
    pub(crate) fn words(&self) -> Vec<String> {
        (self.times == Times::Exact).then(|| "--times=exact".to_owned()).into_iter().collect()
    }
}

/// The time range of a trace: its start in milliseconds on its clock, and its first and last time
/// in microseconds by DevTools' rules. `origin` is time 0 of the clock, in nanoseconds as
/// timestamps are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceTimes {
    start: f64,
    bounds: (f64, f64),
    origin: i64,
}

impl TraceTimes {
    /// Returns the time range of a trace.
    pub(crate) fn of(trace: &Trace) -> Self {
        let (start, origin) = (trace.start_ms(), trace.origin().unwrap_or(0));
        TraceTimes { start, bounds: trace.bounds, origin }
    }

    /// Converts a time to milliseconds on the clock of the trace.
    pub(crate) fn ms(self, time: Moment) -> f64 {
        moment(self, time)
    }
}

const TIMES: [(&str, Times, &str); 3] = [
    (
        "auto",
        Times::Auto,
        "Like DevTools for recordings of Chrome and CPU profiles of V8, else exact",
    ),
    (
        "devtools",
        Times::Devtools,
        "Doubles of microseconds and milliseconds, with every rounding of DevTools",
    ),
    (
        "exact",
        Times::Exact,
        "Whole nanoseconds since the first event: sums are exact, also for clocks since 1970",
    ),
];

/// Values of `--group-by`.
pub(super) const GROUPS: [(&str, GroupBy, &str); 12] = [
    ("none", GroupBy::None, "Do not group"),
    ("activity", GroupBy::Activity, "By DevTools' name of the event"),
    ("category", GroupBy::Category, "By DevTools' category: scripting, rendering, …"),
    ("domain", GroupBy::Domain, "By the last two labels of the host of the URL"),
    ("subdomain", GroupBy::Subdomain, "By host"),
    ("url", GroupBy::Url, "By URL"),
    (
        "third-party",
        GroupBy::ThirdParty,
        "By the owner of the URL: a company of --entities, else the root domain",
    ),
    ("frame", GroupBy::Frame, "By frame of the page"),
    ("package", GroupBy::Package, "By package: the innermost of node_modules, or Node itself"),
    ("file", GroupBy::File, "By file: URL or path without query"),
    ("process", GroupBy::Process, "By process"),
    ("thread", GroupBy::Thread, "By thread"),
];

/// Values of `--per`.
pub(super) const UNITS: [(&str, Per, &str); 4] = [
    ("thread", Per::Thread, "One table per thread"),
    ("process", Per::Process, "One table per process"),
    ("input", Per::Input, "One table per input"),
    ("all", Per::All, "One table; calls match by function, URL, line and column"),
];

/// Returns the words for a flag with a value. A value that begins with a hyphen is joined to the
/// flag by `=`.
pub(crate) fn flag_words(flag: &str, value: &str) -> Vec<String> {
    match value.starts_with('-') {
        true => vec![format!("{flag}={value}")],
        false => vec![flag.to_owned(), value.to_owned()],
    }
}

/// The flags that select threads, as they were given. A thread must match one entry of each list
/// that is not empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChosenThreads<'a> {
    pub(crate) pid: &'a [IdSet],
    pub(crate) tid: &'a [IdSet],
    pub(crate) process: &'a [Pattern],
    pub(crate) thread: &'a [Pattern],
}

impl PartArgs {
    pub(crate) fn as_panel(&self) -> bool {
        self.like == Some(Viewer::Panel)
    }

    /// Returns the rules for reading inputs.
    pub(crate) fn read_rules(&self, by: GroupBy) -> ReadRules {
        use GroupBy::{Domain, File, Package, Subdomain, ThirdParty, Url};
        let urls = matches!(by, Domain | Subdomain | Url | ThirdParty | File | Package);
        let wanted =
            Wanted { urls, frames: by == GroupBy::Frame, titles: true, ..Wanted::default() };
        let fold_numbers = self.fold_numbers;
        ReadRules { wanted, fold_numbers, as_devtools: self.as_panel(), ..ReadRules::default() }
    }

    /// Returns the rules by which events are counted.
    pub(crate) fn table_rules(&self) -> TableRules {
        let entries = match (self.as_panel(), self.all_events) {
            (true, _) => Entries::Panel,
            (false, true) => Entries::All,
            (false, false) if self.ignore_list.is_some() => Entries::Listed,
            (false, false) => Entries::Visible,
        };
        TableRules { entries, as_devtools: self.as_panel() }
    }

    /// Returns whether a flag requests a window.
    pub(crate) fn has_window(&self) -> bool {
        let PartArgs { from, to, duration, head, tail, .. } = self;
        from.is_some() || to.is_some() || [duration, head, tail].iter().any(|limit| limit.is_some())
    }

    /// Returns the flags that select threads, as they were given.
    pub(crate) fn chosen(&self) -> ChosenThreads<'_> {
        let PartArgs { pid, tid, process, thread, .. } = self;
        ChosenThreads { pid, tid, process, thread }
    }

    /// Returns command-line words that select the same threads and count the same events.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut add = |flag: &str, value: &str| words.extend(flag_words(flag, value));
        self.pid.iter().for_each(|pid| add("--pid", &pid.to_string()));
        self.tid.iter().for_each(|tid| add("--tid", &tid.to_string()));
        self.process.iter().for_each(|process| add("--process", process.as_str()));
        self.thread.iter().for_each(|thread| add("--thread", thread.as_str()));
        words.extend(self.main.then(|| "--main".to_owned()));
        words.extend(self.rule_words());
        words
    }

    /// Returns command-line words with which the same events are counted.
    pub(crate) fn rule_words(&self) -> Vec<String> {
        let ignored = self.ignore_list.as_ref().map(|list| match list {
            Some(list) => format!("--ignore-list={}", list.as_str()),
            None => "--ignore-list".to_owned(),
        });
        let flags = [
            ("--fold-numbers", self.fold_numbers),
            ("--all-events", self.all_events),
            ("--like=panel", self.as_panel()),
        ];
        let flags = flags.into_iter().filter(|(_, is)| *is).map(|(flag, _)| flag.to_owned());
        let entities =
            self.entities.as_ref().map(|entity| format!("--entities={}", entity.display()));
        ignored.into_iter().chain(flags).chain(entities).collect()
    }

    /// Returns the thread criteria.
    pub(crate) fn choice(&self) -> ThreadChoice {
        let united = |sets: &[IdSet]| {
            let mut all = sets.first()?.clone();
            sets[1..].iter().for_each(|set| all.extend(set));
            Some(all)
        };
        ThreadChoice {
            pid: united(&self.pid),
            tid: united(&self.tid),
            process: self.process.clone(),
            thread: self.thread.clone(),
            main: self.main,
            as_panel: self.as_panel(),
        }
    }

    /// Returns the paths of source maps, or an error if one does not exist.
    pub(crate) fn source_maps(&self) -> Result<SourceMaps, Failure> {
        self.maps.source_maps()
    }

    /// Reads the map of domains to companies.
    pub(crate) fn entities(&self) -> Result<Entities, Failure> {
        let Some(path) = &self.entities else { return Ok(Entities::default()) };
        let shown = path.display();
        let bytes = std::fs::read(path)
            .map_err(|why| Failure::usage(format!("cannot read --entities {shown}: {why}")))?;
        Entities::parse(&bytes)
            .map_err(|why| Failure::usage(format!("cannot use --entities {shown}: {why}")))
    }

    /// Returns the ignore list. Returns `None` if the list of DevTools applies.
    pub(crate) fn ignore_list(&self) -> Option<Matcher> {
        self.ignore_list.clone().flatten()
    }

    /// Returns the requested window in milliseconds on the clock of the trace. Returns `None` if no
    /// window is requested.
    pub(crate) fn window(&self, span: TraceTimes) -> Result<Option<Window>, Failure> {
        if let Some(head) = self.head {
            return window_between(span, None, Some(Moment::FromStart(head))).map(Some);
        }
        if let Some(tail) = self.tail {
            return window_between(span, Some(Moment::BeforeEnd(tail)), None).map(Some);
        }
        if self.from.is_none() && self.to.is_none() && self.duration.is_none() {
            return Ok(None);
        }
        let [from, to] =
            [&self.from, &self.to].map(|edge| edge.as_ref().map(|time_arg| time_arg.moment));
        if let Some(duration) = self.duration {
            let from = moment(span, from.unwrap_or(Moment::FromStart(0)));
            return within(span, Window { from, to: from + duration as f64 / 1e6 }).map(Some);
        }
        window_between(span, from, to).map(Some)
    }
}

/// Converts a time to milliseconds on the clock of the trace.
fn moment(TraceTimes { start, bounds, origin }: TraceTimes, moment: Moment) -> f64 {
    let ms = |nanos: i64| nanos as f64 / 1e6;
    match moment {
        Moment::FromStart(nanos) => start + ms(nanos),
        Moment::BeforeEnd(nanos) => bounds.1 / 1000.0 - ms(nanos),
        Moment::At(nanos) => ms(nanos.saturating_sub(origin)),
    }
}

/// Returns the window between two times. A missing time means the start or the end of the trace.
pub(super) fn window_between(
    span: TraceTimes,
    from: Option<Moment>,
    to: Option<Moment>,
) -> Result<Window, Failure> {
    let (begins, ends) = (span.bounds.0 / 1000.0, span.bounds.1 / 1000.0);
    let [first, last] = [from, to].map(|edge| edge.map(|instant| moment(span, instant)));
    if first.zip(last).is_some_and(|(from, to)| from > to) {
        return Err(Failure::usage("the window ends before it begins: --to is before --from"));
    }
    let from = first.unwrap_or(begins);
    // a window that begins after the trace is empty
    let to = last.unwrap_or_else(|| ends.max(from));
    within(span, Window { from, to })
}

/// Returns an error if a window ends before the trace begins. The window would be empty, and
/// DevTools takes an end of 0 for no end.
fn within(span: TraceTimes, window: Window) -> Result<Window, Failure> {
    // a trace without times has no start
    if span.start.is_finite() && window.to < span.start {
        let why = "the window ends before the trace begins: expected a later one";
        return Err(Failure::usage(why));
    }
    Ok(window)
}
