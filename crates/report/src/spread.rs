//! How long single events of a name last: the median, what one in a hundred exceeds, and the longest.

use tracemill_analysis::value::space::rank;
use tracemill_analysis::{Trace, Window};
use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashMap;

/// Of the events of a name; times are microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// The name.
    pub name: String,
    /// How many begin within the window.
    pub count: u64,
    /// What half of them do not exceed.
    pub p50: f64,
    /// What 99 of 100 do not exceed.
    pub p99: f64,
    /// The longest.
    pub most: f64,
}

record! {
    /// How long one event lasts.
    #[derive(Clone, Copy)]
    struct Lasted {
        /// Microseconds.
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

/// Which of `count` sorted values a share does not exceed: the least for which that holds.
fn place(count: u64, percent: u64) -> u64 {
    (count * percent).div_ceil(100).saturating_sub(1)
}

/// Of events (X, and B with their E) of these names on threads, given by their numbers, that begin within the window. Cost: a look at
/// each event, and a sort of those of the names: 20 bytes each, on disk beyond the budget.
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
        let own = &mut all[name as usize];
        let at = before.filter(|(last, _)| *last == name).map_or(0, |(_, at)| at + 1);
        before = Some((name, at));
        if at == place(own.count, 50) {
            own.p50 = dur;
        }
        if at == place(own.count, 99) {
            own.p99 = dur;
        }
        own.most = dur;
    }
    all.retain(|own| own.count > 0);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn places_are_those_of_the_nearest_rank() {
        assert_eq!([place(1, 50), place(2, 50), place(3, 50), place(4, 50)], [0, 0, 1, 1]);
        assert_eq!(
            [place(1, 99), place(100, 99), place(101, 99), place(1000, 99)],
            [0, 98, 99, 989]
        );
    }
}
