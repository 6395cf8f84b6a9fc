//! Sections about clang builds.

use super::super::data::percent_of;
use super::super::unit::time_text;
use super::section::{Cell, Columns, Section};
use super::sections::ReportInputs;
use serde_json::{Value, json};
use tracemill_report::Chain;
use tracemill_report::Compiled;
use tracemill_report::CompiledSource;
use tracemill_report::Costly;
use tracemill_report::Header;
use tracemill_report::Stretch;
use tracemill_trace::run::words::plural;

impl ReportInputs<'_> {
    /// Returns the sections: source files, templates, functions and headers.
    pub(super) fn compiler(&self) -> Vec<Section> {
        let Some(compiled) = &self.report.compiled else { return Vec::new() };
        let sets = "names that differ in arguments of templates only are one";
        let templates =
            format!("{}, with what they need", plural(compiled.all_templates, "template"));
        let functions =
            format!("{} by file, optimized", plural(compiled.all_functions, "function"));
        let count = |all| vec![("count", Cell::Count(all))];
        let all = [
            self.sources(compiled),
            self.costly("templates", &compiled.templates, compiled.all_templates)
                .with(templates, count(compiled.all_templates)),
            self.costly("template-sets", &compiled.template_sets, compiled.all_template_sets)
                .with(sets, Vec::new()),
            self.costly("functions", &compiled.functions, compiled.all_functions)
                .with(functions, count(compiled.all_functions)),
            self.costly("function-sets", &compiled.function_sets, compiled.all_function_sets)
                .with(sets, Vec::new()),
            self.headers(compiled),
        ];
        all.into_iter().filter(|section| !section.rows.is_empty()).collect()
    }

    fn sources(&self, compiled: &Compiled) -> Section {
        let (parse, codegen) = (compiled.frontend, compiled.backend);
        let thread = |source: &&CompiledSource| &self.trace.threads[source.longest.thread];
        let total =
            |compiled_source: &&CompiledSource| compiled_source.parse + compiled_source.codegen;
        let columns = Columns::<&CompiledSource>::new()
            .ms("total_ms", "ms", total)
            .percent("total_pct", "%", move |compiled| percent_of(total(compiled), parse + codegen))
            .ms("parse_ms", "parse ms", |compiled| compiled.parse)
            .ms("codegen_ms", "codegen ms", |compiled| compiled.codegen)
            .words("file", "file", |compiled| Cell::text(&compiled.file))
            .ms("start_ms", "", |compiled| self.after_start(compiled.longest.window.from))
            .words("pid", "", |compiled| Cell::id(&thread(compiled).pid))
            .words("tid", "", |word| Cell::id(&thread(word).tid));
        let runs = plural(compiled.runs, "run");
        Section::new("sources", columns, &compiled.sources, |compiled| {
            self.within(&compiled.longest)
        })
        .of(compiled.all_sources)
        .with(
            format!(
                "frontend {}, backend {} in {runs} of the compiler",
                time_text(parse),
                time_text(codegen)
            ),
            vec![
                ("runs", Cell::Count(compiled.runs)),
                ("parse_ms", Cell::Ms(parse)),
                ("codegen_ms", Cell::Ms(codegen)),
            ],
        )
    }

    fn costly(&self, id: &'static str, rows: &[Costly], all: u64) -> Section {
        let columns = sums(|costly: &&Costly| *costly)
            .words("name", "name", |sum| Cell::text(&sum.name))
            .words("file", "longest in", |word| Cell::text(&word.file));
        Section::new(id, columns, rows, |costly| self.within(&costly.longest)).of(all)
    }

    fn headers(&self, compiled: &Compiled) -> Section {
        let chain = |compiled: &Chain| json!({"files": compiled.files, "total_ms": compiled.total});
        let chains = |compiled: &&Header| {
            let shown = compiled
                .chains
                .first()
                .map_or_else(String::new, |compiled| compiled.files.join(" > "));
            Cell::Json(compiled.chains.iter().map(chain).collect::<Value>(), shown)
        };
        let columns = sums(|compiled: &&Header| &compiled.costly)
            .words("name", "header", |sum| Cell::text(&sum.costly.name))
            .words("chains", "longest by", chains)
            .words("file", "", |word| Cell::text(&word.costly.file));
        let next = |header: &&Header| self.within(&header.costly.longest);
        let all = plural(compiled.all_headers, "header");
        Section::new("headers", columns, &compiled.headers, next).of(compiled.all_headers).with(
            format!("{all}, with what they include; of those that a source includes itself"),
            vec![("count", Cell::Count(compiled.all_headers))],
        )
    }

    /// Returns the command that shows the activity during an event.
    fn within(&self, interval: &Stretch) -> String {
        self.next.of_stretch(&["tree"], &self.trace.threads[interval.thread], interval.window)
    }
}

/// Returns the columns of tables with counts and total times.
fn sums<'c, T>(of: impl Fn(&T) -> &Costly + Copy + 'c) -> Columns<'c, T> {
    Columns::new()
        .ms("total_ms", "ms", move |row| of(row).total)
        .count("count", "count", move |row| of(row).count)
        .ms("avg_ms", "avg ms", move |row| of(row).total / of(row).count.max(1) as f64)
        .ms("longest_ms", "longest", move |row| of(row).longest.dur / 1000.0)
}
