//! The sections that any trace may have.

use super::super::data::percent_of;
use super::super::text::location;
use super::figures::busy;
use super::next::Next;
use super::section::{Cell, Column, Section, figure, words};
use serde_json::{Value, json};
use tracemill_analysis::{Blocks, HotPath, Report, Stretch, Trace, TreeRow};
use tracemill_pipeline::{grouped, plural};

/// What sections are made of.
pub(super) struct ReportInputs<'a> {
    pub(super) trace: &'a Trace,
    pub(super) report: &'a Report,
    pub(super) next: &'a Next,
    pub(super) rows: usize,
}

const HOT: &[Column] = &[
    figure("self_ms", "self ms"),
    figure("self_pct", "%"),
    figure("total_ms", "total ms"),
    figure("count", "count"),
    words("name", "activity"),
    words("location", "location"),
    words("id", ""),
    words("category", ""),
    words("url", ""),
    figure("line", ""),
    figure("column", ""),
];

const PATH: &[Column] = &[
    figure("total_ms", "ms"),
    words("thread", "thread"),
    words("path", "from the outermost on"),
    words("pid", ""),
    words("tid", ""),
];

const THREADS: &[Column] = &[
    figure("busy_ms", "busy ms"),
    figure("busy_pct", "%"),
    figure("events", "events"),
    figure("samples", "samples"),
    figure("gap_ms", "longest gap ms").spare(),
    words("thread", "thread"),
    words("categories", "self ms by category"),
    words("pid", ""),
    words("tid", ""),
    words("name", ""),
    words("input", ""),
];

const STRETCHES: &[Column] = &[
    figure("start_ms", "at ms"),
    figure("dur_ms", "ms"),
    words("thread", "thread"),
    words("key", "key"),
    words("paths", "most self time"),
    words("pid", ""),
    words("tid", ""),
];

const SLICES: &[Column] = &[
    figure("count", "count"),
    figure("p50_ms", "p50 ms"),
    figure("p99_ms", "p99 ms"),
    figure("max_ms", "max ms"),
    words("name", "name"),
];

const COUNTERS: &[Column] = &[
    figure("count", "count"),
    figure("max", "max"),
    words("name", "counter"),
    words("key", "key"),
    words("pid", "pid"),
];

impl ReportInputs<'_> {
    /// All that there are.
    pub(super) fn all(&self) -> Vec<Section> {
        let tasks = || {
            self.report.tasks.as_ref().map(|own| self.tasks(own.count, own.blocking, &own.longest))
        };
        let blocks = || self.report.blocks.as_ref().map(|own| self.blocks(own));
        let of_producer = self.web().into_iter().chain(self.build()).chain(self.compiler());
        let mut all: Vec<Section> = of_producer.chain(self.devices()).collect();
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
            self.counters(),
        ];
        all.extend(others.into_iter().flatten());
        all
    }

    fn hot(&self) -> Option<Section> {
        let part = self.report.hot.as_ref()?;
        let busy = busy(self.report);
        let mut section = Section::new("hot", HOT);
        let gc = (self.report.gc > 0.0)
            .then(|| format!("; garbage collection {:.2} ms", self.report.gc));
        let idle = (self.report.idle > 0.0)
            .then(|| format!("; idle {:.2} ms, not counted", self.report.idle));
        let rows = &part.table.rows;
        section.head = format!(
            "{busy:.2} ms busy, {}{}{}",
            plural(rows.len() as u64, "row"),
            gc.unwrap_or_default(),
            idle.unwrap_or_default()
        );
        section.figures = vec![
            ("busy_ms", Cell::Ms(busy)),
            ("idle_ms", Cell::Ms(self.report.idle)),
            ("gc_ms", Cell::Ms(self.report.gc)),
            ("rows", Cell::Count(rows.len() as u64)),
        ];
        for row in rows.iter().take(self.rows) {
            let place = &row.location;
            let url = if place.url.is_empty() { Cell::None } else { Cell::text(&place.url) };
            let next = self.next.of_all(&["tree", "--per", "all", "--peek", row.name()]);
            let cells = vec![
                Cell::Ms(row.own),
                Cell::Percent(percent_of(row.own, busy)),
                Cell::Ms(row.total),
                Cell::Count(row.count),
                Cell::text(row.name()),
                Cell::text(location(&row)),
                Cell::text(&row.id),
                Cell::text(row.category),
                url,
                Cell::of(place.line),
                Cell::of(place.column),
            ];
            section.push(cells, next);
        }
        Some(section)
    }

    fn path(&self) -> Option<Section> {
        let (at, path) = self.report.heaviest.as_ref()?;
        let thread = &self.trace.threads[*at];
        let mut section = Section::new("path", PATH);
        section.head = "the stack on which most time is spent, of the busiest thread".to_owned();
        let cells = vec![
            Cell::Ms(path.last()?.total),
            Cell::text(self.thread(*at)),
            Cell::Json(path_json(path), path_text(path)),
            Cell::text(thread.pid_text()),
            Cell::text(thread.tid_text()),
        ];
        section.push(cells, self.next.of_thread(&["tree", "--heaviest"], thread));
        Some(section)
    }

    fn threads(&self) -> Section {
        let mut section = Section::new("threads", THREADS);
        let all = &self.report.threads;
        let busy = all.iter().filter(|own| own.busy > 0.0).count() as u64;
        section.head = format!("{} of {} busy", grouped(busy), plural(all.len() as u64, "thread"));
        section.figures =
            vec![("threads", Cell::Count(all.len() as u64)), ("busy_threads", Cell::Count(busy))];
        let length = self.report.window.to - self.report.window.from;
        for own in all.iter().filter(|own| own.busy > 0.0).take(self.rows) {
            let thread = &self.trace.threads[own.thread];
            let optional = |text: &Option<String>| {
                text.as_ref().filter(|text| !text.is_empty()).map_or(Cell::None, Cell::text)
            };
            let categories: Vec<String> =
                own.categories.iter().map(|(name, ms)| format!("{name} {ms:.1}")).collect();
            let category = |own: &(&str, f64)| json!({"category": own.0, "self_ms": own.1});
            let by_name: Value = own.categories.iter().map(category).collect();
            let cells = vec![
                Cell::Ms(own.busy),
                Cell::Percent(percent_of(own.busy, length)),
                Cell::Count(own.events),
                Cell::Count(thread.samples()),
                own.gap.map_or(Cell::None, |gap| Cell::Ms(gap.to - gap.from)),
                Cell::text(self.thread(own.thread)),
                Cell::Json(by_name, categories.join(", ")),
                Cell::text(thread.pid_text()),
                Cell::text(thread.tid_text()),
                optional(&thread.name),
                optional(&thread.input),
            ];
            section.push(cells, self.next.of_thread(&["tree"], thread));
        }
        section
    }

    /// What a thread is called, in few words.
    pub(super) fn thread(&self, at: usize) -> String {
        let thread = &self.trace.threads[at];
        let ids = format!("{}/{}", thread.pid_text(), thread.tid_text());
        match thread.name.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => format!("{ids} {name}"),
            None => ids,
        }
    }

    fn tasks(&self, count: u64, blocking: f64, longest: &[Stretch]) -> Section {
        let mut section = Section::new("tasks", STRETCHES);
        section.head = match count {
            0 => "none longer than 50 ms".to_owned(),
            _ => format!("{} longer than 50 ms, {blocking:.2} ms beyond these", grouped(count)),
        };
        section.figures = vec![("count", Cell::Count(count)), ("blocking_ms", Cell::Ms(blocking))];
        longest.iter().for_each(|own| self.push_stretch(&mut section, own));
        section
    }

    fn blocks(&self, blocks: &Blocks) -> Section {
        let mut section = Section::new("blocks", STRETCHES);
        let Blocks { count, total, longest, without_idle } = blocks;
        section.head = match count {
            0 => "never 50 ms without an (idle) sample".to_owned(),
            _ => format!(
                "{} of 50 ms and more without an (idle) sample, {total:.2} ms",
                grouped(*count)
            ),
        };
        if *without_idle > 0 {
            section.why = Some(format!(
                "{} no sample is (idle), so whether its thread waited is not in it",
                match without_idle {
                    1 => "of 1 CPU profile".to_owned(),
                    many => format!("of {} CPU profiles", grouped(*many)),
                }
            ));
        }
        section.figures = vec![
            ("count", Cell::Count(*count)),
            ("total_ms", Cell::Ms(*total)),
            ("without_idle", Cell::Count(*without_idle)),
        ];
        longest.iter().for_each(|own| self.push_stretch(&mut section, own));
        section
    }

    fn push_stretch(&self, section: &mut Section, own: &Stretch) {
        let thread = &self.trace.threads[own.thread];
        let first = own.paths.first();
        let shown = first.map_or_else(String::new, |path| {
            format!("{} ({:.2} ms)", path_text(&path.rows), path.own())
        });
        let path = |path: &HotPath| json!({"self_ms": path.own(), "path": path_json(&path.rows)});
        let paths: Vec<Value> = own.paths.iter().map(path).collect();
        let cells = vec![
            Cell::Ms(own.window.from - self.trace.bounds.0 / 1000.0),
            Cell::Ms(own.dur / 1000.0),
            Cell::text(self.thread(own.thread)),
            own.key.as_ref().map_or(Cell::None, Cell::text),
            Cell::Json(paths.into(), shown),
            Cell::text(thread.pid_text()),
            Cell::text(thread.tid_text()),
        ];
        let next = match &own.key {
            // no tree has anything of it
            _ if own.paths.is_empty() => self.next.events_of(thread, own.window),
            Some(key) => self.next.of_event(&["tree"], key),
            None => self.next.of_stretch(&["tree"], thread, own.window),
        };
        section.push(cells, next);
    }

    fn slices(&self) -> Option<Section> {
        let spread = self.report.spread.as_ref().filter(|all| !all.is_empty())?;
        let mut section = Section::new("slices", SLICES);
        section.head = "how long single events last, of the names with most self time".to_owned();
        for own in spread {
            let least = format!("{}ns", (own.p99 * 1000.0).floor());
            // trees call it by its label
            let mut rows = self.report.hot.iter().flat_map(|part| &part.table.rows);
            let found = rows.find(|row| row.id == own.name);
            let called = found.as_ref().map_or(&*own.name, |row| row.name());
            let words =
                ["tree", "--log", "--per", "all", "--text", called, "--min", &*least, "-n", "20"];
            let cells = vec![
                Cell::Count(own.count),
                Cell::Ms(own.p50 / 1000.0),
                Cell::Ms(own.p99 / 1000.0),
                Cell::Ms(own.most / 1000.0),
                Cell::text(&own.name),
            ];
            section.push(cells, self.next.of_all(&words));
        }
        Some(section)
    }

    fn counters(&self) -> Option<Section> {
        let all = &self.report.counters;
        if all.is_empty() {
            return None;
        }
        let mut section = Section::new("counters", COUNTERS);
        section.head =
            format!("{}, by how often they were told", plural(all.len() as u64, "value"));
        section.figures = vec![("values", Cell::Count(all.len() as u64))];
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(all[at].count));
        for own in order.into_iter().take(self.rows).map(|at| &all[at]) {
            let name = format!("^{}$", escaped(&own.name));
            let cells = vec![
                Cell::Count(own.count),
                Cell::Number(own.most),
                Cell::text(&own.name),
                Cell::text(&own.key),
                Cell::text(&own.pid),
            ];
            section.push(cells, self.next.of_inputs(&["filter", "--ph", "C", "--name", &name]));
        }
        Some(section)
    }
}

/// A text as a regular expression that finds it.
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

/// Names from the outermost on; of many the first and the last ones.
fn path_text(path: &[TreeRow]) -> String {
    const SHOWN: usize = 3;
    let names: Vec<&str> = path.iter().map(TreeRow::name).collect();
    match names.len() {
        0..=4 => names.join(" > "),
        many => format!("{} > … > {}", names[0], names[many - SHOWN..].join(" > ")),
    }
}

fn path_json(path: &[TreeRow]) -> Value {
    path.iter()
        .map(|row| json!({"name": row.name(), "id": row.id, "total_ms": row.total}))
        .collect()
}
