//! Entries in one row of exact order, to be searched: for who asks for events at some times, again and again, and not for all in turn. It costs one
//! more pass than [`EntryRuns::each_in_order`], 16 bytes an entry.

use super::{EntryRuns, Order, Sorter};
use crate::run::error::Error;
use crate::run::memory::Share;
use crate::spill::{SpillVec, SpilledVec};
use crate::store::entry::Entry;

impl SpilledVec<Entry> {
    /// What a sorter has, in exact order; on disk if any of it went there.
    ///
    /// # Errors
    /// [`Scratch`](crate::run::error::ErrorKind::Scratch) if the disk does not take it.
    pub fn sorted(mut sorter: Sorter, order: Order<'_, '_>) -> Result<Self, Error> {
        let (runs, _) = sorter.finish(order.0)?;
        let mut all = SpillVec::new(match runs {
            EntryRuns::Memory(_) => sorter.lease().unbounded(),
            EntryRuns::Disk(_) => sorter.lease().part(Share::of(0, 1)),
        });
        runs.each_in_order(order, |entry| all.push(entry))?;
        all.finish()
    }

    /// Those of a time, if they are in order of time. Cost: a binary search.
    pub fn at_time(&self, time: i64) -> impl Iterator<Item = Entry> {
        let from = self.partition_point(|entry| entry.time < time);
        self.range(from..self.len()).take_while(move |entry| entry.time == time)
    }
}
