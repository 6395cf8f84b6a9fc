//! The section about services: folders or processes with CPU profiles.

use super::super::data::percent_of;
use super::super::unit::time_text;
use super::ranks::RANKS;
use super::section::{Cell, Columns, Section};
use super::sections::ReportInputs;
use tracemill_report::{Service, Services};
use tracemill_trace::run::words::plural;

impl ReportInputs<'_> {
    pub(super) fn services(&self) -> Option<Section> {
        let services = self.report.services.as_ref()?;
        let hottest = |service: &(usize, &Service), of: fn(&(String, f64)) -> Cell| {
            service.1.hottest.as_ref().map_or(Cell::None, of)
        };
        let columns = Columns::<(usize, &Service)>::new()
            .words("name", if services.are_folders { "folder" } else { "process" }, |service| {
                Cell::text(&service.1.name)
            })
            .ms("busy_ms", "busy ms", |service| service.1.busy)
            .percent("busy_pct", "%", |service| 100.0 * service.1.share())
            .ms("time_ms", "of ms", |service| service.1.time)
            .count("threads", "threads", |service| service.1.threads)
            .spare()
            .count("blocks", "blocks", |service| service.1.blocks)
            .ms("blocked_ms", "blocked ms", |service| service.1.blocked)
            .ms("longest_block_ms", "longest ms", |service| service.1.longest)
            .percent("gc_pct", "GC %", |service| percent_of(service.1.gc, service.1.busy))
            .spare()
            .words("hottest", "hottest function", |service| {
                hottest(service, |function| Cell::text(&function.0))
            })
            .figure("hottest_ms", "its ms", |service| {
                hottest(service, |function| Cell::Ms(function.1))
            })
            .spare()
            .words("folder", "", |service| Cell::optional(service.1.folder.as_deref()));
        let next = |service: &(usize, &Service)| self.next_of_service(services, service.0);
        let rows = services.all.iter().enumerate().take(self.rows.max(RANKS));
        let count = services.all.len() as u64;
        let slow = services.slow.and(services.all.first());
        let sum = |of: fn(&Service) -> f64| services.all.iter().map(of).sum::<f64>();
        let figures = vec![
            ("services", Cell::Count(count)),
            ("busy_ms", Cell::Ms(sum(|service| service.busy))),
            ("blocked_ms", Cell::Ms(sum(|service| service.blocked))),
            ("slow", slow.map_or(Cell::None, |service| Cell::text(&service.name))),
        ];
        let head = self.services_text(services);
        Some(Section::new("services", columns, rows, next).of(count).with(head, figures))
    }

    /// Returns a command for a service: a comparison of the slow service with a typical service,
    /// else its report.
    fn next_of_service(&self, services: &Services, at: usize) -> String {
        let service = &services.all[at];
        let typical = services.slow.filter(|_| at == 0).map(|slow| &services.all[slow.typical]);
        match (&service.folder, typical.map(|typical| &typical.folder)) {
            (Some(folder), Some(Some(typical))) => self.next.of_some("diff", &[typical, folder]),
            (Some(folder), _) => self.next.of_some("report", &[folder]),
            (None, _) => self.next.of_process(&["report"], &self.trace.threads[service.thread]),
        }
    }

    fn services_text(&self, services: &Services) -> String {
        let noun = if services.are_folders { "folder" } else { "process" };
        let count = plural(services.all.len() as u64, noun);
        let text = self.slow_text(services);
        format!("{count}; {}", text.as_deref().unwrap_or("none is much busier than the others"))
    }

    /// Returns a sentence about the slow service, if there is one.
    pub(super) fn slow_text(&self, services: &Services) -> Option<String> {
        let (slow, first) = (services.slow?, services.all.first()?);
        let blocks = match first.blocks {
            0 => String::new(),
            blocks => {
                format!(", {} of {}", plural(blocks, "event-loop block"), time_text(first.blocked))
            }
        };
        let function = first.hottest.as_ref();
        let function =
            function.map(|(name, ms)| format!(", most of it in {name} ({})", time_text(*ms)));
        Some(format!(
            "{} is slow: busy {:.0} % of its time, the others {:.0} % (median){blocks}{}",
            first.name,
            100.0 * first.share(),
            100.0 * slow.median,
            function.unwrap_or_default()
        ))
    }
}
