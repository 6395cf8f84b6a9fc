//! The first lines of a report: the busiest threads, and a verdict with the command that shows why.

use super::super::data::percent_of;
use super::super::unit::time_text;
use super::figures::{busy, gate_rows, value};
use super::section::Section;
use super::sections::ReportInputs;
use crate::args::Figure;
use crate::report::id;
use serde_json::{Value, json};
use tracemill_report::{Device, ThreadSums};
use tracemill_trace::run::words::plural;

/// What matters most in a report.
pub(super) struct Verdict {
    /// Id of the section with the details.
    pub(super) section: &'static str,
    pub(super) text: String,
    /// Command that shows the reason.
    pub(super) next: String,
}

impl Verdict {
    pub(super) fn json(&self) -> Value {
        json!({"section": self.section, "text": self.text, "next": self.next})
    }
}

/// Number of busiest threads in the first lines.
const LISTED: usize = 3;

/// Metrics of a page, and the largest values that web.dev calls good.
const GOOD: [(Figure, &str, f64); 3] =
    [(Figure::Lcp, "LCP", 2500.0), (Figure::Inp, "INP", 200.0), (Figure::Cls, "CLS", 0.1)];

impl ReportInputs<'_> {
    fn busy_threads(&self) -> impl Iterator<Item = &ThreadSums> {
        self.report.threads.iter().filter(|sums| sums.busy > 0.0)
    }

    /// Returns a line about the busiest threads: times, also in percent of the time of each thread.
    pub(super) fn busiest_text(&self) -> Option<String> {
        let text = |sums: &ThreadSums| {
            format!(
                "{} {}, {:.0} % of its {}",
                self.thread(sums.thread),
                time_text(sums.busy),
                percent_of(sums.busy, sums.time),
                time_text(sums.time)
            )
        };
        let listed: Vec<String> = self.busy_threads().take(LISTED).map(text).collect();
        let of = match self.report.threads.len() {
            count if count > LISTED => format!(" (of {})", plural(count as u64, "thread")),
            _ => String::new(),
        };
        (!listed.is_empty()).then(|| listed.join(" · ") + &of)
    }

    pub(super) fn busiest_json(&self) -> Value {
        let of = |sums: &ThreadSums| {
            let thread = &self.trace.threads[sums.thread];
            json!({
                "thread": self.thread(sums.thread),
                "pid": id(&String::from_utf8_lossy(&thread.pid)),
                "tid": id(&String::from_utf8_lossy(&thread.tid)),
                "busy_ms": sums.busy,
                "time_ms": sums.time,
                "own_pct": percent_of(sums.busy, sums.time),
            })
        };
        self.busy_threads().take(LISTED).map(of).collect()
    }

    /// Returns the verdict: the first of these that holds. A service is slow, a rank is the
    /// straggler, a metric of a page is not good, long tasks, blocks of the event loop, idle
    /// devices, exposed communication, the hottest function.
    pub(super) fn verdict(&self, sections: &[Section]) -> Option<Verdict> {
        let report = self.report;
        let of = |section: &'static str, row: usize, text: String| {
            let found = sections.iter().find(|known| known.id == section)?;
            let next = found.next.get(row).or(found.next.first())?.clone();
            Some(Verdict { section, text, next })
        };
        let slow = report.services.as_ref().and_then(|services| self.slow_text(services));
        let straggler = report.ranks.as_ref().and_then(|ranks| {
            let at = ranks.straggler?;
            of("ranks", at, self.straggler_text(ranks))
        });
        let head = |id: &str| {
            sections.iter().find(|section| section.id == id).map_or("", |section| &section.head)
        };
        slow.and_then(|text| of("services", 0, text))
            .or(straggler)
            .or_else(|| of("web", 0, self.poor_metric()?))
            .or_else(|| {
                let is_some = report.tasks.as_ref().is_some_and(|tasks| tasks.count > 0);
                is_some.then(|| of("tasks", 0, head("tasks").to_owned())).flatten()
            })
            .or_else(|| {
                let is_some = report.blocks.as_ref().is_some_and(|blocks| blocks.count > 0);
                is_some.then(|| of("blocks", 0, head("blocks").to_owned())).flatten()
            })
            .or_else(|| {
                let (section, text) = self.waiting_devices()?;
                of(section, 0, text)
            })
            .or_else(|| of("hot", 0, self.hottest_text()?))
    }

    /// Returns the metric that is furthest from good.
    fn poor_metric(&self) -> Option<String> {
        let poor = |(figure, name, good): (Figure, &'static str, f64)| {
            let found = value(self.report, figure).ok().filter(|found| *found > good)?;
            let text = |number: f64| match figure {
                Figure::Cls => format!("{number:.2}"),
                _ => time_text(number),
            };
            let text = format!("{name} is {}; good is up to {}", text(found), text(good));
            Some((found / good, text))
        };
        let all = GOOD.into_iter().filter_map(poor);
        all.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, text)| text)
    }

    /// Returns what devices do instead of computing, for more than a fifth of their time, and the
    /// section about it.
    fn waiting_devices(&self) -> Option<(&'static str, String)> {
        let devices = self.report.devices.as_ref()?;
        let share = |of: fn(&Device) -> f64| {
            percent_of(devices.all.iter().map(of).sum(), devices.kernel_time)
        };
        let idle = share(|device| device.idle);
        let exposed = share(|device| device.exposed_communication);
        match (idle, exposed) {
            (20.0.., _) => {
                Some(("gpu-idle", format!("devices are idle for {idle:.0} % of the time")))
            }
            (_, 20.0..) => Some((
                "gpu",
                format!("devices communicate without computing for {exposed:.0} % of the time"),
            )),
            _ => None,
        }
    }

    fn hottest_text(&self) -> Option<String> {
        let hottest = gate_rows(self.report).next()?;
        let share = percent_of(hottest.self_ms, busy(self.report));
        let time = time_text(hottest.self_ms);
        Some(format!("most time is in {}: {time}, {share:.0} % of busy time", hottest.name))
    }
}
