//! Lengths of events that are too long for their [`Place`](crate::store::place::Place), in memory
//! or on disk.
//!
//! ```
//! use tracemill_trace::Limits;
//! use tracemill_trace::store::long_events::LongEvents;
//! use tracemill_trace::store::place::Place;
//! use tracemill_trace::store::{Payload, Store};
//!
//! let mut long = LongEvents::new(&Limits::new(1, 64 << 20, std::env::temp_dir()));
//! long.append(&[(5, 20_000), (90_000, 100_000)])?; // offsets and lengths, in the order of a scan
//! let store = Store::new(std::iter::empty()).with_long(&long);
//! assert_eq!(store.len(Place::new(90_000, 100_000, 0)), 100_000);
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

use crate::run::error::Error;
use crate::run::limits::Limits;
use crate::run::memory::{Lease, Share};
use crate::spill::SpillArray;
use crate::store::place::Long;

/// Offsets and lengths of events of 16 KiB and more, by offset.
///
/// An entry takes 16 bytes, so the list takes at most 1/1024 of the text. The list can be searched
/// while it grows.
#[derive(Default)]
pub struct LongEvents(SpillArray<Long>);

impl LongEvents {
    /// Creates an empty list that spills beyond a 64th of the memory for entries.
    pub fn new(limits: &Limits) -> Self {
        let lease = limits.lease("lengths of long events", Share::of_index(1, 64));
        LongEvents::within(lease)
    }

    /// Creates an empty list that spills beyond its lease.
    pub fn within(lease: Lease) -> Self {
        LongEvents(SpillArray::new(lease))
    }

    /// Appends events, ascending by offset and after all present events.
    ///
    /// # Errors
    /// See [`SpillArray::push`].
    pub fn append(&mut self, later: &[Long]) -> Result<(), Error> {
        later.iter().try_for_each(|long| self.push(*long))
    }

    /// Appends an event after all present events.
    ///
    /// # Errors
    /// See [`SpillArray::push`].
    pub fn push(&mut self, long: Long) -> Result<(), Error> {
        debug_assert!(
            self.0
                .len()
                .checked_sub(1)
                .and_then(|at| self.0.get(at))
                .is_none_or(|last| last < long),
            "long events ascend"
        );
        self.0.push(long)
    }

    /// Returns the length of the long event at an offset. Cost: a binary search.
    pub fn len_at(&self, offset: u64) -> Option<u64> {
        let at = self.0.partition_point(|(start, _)| *start < offset);
        self.0.get(at).filter(|(start, _)| *start == offset).map(|(_, len)| len)
    }

    /// Returns the heap use in bytes.
    pub fn heap(&self) -> u64 {
        self.0.heap()
    }

    /// Returns the size of the file in bytes.
    pub fn spilled_bytes(&self) -> u64 {
        self.0.spilled_bytes()
    }
}

/// Creates a list without a memory limit from events in any order, such as those of a chunk.
impl From<Vec<Long>> for LongEvents {
    fn from(mut all: Vec<Long>) -> Self {
        all.sort_unstable();
        LongEvents(all.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_long_events_stays_within_its_share() {
        const EACH: u64 = 20_000;
        let limits = Limits::new(1, 32 << 20, std::env::temp_dir());
        let mut long = LongEvents::new(&limits);
        let share = limits.bytes(Share::of_index(1, 64));
        for chunk in 0..400 {
            let events: Vec<Long> =
                (chunk * 100..(chunk + 1) * 100).map(|at| (at * EACH, EACH - at % 7)).collect();
            long.append(&events).expect("room on disk");
            assert!(long.heap() <= share, "{chunk}");
            for (offset, len) in [events[0], events[99], (0, EACH)] {
                assert_eq!(long.len_at(offset), Some(len));
            }
        }
        assert!(long.spilled_bytes() > share);
        assert_eq!([1, 400 * 100 * EACH].map(|offset| long.len_at(offset)), [None, None]);
    }

    #[test]
    fn long_events_of_a_chunk_may_come_in_any_order() {
        let long = LongEvents::from(vec![(70_000, 100_000), (5, 16_383)]);
        assert_eq!([5, 70_000, 6].map(|at| long.len_at(at)), [Some(16_383), Some(100_000), None]);
    }
}
