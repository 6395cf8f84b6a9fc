//! Lengths of events that have no room for them in their [`Place`](crate::store::place::Place): in memory or, beyond a share of the budget, on disk.
//!
//! ```
//! use tracemill_trace::Limits;
//! use tracemill_trace::store::long_events::LongEvents;
//! use tracemill_trace::store::place::Place;
//! use tracemill_trace::store::{Payload, Store};
//!
//! let mut long = LongEvents::new(&Limits::new(1, 64 << 20, std::env::temp_dir()));
//! long.append(&[(5, 20_000), (90_000, 100_000)])?; // offsets and lengths, as a scan comes upon them
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
/// A text may consist of such events, and each takes 16 bytes: so the list is a 1024th of the text at most, and no budget
/// holds that of any text. It can be asked while it grows.
#[derive(Default)]
pub struct LongEvents(SpillArray<Long>);

impl LongEvents {
    /// None yet, with the share of the budget that all verbs give them: a 64th of that of entries.
    pub fn new(limits: &Limits) -> Self {
        let lease = limits.lease("lengths of long events", Share::of_index(1, 64));
        LongEvents::within(lease)
    }

    /// None yet; what takes more heap than the lease has goes to a file.
    pub fn within(lease: Lease) -> Self {
        LongEvents(SpillArray::new(lease))
    }

    /// Takes events that stand behind those it has, ascending.
    ///
    /// # Errors
    /// As [`SpillArray::push`].
    pub fn append(&mut self, later: &[Long]) -> Result<(), Error> {
        later.iter().try_for_each(|own| self.push(*own))
    }

    /// Takes an event that stands behind those it has.
    ///
    /// # Errors
    /// As [`SpillArray::push`].
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

    /// The length of the event at an offset, if it is one of them. Cost: a binary search.
    pub fn len_at(&self, offset: u64) -> Option<u64> {
        let at = self.0.partition_point(|(own, _)| *own < offset);
        self.0.get(at).filter(|(own, _)| *own == offset).map(|(_, len)| len)
    }

    /// Bytes in memory.
    pub fn heap(&self) -> u64 {
        self.0.heap()
    }

    /// Bytes of its file.
    pub fn spilled_bytes(&self) -> u64 {
        self.0.spilled_bytes()
    }
}

/// Those of a chunk, or of what was made in memory: as many as there, and in any order.
impl From<Vec<Long>> for LongEvents {
    fn from(mut all: Vec<Long>) -> Self {
        all.sort_unstable();
        LongEvents(all.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many there are, no more of them than the share is in memory, and each is found, also while more come.
    #[test]
    fn memory_of_long_events_does_not_grow_with_them() {
        const EACH: u64 = 20_000;
        let limits = Limits::new(1, 32 << 20, std::env::temp_dir());
        let mut long = LongEvents::new(&limits);
        let share = limits.bytes(Share::of_index(1, 64));
        for chunk in 0..400 {
            let own: Vec<Long> =
                (chunk * 100..(chunk + 1) * 100).map(|at| (at * EACH, EACH - at % 7)).collect();
            long.append(&own).expect("room on disk");
            assert!(long.heap() <= share, "{chunk}");
            for (offset, len) in [own[0], own[99], (0, EACH)] {
                assert_eq!(long.len_at(offset), Some(len));
            }
        }
        assert!(long.spilled_bytes() > share);
        assert_eq!([1, 400 * 100 * EACH].map(|offset| long.len_at(offset)), [None, None]);
    }

    #[test]
    fn those_of_a_chunk_come_in_any_order() {
        let long = LongEvents::from(vec![(70_000, 100_000), (5, 16_383)]);
        assert_eq!([5, 70_000, 6].map(|at| long.len_at(at)), [Some(16_383), Some(100_000), None]);
    }
}
