//! The open slices of a track, and the slice that an end closes
//! ([`tracemill_trace::event::pairing`]).
//!
//! Slices of a track nest, so an end also closes all slices inside.

use tracemill_trace::event::pairing::{Begins, OPEN};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;

/// The memory limit for open events and for the event being written.
pub(super) struct Room {
    quota: Quota,
    /// Number of bytes that open events take.
    taken: u64,
    /// The first error of an exceeded limit.
    pub(super) refused: Option<Error>,
}

impl Room {
    pub(super) fn new(quota: Quota) -> Self {
        Room { quota, taken: 0, refused: None }
    }

    /// Adds the bytes of an event that is opened.
    pub(super) fn open(&mut self, bytes: u64) {
        self.taken += bytes;
        self.has(self.taken, OPEN);
    }

    /// Subtracts the bytes of an event that is closed.
    pub(super) fn close(&mut self, bytes: u64) {
        self.taken -= bytes;
    }

    /// Returns whether so many bytes fit within the limit. After a failure, always returns `false`.
    pub(super) fn has(&mut self, bytes: u64, what: &str) -> bool {
        if let Err(error) = self.quota.check(bytes, what) {
            self.refused.get_or_insert(error);
        }
        self.refused.is_none()
    }
}

#[derive(Clone, Copy)]
struct Open {
    begun: u64,
    end: Option<i64>,
    /// The end of this slice if known, or else the known end of the nearest enclosing slice that
    /// has one.
    until: Option<i64>,
}

/// The open slices, outermost first. Cost: constant for a begin; an end searches the open slices.
#[derive(Default)]
pub(super) struct Slices {
    all: Vec<Open>,
    /// The open slices whose end is unknown, as numbers.
    begins: Begins<u64>,
}

impl Slices {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns whether a slice is open whose end is unknown.
    pub(super) fn has_begins(&self) -> bool {
        !self.begins.is_empty()
    }

    /// Returns the end of the innermost open slice whose end is known.
    pub(super) fn until(&self) -> Option<i64> {
        self.all.last()?.until
    }

    /// Opens a slice with an unknown end, which an end event with the same name will close. Each
    /// `begun` must be greater than the last.
    pub(super) fn begin(&mut self, begun: u64, name: u64) {
        // Most async operations have only one slice.
        if self.all.capacity() == 0 {
            self.all.reserve_exact(1);
        }
        self.all.push(Open { begun, end: None, until: self.until() });
        self.begins.begin(name, begun);
    }

    /// Opens a slice whose end is known.
    pub(super) fn enter(&mut self, begun: u64, end: i64) {
        self.all.push(Open { begun, end: Some(end), until: Some(end) });
    }

    /// Returns the index of the open slice that an end event with this name closes.
    pub(super) fn end(&mut self, name: u64) -> Option<usize> {
        let begun = self.begins.end(name)?;
        self.place_of(begun)
    }

    /// Returns the index of the open slice with the number `begun`.
    pub(super) fn place_of(&self, begun: u64) -> Option<usize> {
        self.all.binary_search_by_key(&begun, |slice| slice.begun).ok()
    }

    /// Returns the index and the end of the innermost open slice, if its end is known.
    pub(super) fn innermost_end(&self) -> Option<(usize, i64)> {
        Some((self.len().checked_sub(1)?, self.all.last()?.end?))
    }

    /// Closes a slice and all slices inside. Returns the number of closed slices, and the number of
    /// inner slices whose end is not `ts`.
    pub(super) fn close(&mut self, at: usize, ts: i64) -> (usize, usize) {
        let within = self.all.len() - at;
        let early = self.all[at + 1..].iter().filter(|slice| slice.end != Some(ts)).count();
        let begun = self.all[at].begun;
        self.all.truncate(at);
        while self.begins.innermost().is_some_and(|&begin| begin >= begun) {
            self.begins.pop_innermost();
        }
        (within, early)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::Rng;

    /// Reference implementation that searches all open slices.
    #[derive(Default)]
    struct Naive(Vec<(u64, Option<i64>, u64)>);

    impl Naive {
        fn end(&self, name: u64) -> Option<usize> {
            let begins = || self.0.iter().enumerate().rev().filter(|(_, slice)| slice.1.is_none());
            let same = begins().find(|(_, begin)| name != 0 && begin.2 == name);
            same.or_else(|| begins().next()).map(|(at, _)| at)
        }

        fn close(&mut self, at: usize, ts: i64) -> (usize, usize) {
            let early = self.0[at + 1..].iter().filter(|slice| slice.1 != Some(ts)).count();
            let within = self.0.len() - at;
            self.0.truncate(at);
            (within, early)
        }
    }

    #[test]
    fn ends_close_the_same_slices_as_a_full_search() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut open, mut naive) = (Slices::default(), Naive::default());
            for number in 1..300 {
                let (name, ts) = (rng.below(4), rng.below(5) as i64);
                match rng.below(8) {
                    0..3 => {
                        open.begin(number, name);
                        naive.0.push((number, None, name));
                    }
                    3..5 => {
                        open.enter(number, ts);
                        naive.0.push((number, Some(ts), name));
                    }
                    5 => {
                        let begun = rng.below(number);
                        let place = naive.0.iter().position(|slice| slice.0 == begun);
                        assert_eq!(open.place_of(begun), place, "{seed}, {number}");
                        if let Some(at) = place {
                            assert_eq!(open.close(at, ts), naive.close(at, ts));
                        }
                    }
                    _ => {
                        let place = naive.end(name);
                        assert_eq!(open.end(name), place, "{seed}, {number}");
                        if let Some(at) = place {
                            assert_eq!(open.close(at, ts), naive.close(at, ts));
                        }
                    }
                }
                let until = naive.0.iter().rev().find_map(|slice| slice.1);
                let innermost =
                    naive.0.last().and_then(|slice| Some((naive.0.len() - 1, slice.1?)));
                assert_eq!((open.len(), open.is_empty()), (naive.0.len(), naive.0.is_empty()));
                assert_eq!(open.until(), until, "{seed}, {number}");
                assert_eq!(open.innermost_end(), innermost, "{seed}, {number}");
                assert_eq!(open.has_begins(), naive.0.iter().any(|slice| slice.1.is_none()));
            }
        }
    }
}
