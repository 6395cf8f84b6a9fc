//! The section about forced layouts.

use super::super::text::place_of;
use super::super::unit::time_text;
use super::section::{Cell, Columns, Section};
use super::sections::ReportInputs;
use serde_json::Value;
use tracemill_report::Reflow;
use tracemill_trace::run::words::{grouped, plural};

impl ReportInputs<'_> {
    pub(super) fn reflow(&self) -> Option<Section> {
        let reflows = self.report.reflows.as_ref()?;
        let columns = Columns::<&Reflow>::new()
            .ms("total_ms", "ms", |reflows| reflows.total)
            .count("count", "count", |reflows| reflows.count)
            .ms("longest_ms", "longest", |reflows| reflows.longest.dur / 1000.0)
            .words("name", "forced by", |reflows| match reflows.function.as_deref() {
                Some("") => Cell::text("(anonymous)"),
                Some(name) => Cell::text(name),
                None => Cell::Json(Value::Null, "[unattributed]".to_owned()),
            })
            .words("location", "location", |reflows| Cell::text(place_of(&reflows.location)))
            .words("key", "event", |reflows| {
                reflows.longest.key.as_ref().map_or(Cell::None, Cell::text)
            })
            .cause("invalidated_by", "invalidated by", |reflows| {
                reflows.longest.started_by.as_ref()
            })
            .words("url", "", |reflows| Cell::optional(Some(&reflows.location.url)))
            .figure("line", "", |reflows| Cell::of(reflows.location.line))
            .figure("column", "", |word| Cell::of(word.location.column));
        let next = |reflows: &&Reflow| match &reflows.longest.key {
            Some(key) => self.next.of_inputs(&["show", "--event", key]),
            None => {
                let thread = &self.trace.threads[reflows.longest.thread];
                self.next.of_stretch(&["tree"], thread, reflows.longest.window)
            }
        };
        let head = match reflows.count {
            0 => "forced layouts: no task has 30 ms or more of them".to_owned(),
            count => format!(
                "forced layouts and styles: {} ({}) in {} with 30 ms or more of them",
                grouped(count),
                time_text(reflows.total),
                plural(reflows.tasks, "task")
            ),
        };
        let figures = vec![
            ("tasks", Cell::Count(reflows.tasks)),
            ("count", Cell::Count(reflows.count)),
            ("total_ms", Cell::Ms(reflows.total)),
        ];
        let all = reflows.all_functions;
        Some(Section::new("reflow", columns, &reflows.functions, next).of(all).with(head, figures))
    }
}
