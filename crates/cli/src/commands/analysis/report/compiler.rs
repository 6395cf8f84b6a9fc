//! The sections of builds by clang.

use super::super::data::percent_of;
use super::section::{Cell, Column, Section, figure, words};
use super::sections::ReportInputs;
use serde_json::{Value, json};
use tracemill_analysis::{Chain, Compiled, Costly, Header, Stretch};
use tracemill_pipeline::plural;

const RUNS: &[Column] = &[
    figure("dur_ms", "ms"),
    figure("dur_pct", "%"),
    words("file", "file"),
    figure("start_ms", ""),
    words("pid", ""),
    words("tid", ""),
];

const COSTLY: &[Column] = &[
    figure("total_ms", "ms"),
    figure("count", "count"),
    figure("avg_ms", "avg ms"),
    figure("longest_ms", "longest"),
    words("name", "name"),
    words("file", "longest in"),
];

const HEADERS: &[Column] = &[
    figure("total_ms", "ms"),
    figure("count", "count"),
    figure("avg_ms", "avg ms"),
    figure("longest_ms", "longest"),
    words("name", "header"),
    words("chains", "longest by"),
    words("file", ""),
];

impl ReportInputs<'_> {
    /// What is parsed and generated, templates, functions and headers.
    pub(super) fn compiler(&self) -> Vec<Section> {
        let Some(own) = &self.report.compiled else { return Vec::new() };
        let parsed = (own.frontend, "frontend", &*own.parsed);
        let generated = (own.backend, "backend", &*own.generated);
        let sets = "names that differ in arguments of templates only are one";
        let templates = format!("{}, with what they need", plural(own.all_templates, "template"));
        let functions = format!("{} by file, optimized", plural(own.all_functions, "function"));
        let all = [
            self.runs("parse", parsed, own),
            self.runs("codegen", generated, own),
            self.costly("templates", &templates, Some(own.all_templates), &own.templates),
            self.costly("template-sets", sets, None, &own.template_sets),
            self.costly("functions", &functions, Some(own.all_functions), &own.functions),
            self.costly("function-sets", sets, None, &own.function_sets),
            self.headers(own),
        ];
        all.into_iter().filter(|own| !own.rows.is_empty()).collect()
    }

    fn runs(
        &self,
        id: &'static str,
        (all, what, runs): (f64, &str, &[(Stretch, String)]),
        own: &Compiled,
    ) -> Section {
        let mut section = Section::new(id, RUNS);
        let of = plural(own.runs, "run");
        section.head = format!("{what} {all:.2} ms in {of} of the compiler; the longest");
        section.figures = vec![("runs", Cell::Count(own.runs)), ("total_ms", Cell::Ms(all))];
        for (stretch, file) in runs {
            let thread = &self.trace.threads[stretch.thread];
            let cells = vec![
                Cell::Ms(stretch.dur / 1000.0),
                Cell::Percent(percent_of(stretch.dur / 1000.0, all)),
                Cell::text(file),
                Cell::Ms(stretch.window.from - self.trace.bounds.0 / 1000.0),
                Cell::text(thread.pid_text()),
                Cell::text(thread.tid_text()),
            ];
            section.push(cells, self.within(stretch));
        }
        section
    }

    fn costly(&self, id: &'static str, head: &str, all: Option<u64>, rows: &[Costly]) -> Section {
        let mut section = Section::new(id, COSTLY);
        section.head = head.to_owned();
        section.figures = all.map(|all| ("count", Cell::Count(all))).into_iter().collect();
        for own in rows {
            let mut cells = sums(own);
            cells.extend([Cell::text(&own.name), Cell::text(&own.file)]);
            section.push(cells, self.within(&own.longest));
        }
        section
    }

    fn headers(&self, own: &Compiled) -> Section {
        let mut section = Section::new("headers", HEADERS);
        section.head = format!(
            "{}, with what they include; of those that a source includes itself",
            plural(own.all_headers, "header")
        );
        section.figures = vec![("count", Cell::Count(own.all_headers))];
        for Header { costly, chains } in &own.headers {
            let chain = |own: &Chain| json!({"files": own.files, "total_ms": own.total});
            let all: Value = chains.iter().map(chain).collect();
            let shown = chains.first().map_or_else(String::new, |own| own.files.join(" > "));
            let mut cells = sums(costly);
            let name = Cell::text(&costly.name);
            cells.extend([name, Cell::Json(all, shown), Cell::text(&costly.file)]);
            section.push(cells, self.within(&costly.longest));
        }
        section
    }

    /// What went on in a stretch of time.
    fn within(&self, stretch: &Stretch) -> String {
        self.next.of_stretch(&["tree"], &self.trace.threads[stretch.thread], stretch.window)
    }
}

fn sums(own: &Costly) -> Vec<Cell> {
    vec![
        Cell::Ms(own.total),
        Cell::Count(own.count),
        Cell::Ms(own.total / own.count.max(1) as f64),
        Cell::Ms(own.longest.dur / 1000.0),
    ]
}
