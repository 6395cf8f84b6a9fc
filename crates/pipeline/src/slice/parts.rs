//! Parts of pairs on their way from the scan to the walk over them.
//!
//! The worker that finds one notes what it belongs to while its fields are at hand: 48 bytes a part. Beyond the budget
//! only entries are kept, on disk, and each part is read again when its turn comes: slower, never different.

use super::keys::{Keys, Part};
use crate::error::Error;
use crate::order::Sorter;
use crate::order::{Entry, Order};
use crossbeam_channel::bounded;
use std::path::Path;

/// Parts that are put in order at a time, about.
const STRETCH: usize = 8 * 1024;
/// One of this many parts of each run is looked at to find where stretches begin.
const SAMPLE: usize = 64;
/// Stretches that may wait in order.
const STRETCHES_AHEAD: usize = 4;

/// Collects parts.
pub(super) struct Parts {
    /// Each sorted by its entries.
    memory: Vec<Vec<Part>>,
    heap: u64,
    limit: u64,
    /// Entries alone, once there were too many parts.
    beyond: Option<Sorter>,
}

impl Parts {
    pub(super) fn new(limit: u64) -> Self {
        Parts { memory: Vec::new(), heap: 0, limit, beyond: None }
    }

    /// Takes parts, which must be sorted by their entries.
    pub(super) fn push(&mut self, parts: Vec<Part>) {
        match &mut self.beyond {
            Some(sorter) => sorter.push(entries(&parts)),
            None if parts.is_empty() => {}
            None => {
                self.heap += (parts.capacity() * size_of::<Part>()) as u64;
                self.memory.push(parts);
            }
        }
    }

    /// Whether there is more than may be in memory.
    pub(super) fn is_full(&self) -> bool {
        self.heap > self.limit || self.beyond.as_ref().is_some_and(Sorter::is_full)
    }

    /// Leaves the memory.
    pub(super) fn spill(&mut self, order: Order<'_, '_>, tmp_dir: &Path) -> Result<(), Error> {
        let limit = self.limit;
        let sorter = self.beyond.get_or_insert_with(|| Sorter::new(limit, tmp_dir));
        self.memory.drain(..).for_each(|parts| sorter.push(entries(&parts)));
        self.heap = 0;
        sorter.spill(order)
    }

    /// Gives every part in the exact order of the output; returns the runs that were spilled.
    pub(super) fn each_in_order(
        self,
        order: Order<'_, '_>,
        threads: usize,
        mut each: impl FnMut(&Part) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let Some(mut sorter) = self.beyond else {
            return each_of_runs(&self.memory, order, threads, each).map(|()| 0);
        };
        let mut keys = Keys::default();
        let (runs, _) = sorter.finish(order.0)?;
        runs.each_in_order(order, |entry| {
            keys.part_at(entry, order.0).map_or(Ok(()), |part| each(&part))
        })?;
        Ok(runs.spilled())
    }
}

/// Gives the parts of sorted runs in order, a stretch of time after the other: none is copied that is not in cache. With
/// more than one thread, another puts the next stretches in order meanwhile.
fn each_of_runs(
    runs: &[Vec<Part>],
    order: Order<'_, '_>,
    threads: usize,
    mut each: impl FnMut(&Part) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut stretches = Stretches::of(runs, order);
    if threads == 1 {
        return stretches.try_for_each(|stretch| stretch.into_iter().try_for_each(&mut each));
    }
    std::thread::scope(|scope| {
        let (ready, next) = bounded(STRETCHES_AHEAD);
        // it ends when nobody takes any more
        scope.spawn(move || stretches.try_for_each(|stretch| ready.send(stretch)));
        next.into_iter().try_for_each(|stretch| stretch.into_iter().try_for_each(&mut each))
    })
}

/// Sorted runs of parts, in stretches of time.
struct Stretches<'r, 'j, 'p> {
    runs: &'r [Vec<Part>],
    order: Order<'j, 'p>,
    /// Times that stretches begin with.
    borders: Vec<i64>,
    /// The next stretch, and where it begins in each run.
    next: usize,
    passed: Vec<usize>,
}

impl<'r, 'j, 'p> Stretches<'r, 'j, 'p> {
    fn of(runs: &'r [Vec<Part>], order: Order<'j, 'p>) -> Self {
        let sampled = runs.iter().flat_map(|run| run.iter().step_by(SAMPLE));
        let mut samples: Vec<i64> = sampled.map(|part| part.entry.time).collect();
        samples.sort_unstable();
        let mut borders: Vec<i64> =
            samples.chunks(STRETCH / SAMPLE).map(|chunk| chunk[0]).collect();
        borders.dedup();
        Stretches { runs, order, borders, next: 0, passed: vec![0; runs.len()] }
    }
}

impl<'r> Iterator for Stretches<'r, '_, '_> {
    /// Parts in the exact order of the output.
    type Item = Vec<&'r Part>;

    fn next(&mut self) -> Option<Vec<&'r Part>> {
        if self.next == self.borders.len() {
            return None;
        }
        self.next += 1;
        let border = self.borders.get(self.next);
        let mut turns: Vec<(Entry, &Part)> = Vec::with_capacity(STRETCH);
        for (run, passed) in self.runs.iter().zip(&mut self.passed) {
            let rest = &run[*passed..];
            let count = match border {
                Some(&border) => rest.partition_point(|part| part.entry.time < border),
                None => rest.len(),
            };
            turns.extend(rest[..count].iter().map(|part| (part.entry, part)));
            *passed += count;
        }
        turns.sort_unstable_by_key(|&(entry, _)| entry);
        turns.sort_by(|a, b| self.order.compare(&a.0, &b.0));
        Some(turns.into_iter().map(|(_, part)| part).collect())
    }
}

fn entries(parts: &[Part]) -> Vec<Entry> {
    parts.iter().map(|part| part.entry).collect()
}
