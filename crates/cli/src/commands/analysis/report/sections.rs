//! Builds the sections that any trace may have.

use super::super::data::percent_of;
use super::super::text::location;
use super::super::unit::time_text;
use super::figures::busy;
use super::next::Next;
use super::section::{Cell, Columns, Section};
use serde_json::{Value, json};
use std::borrow::Cow;
use tracemill_analysis::{Trace, TreePath, TreeRow};
use tracemill_report::Blocks;
use tracemill_report::Counted;
use tracemill_report::Report;
use tracemill_report::Spread;
use tracemill_report::Stretch;
use tracemill_report::ThreadSums;
use tracemill_trace::run::words::{grouped, plural};

/// The report, its trace, and the options from which the sections are built.
pub(super) struct ReportInputs<'a> {
    pub(super) trace: &'a Trace,
    pub(super) report: &'a Report,
    pub(super) next: &'a Next,
    pub(super) rows: usize,
    /// Whether the report is written as JSON, which has insights without findings too.
    pub(super) is_json: bool,
}

impl ReportInputs<'_> {
    pub(super) fn all(&self) -> Vec<Section> {
        let tasks = || {
            self.report
                .tasks
                .as_ref()
                .map(|task| self.tasks(task.count, task.blocking, &task.longest))
        };
        let blocks = || self.report.blocks.as_ref().map(|block| self.blocks(block));
        let of_producer = self
            .web()
            .into_iter()
            .chain(self.insights())
            .chain(self.build())
            .chain(self.compiler());
        let mut all: Vec<Section> = of_producer
            .chain(self.services())
            .chain(self.ranks())
            .chain(self.devices())
            .chain(self.tracks())
            .collect();
        let others = [
            tasks(),
            self.reflow(),
            blocks(),
            self.hot(),
            self.path(),
            Some(self.threads()),
            self.network(),
            self.parties(),
            self.slices(),
            self.memory(),
            self.counters(),
        ];
        all.extend(others.into_iter().flatten());
        all
    }

    fn hot(&self) -> Option<Section> {
        let part = self.report.hot.as_ref()?;
        let busy = busy(self.report);
        let columns = Columns::<Cow<'_, TreeRow>>::new()
            .ms("self_ms", "self ms", |row| row.own)
            .percent("self_pct", "%", |row| percent_of(row.own, busy))
            .ms("total_ms", "total ms", |row| row.total)
            .count("count", "count", |row| row.count)
            .words("name", "activity", |row| Cell::text(row.name()))
            .words("location", "location", |row| Cell::text(location(row)))
            .words("id", "", |row| Cell::text(&row.id))
            .words("category", "", |row| Cell::text(row.category))
            .words("url", "", |row| Cell::optional(Some(&row.location.url)))
            .figure("line", "", |row| Cell::of(row.location.line))
            .figure("column", "", |row| Cell::of(row.location.column));
        let rows = &part.table.rows;
        let next = |row: &Cow<'_, TreeRow>| {
            self.next.of_all(&["tree", "--per", "all", "--peek", row.name()])
        };
        let Report { gc, idle, .. } = *self.report;
        let unless_zero = |ms: f64, text: String| if ms > 0.0 { text } else { String::new() };
        let gc_text = unless_zero(gc, format!("; garbage collection {}", time_text(gc)));
        let idle_text = unless_zero(idle, format!("; idle {}, not counted", time_text(idle)));
        let all = rows.len() as u64;
        Some(Section::new("hot", columns, rows.iter().take(self.rows), next).of(all).with(
            format!("{} busy, {}{gc_text}{idle_text}", time_text(busy), plural(all, "row")),
            vec![
                ("busy_ms", Cell::Ms(busy)),
                ("idle_ms", Cell::Ms(idle)),
                ("gc_ms", Cell::Ms(gc)),
                ("rows", Cell::Count(all)),
            ],
        ))
    }

    fn path(&self) -> Option<Section> {
        let (at, path) = self.report.heaviest.as_ref()?;
        let (thread, total) = (&self.trace.threads[*at], path.rows.last()?.total);
        let columns = Columns::<()>::new()
            .ms("total_ms", "ms", |_| total)
            .words("thread", "thread", |_| Cell::text(self.thread(*at)))
            .words("path", "from the outermost on", |_| {
                Cell::Json(path_json(path), path_text(path))
            })
            .words("pid", "", |_| Cell::id(&thread.pid))
            .words("tid", "", |_| Cell::id(&thread.tid));
        let next = |_: &()| self.next.of_thread(&["tree", "--heaviest"], thread);
        let head = "the call path with the most time, on the busiest thread";
        Some(Section::new("path", columns, [()], next).with(head, Vec::new()))
    }

    fn threads(&self) -> Section {
        let all = &self.report.threads;
        let thread = |sums: &&ThreadSums| &self.trace.threads[sums.thread];
        let length = self.report.window.to - self.report.window.from;
        let category =
            |category: &(&str, f64)| json!({"category": category.0, "self_ms": category.1});
        let categories = |sums: &&ThreadSums| {
            let shown = sums.categories.iter();
            let shown = shown.map(|(name, ms)| format!("{name} {}", time_text(*ms)));
            let shown = shown.collect::<Vec<_>>().join(", ");
            Cell::Json(sums.categories.iter().map(category).collect::<Value>(), shown)
        };
        let gap =
            |sums: &&ThreadSums| sums.gap.map_or(Cell::None, |gap| Cell::Ms(gap.to - gap.from));
        let columns = Columns::<&ThreadSums>::new()
            .ms("busy_ms", "busy ms", |sums| sums.busy)
            .ms("time_ms", "of ms", |sums| sums.time)
            .percent("own_pct", "%", |sums| percent_of(sums.busy, sums.time))
            .percent("busy_pct", "", |sums| percent_of(sums.busy, length))
            .count("events", "events", |sums| sums.events)
            .count("samples", "samples", |sums| thread(sums).samples())
            .figure("gap_ms", "longest gap ms", gap)
            .spare()
            .words("thread", "thread", |sums| Cell::text(self.thread(sums.thread)))
            .words("categories", "self time by category", categories)
            .words("pid", "", |sums| Cell::id(&thread(sums).pid))
            .words("tid", "", |sums| Cell::id(&thread(sums).tid))
            .words("name", "", |sums| Cell::optional(thread(sums).name.as_deref()))
            .words("input", "", |word| Cell::optional(thread(word).input.as_deref()));
        let is_busy = |thread_sums: &&ThreadSums| thread_sums.busy > 0.0;
        let rows = all.iter().filter(is_busy).take(self.rows);
        let busy = all.iter().filter(is_busy).count() as u64;
        Section::new("threads", columns, rows, |sums| self.next.of_thread(&["tree"], thread(sums)))
            .of(busy)
            .with(
                format!("{} of {} busy", grouped(busy), plural(all.len() as u64, "thread")),
                vec![
                    ("threads", Cell::Count(all.len() as u64)),
                    ("busy_threads", Cell::Count(busy)),
                ],
            )
    }

    /// Converts a time on the clock of the trace to milliseconds after the trace start.
    pub(super) fn after_start(&self, ms: f64) -> f64 {
        ms - self.trace.start_ms()
    }

    /// Returns a short text that names a thread.
    pub(super) fn thread(&self, at: usize) -> String {
        let thread = &self.trace.threads[at];
        let ids = format!("{}/{}", thread.pid_text(), thread.tid_text());
        let words = [Some(&*ids), thread.name.as_deref(), thread.input.as_deref()];
        words.into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn tasks(&self, count: u64, blocking: f64, longest: &[Stretch]) -> Section {
        let head = match count {
            0 => "no long tasks (over 50 ms)".to_owned(),
            _ => format!(
                "{} (over 50 ms); blocking time {}",
                plural(count, "long task"),
                time_text(blocking)
            ),
        };
        let figures = vec![("count", Cell::Count(count)), ("blocking_ms", Cell::Ms(blocking))];
        self.intervals("tasks", longest).of(count).with(head, figures)
    }

    fn blocks(&self, blocks: &Blocks) -> Section {
        let Blocks { count, total, longest, without_idle } = blocks;
        let head = match count {
            0 if *without_idle > 0 => "event-loop blocks".to_owned(),
            0 => "event-loop blocks: none of 50 ms or more".to_owned(),
            _ => format!(
                "{} of 50 ms or more without an (idle) sample, {}",
                plural(*count, "event-loop block"),
                time_text(*total)
            ),
        };
        let figures = vec![
            ("count", Cell::Count(*count)),
            ("total_ms", Cell::Ms(*total)),
            ("without_idle", Cell::Count(*without_idle)),
        ];
        let mut section = self.intervals("blocks", longest).of(*count).with(head, figures);
        section.why = (*without_idle > 0).then(|| {
            let have = if *without_idle == 1 { "has" } else { "have" };
            format!("{} {have} no (idle) samples", plural(*without_idle, "CPU profile"))
        });
        section
    }

    fn intervals(&self, id: &'static str, rows: &[Stretch]) -> Section {
        let thread = |interval: &&Stretch| &self.trace.threads[interval.thread];
        let path = |path: &TreePath| json!({"self_ms": path.own(), "path": path_json(path)});
        let paths = |interval: &&Stretch| {
            let shown = interval.paths.first().map_or_else(String::new, |path| {
                format!("{} ({})", path_text(path), time_text(path.own()))
            });
            Cell::Json(interval.paths.iter().map(path).collect::<Value>(), shown)
        };
        let columns = Columns::<&Stretch>::new()
            .ms("start_ms", "at ms", |interval| self.after_start(interval.window.from))
            .ms("dur_ms", "ms", |interval| interval.dur / 1000.0)
            .words("thread", "thread", |interval| Cell::text(self.thread(interval.thread)))
            .words("key", "key", |interval| interval.key.as_ref().map_or(Cell::None, Cell::text))
            .words("paths", "most self time", paths);
        let columns = match id {
            "tasks" => columns.cause("started_by", "started by", |task| task.started_by.as_ref()),
            _ => columns,
        };
        let columns = columns.words("pid", "", |interval| Cell::id(&thread(interval).pid)).words(
            "tid",
            "",
            |word| Cell::id(&thread(word).tid),
        );
        Section::new(id, columns, rows, |interval| match &interval.key {
            // the event is not in any tree
            _ if interval.paths.is_empty() => {
                self.next.events_of(thread(interval), interval.window)
            }
            Some(key) => self.next.of_event(&["tree"], key),
            None => self.next.of_stretch(&["tree"], thread(interval), interval.window),
        })
    }

    fn slices(&self) -> Option<Section> {
        let spread = self.report.spread.as_ref().filter(|all| !all.is_empty())?;
        let columns = Columns::<&Spread>::new()
            .count("count", "count", |spread| spread.count)
            .ms("p50_ms", "p50 ms", |spread| spread.p50 / 1000.0)
            .ms("p99_ms", "p99 ms", |spread| spread.p99 / 1000.0)
            .ms("max_ms", "max ms", |spread| spread.most / 1000.0)
            .words("name", "name", |spread| Cell::text(&spread.name));
        let next = |spread: &&Spread| {
            let least = format!("{}ns", (spread.p99 * 1000.0).floor());
            let mut rows = self.report.hot.iter().flat_map(|part| &part.table.rows);
            let found = rows.find(|row| row.id == spread.name);
            let called = found.as_ref().map_or(&*spread.name, |row| row.name());
            let words =
                ["tree", "--log", "--per", "all", "--text", called, "--min", &*least, "-n", "20"];
            self.next.of_all(&words)
        };
        let head = "durations of single events, for the names with the most self time";
        let names = self.report.hot.as_ref().map_or(0, |part| part.table.rows.len() as u64);
        Some(Section::new("slices", columns, spread, next).of(names).with(head, Vec::new()))
    }

    fn counters(&self) -> Option<Section> {
        let all = &self.report.counters;
        if all.is_empty() {
            return None;
        }
        let columns = Columns::<&Counted>::new()
            .count("count", "count", |counted| counted.count)
            .figure("max", "max", |counted| Cell::Number(counted.most))
            .words("name", "counter", |counted| Cell::text(&counted.name))
            .words("key", "key", |counted| Cell::text(&counted.key))
            .words("pid", "pid", |word| Cell::id(&word.pid));
        let mut rows: Vec<&Counted> = all.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows.truncate(self.rows);
        let next = |counted: &&Counted| {
            let name = format!("^{}$", escaped(&counted.name));
            self.next.of_inputs(&["filter", "--ph", "C", "--name", &name])
        };
        let values = all.len() as u64;
        Some(Section::new("counters", columns, rows, next).of(values).with(
            format!("{}, by number of samples", plural(values, "value")),
            vec![("values", Cell::Count(values))],
        ))
    }
}

/// Escapes a text as a regular expression.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Joins the names of a path. Leaves out names in the middle of a long path.
fn path_text(path: &TreePath) -> String {
    const SHOWN: usize = 3;
    let names: Vec<&str> = path.rows.iter().map(TreeRow::name).collect();
    match names.len() {
        0..=4 => names.join(" > "),
        many => format!("{} > … > {}", names[0], names[many - SHOWN..].join(" > ")),
    }
}

fn path_json(path: &TreePath) -> Value {
    let rows = path.rows.iter();
    let rows = rows.map(|row| json!({"name": row.name(), "id": row.id, "total_ms": row.total}));
    let left_out = (path.left_out > 0).then(|| json!({"left_out": path.left_out}));
    rows.chain(left_out).collect()
}
