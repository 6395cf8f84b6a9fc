//! The index entry of a timed event: 16 bytes, whose order nearly equals output order (see
//! [`crate::order`]).
//!
//! ```text
//!   bytes   0 ────── 7   8 ────────────────────── 15
//!           time in ns   rank 10 │ offset 40 │ length 14   bits, rank descending: a `Place`
//! ```
//!
//! ```
//! use tracemill_trace::store::entry::{EXACT, Entry, longest, rank, says_all};
//! use tracemill_trace::store::place::Place;
//! use tracemill_tokenizer::nanos;
//!
//! let [time, dur] = [b"5", b"7"].map(|text| nanos(text).expect("microseconds"));
//! let entry = |offset, dur| Entry { time: time.floor, place: Place::new(offset, 100, rank(time, dur)) };
//! assert!(entry(900, Some(dur)) < entry(0, None)); // at one time the longer first
//! assert!(entry(0, None) < entry(100, None)); // then by offset
//! assert!(says_all(rank(time, Some(dur))) && longest(rank(time, Some(dur))) == Some(7_000));
//! assert_eq!(rank(nanos(b"5.00001").expect("finer than 16 bytes say"), None), EXACT);
//! ```

use crate::record;
use crate::store::place::Place;
use std::cmp::Ordering;
use tracemill_tokenizer::Nanos;

record! {
    /// A timed event in the index, ordered by time, then by place. Ranks that are not exact
    /// ([`says_all`]) leave ties to [`Order::resolve_ties`](crate::order::Order::resolve_ties).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Entry {
        /// Time in nanoseconds, rounded down.
        pub time: i64,
        /// Position of the event, and the rank of its duration.
        pub place: Place,
    }
}

impl Entry {
    /// Returns the entry as one number in the same order, for comparison without branches.
    #[inline(always)]
    fn key(self) -> u128 {
        let time = self.time as u64 ^ 1 << 63;
        u128::from(time) << 64 | u128::from(self.place.0)
    }
}

impl PartialOrd for Entry {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.key() < other.key()
    }
}

impl Ord for Entry {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

const _: () = assert!(size_of::<Entry>() == 16);

/// Rank of events whose order needs more than 16 bytes: times finer than a nanosecond, or a
/// negative duration.
pub const EXACT: u16 = Place::RANK_MAX;

/// Each duration of whole microseconds below this number has its own rank. Most events are that
/// short, so few ties require reading the events.
const LINEAR: u64 = 384;

/// Returns the rank of a duration: 0 for no duration, and never lower for a longer duration. The
/// rank is [`EXACT`] if the times themselves must be compared.
///
/// | duration | rank |
/// |---|---|
/// | k µs, k < 384 | 2 k |
/// | between k and k + 1 µs | 2 k + 1 |
/// | above | 768 and on, by a quarter of an octave |
#[inline]
pub fn rank(time: Nanos, dur: Option<Nanos>) -> u16 {
    let dur = match dur {
        _ if !time.exact => return EXACT,
        None => return 0,
        Some(dur) if dur.floor < 0 => return EXACT,
        Some(dur) => dur,
    };
    let micros = dur.floor as u64 / 1000;
    if micros < LINEAR {
        let whole = dur.exact && dur.floor % 1000 == 0;
        return (2 * micros + u64::from(!whole)) as u16;
    }
    let octave = micros.ilog2();
    // the two bits below the highest
    let quarter = micros >> (octave - 2) & 3;
    (2 * LINEAR + 4 * u64::from(octave - LINEAR.ilog2()) + quarter) as u16
}

/// Returns the longest duration of this rank in nanoseconds. Returns `None` for [`EXACT`].
pub fn longest(rank: u16) -> Option<i64> {
    if rank == EXACT {
        return None;
    }
    let rank = u64::from(rank);
    let micros = match rank.checked_sub(2 * LINEAR) {
        None => rank.div_ceil(2),
        Some(above) => {
            let octave = above / 4 + u64::from(LINEAR.ilog2());
            (above % 4 + 5) << (octave - 2)
        }
    };
    Some(i64::try_from(micros.saturating_mul(1000)).unwrap_or(i64::MAX))
}

/// Returns whether all durations of this rank are equal, so that offsets decide ties.
pub fn says_all(rank: u16) -> bool {
    u64::from(rank) < 2 * LINEAR && rank.is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_never_fall_with_the_duration() {
        let exact = |floor| Nanos { floor, exact: true };
        let mut last = 0;
        let durations = (0..500_000).step_by(7).chain((19..63).flat_map(|bit| {
            let one = 1i64 << bit;
            [one - 1, one, one + one / 4, one + one / 2, one + one / 4 * 3]
        }));
        for nanos in durations {
            let now = rank(exact(0), Some(exact(nanos)));
            assert!(now >= last && now < EXACT, "{nanos}");
            assert!(longest(now).is_some_and(|longest| nanos <= longest), "{nanos}");
            last = now;
        }
        assert_eq!(rank(exact(0), None), 0);
        assert_eq!(rank(exact(0), Some(Nanos { floor: 0, exact: false })), 1);
        assert!(
            says_all(rank(exact(0), Some(exact(5000))))
                && !says_all(rank(exact(0), Some(exact(5001))))
        );
        assert_eq!(rank(exact(0), Some(exact(-1))), EXACT);
        assert_eq!(rank(Nanos { floor: 0, exact: false }, None), EXACT);
    }
}
