//! Checks that the numbers of META are possible, so that a forged index cannot cause overflows.

use tracemill_inspect::info::{Density, InfoReport, TopList, Usage};
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::store::Store;

/// Maximum rows of each list in META.
pub(super) const TOP: usize = 100;
/// Maximum bytes of an escaped excerpt.
const EXCERPT: usize = 512;

/// Returns whether the numbers of a report are possible for an input.
pub(super) fn is_sound(report: &InfoReport, input: &InputReport) -> bool {
    let most = UsageBounds { events: report.events, bytes: report.event_bytes };
    let counts = [
        report.metadata,
        report.untimed,
        report.nameless,
        report.bare_starts,
        report.uncategorised,
        report.at_zero,
        report.inversions,
        report.unended.slices,
    ];
    let losses = input.losses.iter().all(|(_, tally)| {
        let places = tally.examples.iter().all(|e| {
            let is_within = e.offset.max(e.noticed).max(e.bytes) <= input.bytes;
            // excerpts are printed to terminals unchanged
            is_within && e.excerpt.len() <= EXCERPT && !e.excerpt.contains(char::is_control)
        });
        tally.count <= input.bytes && tally.bytes <= input.bytes && places
    });
    let bytes = input.bytes < Store::MOST
        && input.events == report.events
        && report.events <= report.event_bytes
        && report.event_bytes <= input.bytes
        && report.documents <= input.bytes
        && [input.unclosed, input.odd_separators].into_iter().all(|count| count <= input.bytes);
    let times = match (report.start_ns, report.end_ns) {
        (Some(start), Some(end)) => start <= end,
        (None, None) => true,
        _ => false,
    };
    let window = report.window.is_none_or(|window| {
        let is_within = |count| count <= report.events;
        window.from_ns <= window.to_ns && is_within(window.before) && is_within(window.after)
    });
    let places = [&report.first, &report.last].into_iter().flatten();
    bytes
        && losses
        && times
        && window
        && counts.into_iter().all(|count| count <= report.events)
        && places.into_iter().all(|event| event.offset < input.bytes)
        && report.density.as_ref().is_none_or(|density| most.density(density))
        && report.gaps.len() <= TOP
        && report.gaps.iter().all(|gap| gap.from_ns < gap.to_ns)
        && most.sum(report.phases.iter().map(|phase| phase.1))
        && [&report.names, &report.categories].into_iter().all(|list| most.list(list))
        && most.processes(report)
        && report.profiles.iter().all(|p| p.chunks <= most.events && p.bytes <= most.bytes)
}

/// Upper limits of all counts.
struct UsageBounds {
    events: u64,
    bytes: u64,
}

impl UsageBounds {
    fn usage(&self, usage: &Usage) -> bool {
        usage.events <= self.events && usage.bytes <= self.bytes
    }

    fn list(&self, list: &TopList) -> bool {
        [&list.by_bytes, &list.by_time, &list.by_self].into_iter().all(|rows| {
            let fits = rows.len() <= TOP && rows.len() as u64 <= list.distinct;
            fits && rows.iter().all(|row| self.usage(&row.usage))
        })
    }

    /// Returns whether the sum of the counts is at most the number of events.
    fn sum(&self, mut counts: impl Iterator<Item = u64>) -> bool {
        let sum = counts.try_fold(0_u64, u64::checked_add);
        sum.is_some_and(|sum| sum <= self.events)
    }

    fn density(&self, density: &Density) -> bool {
        density.column_ns.is_power_of_two()
            && (1..=Density::COLUMNS).contains(&density.events.len())
            && self.sum(density.events.iter().copied())
    }

    fn processes(&self, report: &InfoReport) -> bool {
        let threads = report.processes.iter().flat_map(|process| &process.threads);
        let all = threads.clone().all(|thread| self.usage(&thread.usage));
        all && self.sum(threads.map(|thread| thread.usage.events))
            && report.processes.iter().all(|process| self.usage(&process.usage))
    }
}
