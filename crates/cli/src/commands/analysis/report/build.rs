//! The sections of builds by Bazel.

use super::super::data::percent_of;
use super::section::{Cell, Column, Section, figure, words};
use super::sections::ReportInputs;
use tracemill_analysis::{Build, Stretch};
use tracemill_pipeline::plural;

const PHASES: &[Column] = &[
    figure("start_ms", "at ms"),
    figure("dur_ms", "ms"),
    figure("dur_pct", "%"),
    words("name", "phase"),
];

const EVENTS: &[Column] = &[
    figure("start_ms", "at ms"),
    figure("dur_ms", "ms"),
    figure("dur_pct", "%"),
    words("name", "action"),
    words("thread", "thread"),
    words("key", "key"),
];

impl ReportInputs<'_> {
    /// Phases, the critical path and the slowest actions.
    pub(super) fn build(&self) -> Vec<Section> {
        let Some(build) = &self.report.build else { return Vec::new() };
        let all = [self.phases(build), self.critical(build), self.actions(build)];
        all.into_iter().filter(|own| !own.rows.is_empty()).collect()
    }

    fn after_start(&self, ms: f64) -> Cell {
        Cell::Ms(ms - self.trace.bounds.0 / 1000.0)
    }

    fn phases(&self, build: &Build) -> Section {
        let mut section = Section::new("phases", PHASES);
        let length = |own: &tracemill_analysis::Window| own.to - own.from;
        let all: f64 = build.phases.iter().map(|own| length(&own.1)).sum();
        section.head = format!("{all:.2} ms in {}", plural(build.phases.len() as u64, "phase"));
        section.figures = vec![("total_ms", Cell::Ms(all))];
        // in the order of time, whatever -n says: there are few, and each means something
        for (name, window) in &build.phases {
            let cells = vec![
                self.after_start(window.from),
                Cell::Ms(length(window)),
                Cell::Percent(percent_of(length(window), all)),
                Cell::text(name),
            ];
            section.push(cells, self.next.of_window(&["report"], *window));
        }
        section
    }

    fn critical(&self, build: &Build) -> Section {
        let mut section = Section::new("critical-path", EVENTS);
        let mut all: Vec<&Stretch> = build.critical.iter().collect();
        section.head = format!(
            "{:.2} ms in {}; the longest",
            build.critical_ms,
            plural(all.len() as u64, "component")
        );
        section.figures = vec![
            ("components", Cell::Count(all.len() as u64)),
            ("total_ms", Cell::Ms(build.critical_ms)),
        ];
        all.sort_by(|a, b| b.dur.total_cmp(&a.dur));
        let shown = all.into_iter().take(self.rows);
        shown.for_each(|own| self.push_event(&mut section, own, build.critical_ms));
        section
    }

    fn actions(&self, build: &Build) -> Section {
        let mut section = Section::new("actions", EVENTS);
        section.head = format!(
            "{}, {:.2} ms together; the slowest",
            plural(build.actions, "action"),
            build.actions_ms
        );
        section.figures =
            vec![("actions", Cell::Count(build.actions)), ("total_ms", Cell::Ms(build.actions_ms))];
        build.slowest.iter().for_each(|own| self.push_event(&mut section, own, build.actions_ms));
        section
    }

    fn push_event(&self, section: &mut Section, own: &Stretch, all: f64) {
        let key = own.key.as_deref().unwrap_or_default();
        let cells = vec![
            self.after_start(own.window.from),
            Cell::Ms(own.dur / 1000.0),
            Cell::Percent(percent_of(own.dur / 1000.0, all)),
            Cell::text(&own.name),
            Cell::text(self.thread(own.thread)),
            Cell::text(key),
        ];
        section.push(cells, self.next.of_event(&["tree"], key));
    }
}
