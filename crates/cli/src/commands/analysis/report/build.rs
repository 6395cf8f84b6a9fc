//! Sections about Bazel builds.

use super::super::data::percent_of;
use super::super::unit::time_text;
use super::section::{Cell, Columns, Section};
use super::sections::ReportInputs;
use tracemill_analysis::Window;
use tracemill_report::Build;
use tracemill_report::Stretch;
use tracemill_trace::run::words::plural;

impl ReportInputs<'_> {
    /// Returns the sections: phases, the critical path and the slowest actions.
    pub(super) fn build(&self) -> Vec<Section> {
        let Some(build) = &self.report.build else { return Vec::new() };
        let all = [self.phases(build), self.critical(build), self.actions(build)];
        all.into_iter().filter(|section| !section.rows.is_empty()).collect()
    }

    fn phases(&self, build: &Build) -> Section {
        let length = |window: &Window| window.to - window.from;
        let all: f64 = build.phases.iter().map(|phase| length(&phase.1)).sum();
        let columns = Columns::<&(String, Window)>::new()
            .ms("start_ms", "at ms", |phase| self.after_start(phase.1.from))
            .ms("dur_ms", "ms", |phase| length(&phase.1))
            .percent("dur_pct", "%", |phase| percent_of(length(&phase.1), all))
            .words("name", "phase", |phase| Cell::text(&phase.0));
        // lists all phases in time order, whatever -n is, because they are few
        let next = |phase: &&(String, Window)| self.next.of_window(&["report"], phase.1);
        Section::new("phases", columns, &build.phases, next).with(
            format!("{} in {}", time_text(all), plural(build.phases.len() as u64, "phase")),
            vec![("total_ms", Cell::Ms(all))],
        )
    }

    fn critical(&self, build: &Build) -> Section {
        let mut all: Vec<&Stretch> = build.critical.iter().collect();
        let components = all.len() as u64;
        all.sort_by(|a, b| b.dur.total_cmp(&a.dur));
        all.truncate(self.rows);
        let (ms, of) = (build.critical_ms, plural(components, "component"));
        self.events("critical-path", all, ms).of(components).with(
            format!("{} in {of}; the longest", time_text(ms)),
            vec![("components", Cell::Count(components)), ("total_ms", Cell::Ms(ms))],
        )
    }

    fn actions(&self, build: &Build) -> Section {
        let (ms, actions) = (build.actions_ms, plural(build.actions, "action"));
        self.events("actions", build.slowest.iter().collect(), ms).of(build.actions).with(
            format!("{actions}, {} together; the slowest", time_text(ms)),
            vec![("actions", Cell::Count(build.actions)), ("total_ms", Cell::Ms(ms))],
        )
    }

    fn events(&self, id: &'static str, rows: Vec<&Stretch>, all: f64) -> Section {
        let key = |event: &&Stretch| event.key.clone().unwrap_or_default();
        let columns = Columns::<&Stretch>::new()
            .ms("start_ms", "at ms", |event| self.after_start(event.window.from))
            .ms("dur_ms", "ms", |event| event.dur / 1000.0)
            .percent("dur_pct", "%", |event| percent_of(event.dur / 1000.0, all))
            .words("name", "action", |event| Cell::text(&event.name))
            .words("thread", "thread", |event| Cell::text(self.thread(event.thread)))
            .words("key", "key", |word| Cell::text(key(word)));
        Section::new(id, columns, rows, |event| self.next.of_event(&["tree"], &key(event)))
    }
}
