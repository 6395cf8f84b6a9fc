//! Durations of single events by name: median, 99th percentile and maximum. Keeps the longest rows of
//! a section.

use tracemill_analysis::value::space::rank;
use tracemill_analysis::{Trace, Window};
use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashMap;

/// Durations of events with a name, in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// Name of the events.
    pub name: String,
    /// Number of events that begin within the window.
    pub count: u64,
    /// Median duration.
    pub p50: f64,
    /// 99th percentile of the durations.
    pub p99: f64,
    /// Maximum duration.
    pub most: f64,
}

record! {
    #[derive(Clone, Copy)]
    struct Lasted {
        /// Duration in microseconds.
        dur: f64,
        number: u64,
        name: u32,
    }
}

impl Keyed for Lasted {
    type Key = (u32, u64, u64);

    fn key(&self) -> Self::Key {
        (self.name, rank(self.dur), self.number)
    }
}

/// Returns the index of a percentile among `count` sorted values (nearest rank).
fn place(count: u64, percent: u64) -> u64 {
    (count * percent).div_ceil(100).saturating_sub(1)
}

/// Measures the X events, and pairs of B and E, that have one of these names and begin within the
/// window.
///
/// Cost: visits each event, and sorts those with the names. Memory: 20 bytes per sorted event, on
/// disk beyond the budget.
pub(crate) fn spread<'n>(
    trace: &Trace,
    threads: &[usize],
    names: impl Iterator<Item = &'n str>,
    window: Window,
) -> Result<Vec<Spread>, Error> {
    let mut all: Vec<Spread> = Vec::new();
    let mut numbers: HashMap<&'n str, u32> = HashMap::default();
    for name in names {
        numbers.insert(name, all.len() as u32);
        all.push(Spread { name: name.to_owned(), ..Spread::default() });
    }
    let number = |kind: &tracemill_analysis::events::kinds::Kind| {
        let name = std::str::from_utf8(trace.names().bytes_of(kind.name)).ok()?;
        numbers.get(name).copied()
    };
    let of_kinds: Vec<Option<u32>> = trace.kinds().iter().map(number).collect();
    let mut sorter = trace.space().sorter(1);
    for &at in threads {
        for record in trace.records(&trace.threads[at]) {
            let starts = trace.clock().ms_of(record.ts);
            let is_in = starts >= window.from && starts <= window.to;
            let is_event = matches!(record.phase(), b'X' | b'B') && is_in;
            let Some(name) = of_kinds[record.kind as usize].filter(|_| is_event) else {
                continue;
            };
            all[name as usize].count += 1;
            let dur = trace.clock().micros(record.dur);
            sorter.push(Lasted { dur, number: record.number(), name })?;
        }
    }
    let mut before: Option<(u32, u64)> = None;
    for Lasted { dur, name, .. } in sorter.finish()?.iter() {
        let spread = &mut all[name as usize];
        let at = before.filter(|(last, _)| *last == name).map_or(0, |(_, at)| at + 1);
        before = Some((name, at));
        if at == place(spread.count, 50) {
            spread.p50 = dur;
        }
        if at == place(spread.count, 99) {
            spread.p99 = dur;
        }
        spread.most = dur;
    }
    all.retain(|spread| spread.count > 0);
    Ok(all)
}

/// A row with a duration. Sections list the longest rows.
pub(crate) trait Lasting {
    fn dur(&self) -> f64;
}

/// Appends a row, and drops those that are not among the `rows` longest when many are held.
pub(crate) fn push_longest<R: Lasting>(all: &mut Vec<R>, row: R, rows: usize) {
    all.push(row);
    if all.len() >= rows.saturating_mul(2).saturating_add(64) {
        keep_longest(all, rows);
    }
}

/// Keeps the `rows` longest rows, longest first. Equal rows keep their order.
pub(crate) fn keep_longest<R: Lasting>(all: &mut Vec<R>, rows: usize) {
    all.sort_by(|a, b| b.dur().total_cmp(&a.dur()));
    all.truncate(rows);
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn percentiles_use_nearest_rank() {
        assert_eq!([place(1, 50), place(2, 50), place(3, 50), place(4, 50)], [0, 0, 1, 1]);
        assert_eq!(
            [place(1, 99), place(100, 99), place(101, 99), place(1000, 99)],
            [0, 98, 99, 989]
        );
    }
}
