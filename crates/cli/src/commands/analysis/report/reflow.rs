//! The section of layouts that scripts force.

use super::super::text::place_of;
use super::super::unit::time_text;
use super::section::{Cell, Columns, Section};
use super::sections::ReportInputs;
use serde_json::Value;
use tracemill_analysis::Reflow;
use tracemill_trace::run::words::{grouped, plural};

impl ReportInputs<'_> {
    pub(super) fn reflow(&self) -> Option<Section> {
        let own = self.report.reflows.as_ref()?;
        let columns = Columns::<&Reflow>::new()
            .ms("total_ms", "ms", |own| own.total)
            .count("count", "count", |own| own.count)
            .ms("longest_ms", "longest", |own| own.longest.dur / 1000.0)
            .words("name", "forced by", |own| match own.function.as_deref() {
                Some("") => Cell::text("(anonymous)"),
                Some(name) => Cell::text(name),
                None => Cell::Json(Value::Null, "[unattributed]".to_owned()),
            })
            .words("location", "location", |own| Cell::text(place_of(&own.location)))
            .words("key", "event", |own| own.longest.key.as_ref().map_or(Cell::None, Cell::text))
            .words("url", "", |own| Cell::optional(Some(&own.location.url)))
            .figure("line", "", |own| Cell::of(own.location.line))
            .figure("column", "", |own| Cell::of(own.location.column));
        let next = |own: &&Reflow| match &own.longest.key {
            Some(key) => self.next.of_event(&["tree"], key),
            None => {
                let thread = &self.trace.threads[own.longest.thread];
                self.next.of_stretch(&["tree"], thread, own.longest.window)
            }
        };
        let head = match own.count {
            0 => "forced layouts: no task has 30 ms or more of them".to_owned(),
            count => format!(
                "forced layouts and styles: {} ({}) in {} with 30 ms or more of them",
                grouped(count),
                time_text(own.total),
                plural(own.tasks, "task")
            ),
        };
        let figures = vec![
            ("tasks", Cell::Count(own.tasks)),
            ("count", Cell::Count(own.count)),
            ("total_ms", Cell::Ms(own.total)),
        ];
        let all = own.all_functions;
        Some(Section::new("reflow", columns, &own.functions, next).of(all).with(head, figures))
    }
}
