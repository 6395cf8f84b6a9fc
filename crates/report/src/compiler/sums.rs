//! Sums by name: count, total time, and the longest event.

use super::nested::{Event, stretch_of};
use crate::found::Costly;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use tracemill_analysis::Trace;
use tracemill_trace::Error;
use tracemill_trace::event::names::Names;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;

#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    pub(super) count: u64,
    /// Total in ticks (time units of the trace's clock).
    pub(super) total: f64,
    /// The longest event, or the first of several that are equally long.
    pub(super) longest: Event,
    /// The compiled file of the longest event.
    pub(super) path: u32,
}

impl Sum {
    pub(super) fn of(event: &Event, path: u32) -> Self {
        Sum { count: 1, total: event.dur, longest: *event, path }
    }
}

#[derive(Debug)]
pub(super) struct Costs<K> {
    all: HashMap<K, Sum>,
}

impl<K> Default for Costs<K> {
    fn default() -> Self {
        Costs { all: HashMap::default() }
    }
}

impl<K: Eq + Hash> Costs<K> {
    pub(super) fn add(&mut self, key: K, one: Sum, room: &Quota) -> Result<(), Error> {
        match self.all.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(one);
                // The capacity of the table may be twice the number of its entries.
                let bytes = 2 * size_of::<(K, Sum)>() as u64;
                room.take(bytes, "templates, functions and headers")?;
            }
            Entry::Occupied(mut entry) => {
                let sum = entry.get_mut();
                sum.count += one.count;
                sum.total += one.total;
                if one.longest.dur > sum.longest.dur {
                    (sum.longest, sum.path) = (one.longest, one.path);
                }
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> u64 {
        self.all.len() as u64
    }

    /// Returns all sums, sorted by key.
    pub(super) fn sorted(&self) -> Vec<(&K, &Sum)>
    where
        K: Ord,
    {
        let mut all: Vec<(&K, &Sum)> = self.all.iter().collect();
        all.sort_by_key(|entry| entry.0);
        all
    }

    /// Returns the sums with the greatest total time. Equal sums are ordered by count, then by
    /// `name`.
    pub(super) fn best(
        &self,
        rows: usize,
        filter: impl Fn(&K) -> bool,
        name: impl Fn(&K) -> String,
    ) -> Vec<(&K, &Sum)> {
        let mut all: Vec<(&K, &Sum)> = self.all.iter().filter(|entry| filter(entry.0)).collect();
        let most = |entry: &(&K, &Sum), other: &(&K, &Sum)| {
            other.1.total.total_cmp(&entry.1.total).then(other.1.count.cmp(&entry.1.count))
        };
        if all.len() > rows && rows > 0 {
            // Computes names only of the rows that may be among the results.
            all.select_nth_unstable_by(rows - 1, most);
            let last = all[rows - 1];
            let tied = all[rows..].iter().filter(|entry| most(entry, &last).is_eq()).copied();
            let tied: Vec<(&K, &Sum)> = tied.collect();
            all.truncate(rows);
            all.extend(tied);
        }
        all.sort_by_cached_key(|entry| name(entry.0));
        all.sort_by(most);
        all.truncate(rows);
        all
    }
}

/// Converts sums to rows.
pub(super) struct Rows<'t> {
    pub(super) trace: &'t Trace,
    pub(super) paths: &'t Names,
    pub(super) rows: usize,
}

impl Rows<'_> {
    /// Returns the rows with the most time.
    pub(super) fn best<K: Eq + Hash>(
        &self,
        costs: &Costs<K>,
        name: impl Fn(&K) -> String,
    ) -> Vec<Costly> {
        let best = costs.best(self.rows, |_| true, &name);
        best.into_iter().map(|(key, sum)| self.row(name(key), sum)).collect()
    }

    pub(super) fn row(&self, name: String, sum: &Sum) -> Costly {
        Costly {
            name,
            count: sum.count,
            total: self.trace.clock().ms_of(sum.total),
            longest: stretch_of(self.trace, &sum.longest),
            file: self.paths.text(sum.path),
        }
    }
}
