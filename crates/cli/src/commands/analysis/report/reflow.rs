//! The section of layouts that scripts force.

use super::super::text::place_of;
use super::section::{Cell, Column, Section, figure, words};
use super::sections::ReportInputs;
use serde_json::Value;
use tracemill_analysis::Reflow;
use tracemill_pipeline::{grouped, plural};

const REFLOWS: &[Column] = &[
    figure("total_ms", "ms"),
    figure("count", "count"),
    figure("longest_ms", "longest"),
    words("name", "forced by"),
    words("location", "location"),
    words("key", "event"),
    words("url", ""),
    figure("line", ""),
    figure("column", ""),
];

impl ReportInputs<'_> {
    pub(super) fn reflow(&self) -> Option<Section> {
        let own = self.report.reflows.as_ref()?;
        let mut section = Section::new("reflow", REFLOWS);
        section.head = match own.count {
            0 => "scripts force layouts of 30 ms in no task".to_owned(),
            count => format!(
                "{} layouts and styles forced by scripts, {:.2} ms in {} of 30 ms of them and more",
                grouped(count),
                own.total,
                plural(own.tasks, "task")
            ),
        };
        section.figures = vec![
            ("tasks", Cell::Count(own.tasks)),
            ("count", Cell::Count(own.count)),
            ("total_ms", Cell::Ms(own.total)),
        ];
        own.functions.iter().for_each(|own| self.push_reflow(&mut section, own));
        Some(section)
    }

    fn push_reflow(&self, section: &mut Section, own: &Reflow) {
        let url = Some(&own.location.url).filter(|url| !url.is_empty());
        let name = match own.function.as_deref() {
            Some("") => Cell::text("(anonymous)"),
            Some(name) => Cell::text(name),
            None => Cell::Json(Value::Null, "[unattributed]".to_owned()),
        };
        let key = own.longest.key.as_deref();
        let cells = vec![
            Cell::Ms(own.total),
            Cell::Count(own.count),
            Cell::Ms(own.longest.dur / 1000.0),
            name,
            Cell::text(place_of(&own.location)),
            key.map_or(Cell::None, Cell::text),
            url.map_or(Cell::None, Cell::text),
            Cell::of(own.location.line),
            Cell::of(own.location.column),
        ];
        let thread = &self.trace.threads[own.longest.thread];
        let next = match key {
            Some(key) => self.next.of_event(&["tree"], key),
            None => self.next.of_stretch(&["tree"], thread, own.longest.window),
        };
        section.push(cells, next);
    }
}
