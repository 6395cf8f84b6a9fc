//! The sections of builds by clang.

use super::super::data::percent_of;
use super::super::unit::time_text;
use super::section::{Cell, Columns, Section};
use super::sections::ReportInputs;
use serde_json::{Value, json};
use tracemill_analysis::{Chain, Compiled, CompiledSource, Costly, Header, Stretch};
use tracemill_trace::run::words::plural;

impl ReportInputs<'_> {
    /// Source files, templates, functions and headers.
    pub(super) fn compiler(&self) -> Vec<Section> {
        let Some(own) = &self.report.compiled else { return Vec::new() };
        let sets = "names that differ in arguments of templates only are one";
        let templates = format!("{}, with what they need", plural(own.all_templates, "template"));
        let functions = format!("{} by file, optimized", plural(own.all_functions, "function"));
        let count = |all| vec![("count", Cell::Count(all))];
        let all = [
            self.sources(own),
            self.costly("templates", &own.templates, own.all_templates)
                .with(templates, count(own.all_templates)),
            self.costly("template-sets", &own.template_sets, own.all_template_sets)
                .with(sets, Vec::new()),
            self.costly("functions", &own.functions, own.all_functions)
                .with(functions, count(own.all_functions)),
            self.costly("function-sets", &own.function_sets, own.all_function_sets)
                .with(sets, Vec::new()),
            self.headers(own),
        ];
        all.into_iter().filter(|own| !own.rows.is_empty()).collect()
    }

    fn sources(&self, own: &Compiled) -> Section {
        let (parse, codegen) = (own.frontend, own.backend);
        let thread = |own: &&CompiledSource| &self.trace.threads[own.longest.thread];
        let total = |own: &&CompiledSource| own.parse + own.codegen;
        let columns = Columns::<&CompiledSource>::new()
            .ms("total_ms", "ms", total)
            .percent("total_pct", "%", move |own| percent_of(total(own), parse + codegen))
            .ms("parse_ms", "parse ms", |own| own.parse)
            .ms("codegen_ms", "codegen ms", |own| own.codegen)
            .words("file", "file", |own| Cell::text(&own.file))
            .ms("start_ms", "", |own| self.after_start(own.longest.window.from))
            .words("pid", "", |own| Cell::id(&thread(own).pid))
            .words("tid", "", |own| Cell::id(&thread(own).tid));
        let runs = plural(own.runs, "run");
        Section::new("sources", columns, &own.sources, |own| self.within(&own.longest))
            .of(own.all_sources)
            .with(
                format!(
                    "frontend {}, backend {} in {runs} of the compiler",
                    time_text(parse),
                    time_text(codegen)
                ),
                vec![
                    ("runs", Cell::Count(own.runs)),
                    ("parse_ms", Cell::Ms(parse)),
                    ("codegen_ms", Cell::Ms(codegen)),
                ],
            )
    }

    fn costly(&self, id: &'static str, rows: &[Costly], all: u64) -> Section {
        let columns = sums(|own: &&Costly| *own)
            .words("name", "name", |own| Cell::text(&own.name))
            .words("file", "longest in", |own| Cell::text(&own.file));
        Section::new(id, columns, rows, |own| self.within(&own.longest)).of(all)
    }

    fn headers(&self, own: &Compiled) -> Section {
        let chain = |own: &Chain| json!({"files": own.files, "total_ms": own.total});
        let chains = |own: &&Header| {
            let shown = own.chains.first().map_or_else(String::new, |own| own.files.join(" > "));
            Cell::Json(own.chains.iter().map(chain).collect::<Value>(), shown)
        };
        let columns = sums(|own: &&Header| &own.costly)
            .words("name", "header", |own| Cell::text(&own.costly.name))
            .words("chains", "longest by", chains)
            .words("file", "", |own| Cell::text(&own.costly.file));
        let next = |own: &&Header| self.within(&own.costly.longest);
        let all = plural(own.all_headers, "header");
        Section::new("headers", columns, &own.headers, next).of(own.all_headers).with(
            format!("{all}, with what they include; of those that a source includes itself"),
            vec![("count", Cell::Count(own.all_headers))],
        )
    }

    /// What went on in a stretch of time.
    fn within(&self, stretch: &Stretch) -> String {
        self.next.of_stretch(&["tree"], &self.trace.threads[stretch.thread], stretch.window)
    }
}

/// The columns of sums of what takes time more than once.
fn sums<'c, T>(of: impl Fn(&T) -> &Costly + Copy + 'c) -> Columns<'c, T> {
    Columns::new()
        .ms("total_ms", "ms", move |own| of(own).total)
        .count("count", "count", move |own| of(own).count)
        .ms("avg_ms", "avg ms", move |own| of(own).total / of(own).count.max(1) as f64)
        .ms("longest_ms", "longest", move |own| of(own).longest.dur / 1000.0)
}
