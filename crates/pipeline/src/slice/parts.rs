//! Parts of pairs on their way from the scan to the walk over them.
//!
//! The worker that finds one notes what it belongs to while its fields are at hand: 48 bytes a part. Beyond the budget
//! only entries are kept, on disk, and each part is read again when its turn comes: slower, never different.

use super::keys::{Keys, Part};
use super::sorter::Sorter;
use crate::error::Error;
use crate::order::{Entry, Order};
use std::path::Path;

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
        mut each: impl FnMut(&Part) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let Some(sorter) = self.beyond else {
            let mut all = Vec::with_capacity(self.memory.iter().map(Vec::len).sum());
            self.memory.into_iter().for_each(|parts| all.extend(parts));
            // the stable sort finds the runs and merges them
            all.sort_by(|a, b| order.compare(&a.entry, &b.entry));
            return all.iter().try_for_each(each).map(|()| 0);
        };
        let mut keys = Keys::default();
        let (runs, _) = sorter.finish(order.0)?;
        runs.each_in_order(order, |entry| {
            keys.part_at(entry, order.0).map_or(Ok(()), |part| each(&part))
        })?;
        Ok(runs.spilled())
    }
}

fn entries(parts: &[Part]) -> Vec<Entry> {
    parts.iter().map(|part| part.entry).collect()
}
