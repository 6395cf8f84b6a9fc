//! The position of an event among all inputs, in eight bytes.
//!
//! ```
//! use tracemill_trace::store::place::Place;
//!
//! let place = Place::new(1_000, 260, 4); // offset, bytes, rank of the duration
//! assert_eq!((place.offset(), place.short_len(), place.rank()), (1_000, Some(260), 4));
//! assert!(place < Place::new(10, 260, 2), "of one time the longer event comes first");
//! ```

use crate::record;

/// Number of bits of the offset: 1 TiB of input.
const OFFSET_BITS: u32 = 40;
/// Maximum bytes of input that places can address.
pub const MOST: u64 = 1 << OFFSET_BITS;
const LEN_BITS: u32 = 14;
/// Length value that means a lookup in the list of long events.
pub const LONG: u64 = (1 << LEN_BITS) - 1;

/// The position of an event and the rank of its duration. From the top bits down:
/// [`Place::RANK_MAX`] − rank, offset, length.
///
/// The order of places is the output order at equal times, as far as ranks are exact (see
/// [`crate::store::entry`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u64);

record! { impl Place { 0: u64 } }

impl Place {
    /// Highest rank: the largest number that fits in the bits left by offset and length.
    pub const RANK_MAX: u16 = (1 << (64 - OFFSET_BITS - LEN_BITS)) - 1;

    /// Creates the place of an event of `len` bytes at `offset`, below [`MOST`]. Lengths of
    /// [`LONG`] and more must be added to [`LongEvents`](crate::store::long_events::LongEvents).
    #[inline]
    pub fn new(offset: u64, len: usize, rank: u16) -> Self {
        debug_assert!(offset < MOST);
        let len = (len as u64).min(LONG);
        Place(
            u64::from(Self::RANK_MAX - rank) << (OFFSET_BITS + LEN_BITS) | offset << LEN_BITS | len,
        )
    }

    /// Returns the offset of the event in the address space.
    pub fn offset(self) -> u64 {
        self.0 >> LEN_BITS & ((1 << OFFSET_BITS) - 1)
    }

    /// Returns the rank of the duration, see [`crate::store::entry::rank`].
    pub fn rank(self) -> u16 {
        Self::RANK_MAX - (self.0 >> (OFFSET_BITS + LEN_BITS)) as u16
    }

    /// Returns the place moved by `base` bytes, with the same rank and length.
    #[inline]
    pub fn behind(self, base: u64) -> Self {
        debug_assert!(self.offset() + base < MOST);
        Place(self.0 + (base << LEN_BITS))
    }

    /// Returns the place with rank 0.
    pub fn without_rank(self) -> Self {
        let rank_bits = u64::from(Self::RANK_MAX) << (OFFSET_BITS + LEN_BITS);
        Place(self.0 | rank_bits)
    }

    /// Returns the bits rotated so that the offset is highest and decides the order.
    pub fn offset_first(self) -> u64 {
        self.0.rotate_left(64 - OFFSET_BITS - LEN_BITS)
    }

    /// Returns the place from the bits that [`Place::offset_first`] returned.
    pub fn of_offset_first(turned: u64) -> Self {
        Place(turned.rotate_right(64 - OFFSET_BITS - LEN_BITS))
    }

    /// Returns the length of the event. Returns `None` for a long event, whose length must be
    /// looked up in [`LongEvents`](crate::store::long_events::LongEvents).
    #[inline]
    pub fn short_len(self) -> Option<u64> {
        Some(self.0 & LONG).filter(|&len| len != LONG)
    }

    /// Returns whether an event of this length is long: its place cannot hold the length.
    #[inline]
    pub fn is_long(len: usize) -> bool {
        len as u64 >= LONG
    }
}

/// The offset and length of an event of 16 KiB or more.
pub type Long = (u64, u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_parts_and_order_by_rank_first() {
        let place = Place::new(MOST - 1, 77, 9);
        assert_eq!((place.offset(), place.rank(), place.0 & LONG), (MOST - 1, 9, 77));
        assert_eq!(Place::new(5, 1 << 20, 0).0 & LONG, LONG);
        assert_eq!(Place::new(5, 77, 9).behind(MOST - 6), place);
        assert_eq!(Place::of_offset_first(place.offset_first()), place);
        assert!(Place::new(9, 1, 3).offset_first() > Place::new(8, 2, 2).offset_first());
        assert!(Place::new(9, 1, 3) < Place::new(1, 1, 2));
        assert!(Place::new(1, 9, 2) < Place::new(2, 1, 2));
    }
}
