//! What is open on one track, and which of it an end closes: by the rule of [`tracemill_trace::event::pairing`].
//!
//! A track nests: what ends takes all within it along. So what is open is a stack, and a begin finds its place there by its number.

use tracemill_trace::event::pairing::{Begins, OPEN};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;

/// The room of what is open, and of the event at hand.
pub(super) struct Room {
    quota: Quota,
    /// Bytes of what is open.
    taken: u64,
    /// What there was no room for first.
    pub(super) refused: Option<Error>,
}

impl Room {
    pub(super) fn new(quota: Quota) -> Self {
        Room { quota, taken: 0, refused: None }
    }

    /// Counts what is opened.
    pub(super) fn open(&mut self, bytes: u64) {
        self.taken += bytes;
        self.has(self.taken, OPEN);
    }

    /// Counts what is closed.
    pub(super) fn close(&mut self, bytes: u64) {
        self.taken -= bytes;
    }

    /// Whether there is room for so many bytes, and was for all before.
    pub(super) fn has(&mut self, bytes: u64, what: &str) -> bool {
        if let Err(error) = self.quota.check(bytes, what) {
            self.refused.get_or_insert(error);
        }
        self.refused.is_none()
    }
}

/// An event that is open.
#[derive(Clone, Copy)]
struct Open {
    /// Its number among those that are begun.
    begun: u64,
    /// Where it ends, if it says so.
    end: Option<i64>,
    /// Where the innermost ends that says so, of it and what it lies in.
    until: Option<i64>,
}

/// What is open, outermost first. Cost: of opening constant time, of an end that of finding its place among what is open and of what it closes.
#[derive(Default)]
pub(super) struct Slices {
    all: Vec<Open>,
    /// Numbers of those that do not say where they end.
    begins: Begins<u64>,
}

impl Slices {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether something is open that does not say where it ends.
    pub(super) fn has_begins(&self) -> bool {
        !self.begins.is_empty()
    }

    /// Where the innermost ends that says so.
    pub(super) fn until(&self) -> Option<i64> {
        self.all.last()?.until
    }

    /// Opens what an end of this name closes. Numbers rise.
    pub(super) fn begin(&mut self, begun: u64, name: u64) {
        // most operations have one
        if self.all.capacity() == 0 {
            self.all.reserve_exact(1);
        }
        self.all.push(Open { begun, end: None, until: self.until() });
        self.begins.begin(name, begun);
    }

    /// Opens what says where it ends.
    pub(super) fn enter(&mut self, begun: u64, end: i64) {
        self.all.push(Open { begun, end: Some(end), until: Some(end) });
    }

    /// The place of what an end of this name closes.
    pub(super) fn end(&mut self, name: u64) -> Option<usize> {
        let begun = self.begins.end(name)?;
        self.place_of(begun)
    }

    /// The place of one that is open still.
    pub(super) fn place_of(&self, begun: u64) -> Option<usize> {
        self.all.binary_search_by_key(&begun, |own| own.begun).ok()
    }

    /// The place of the innermost, and its end, if it says so.
    pub(super) fn innermost_end(&self) -> Option<(usize, i64)> {
        Some((self.len().checked_sub(1)?, self.all.last()?.end?))
    }

    /// Closes what stands at a place and all within it: how many that are, and how many of those within it end at another time.
    pub(super) fn close(&mut self, at: usize, ts: i64) -> (usize, usize) {
        let within = self.all.len() - at;
        let early = self.all[at + 1..].iter().filter(|own| own.end != Some(ts)).count();
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

    /// The same by looking at all that is open.
    #[derive(Default)]
    struct Naive(Vec<(u64, Option<i64>, u64)>);

    impl Naive {
        fn end(&self, name: u64) -> Option<usize> {
            let begins = || self.0.iter().enumerate().rev().filter(|(_, own)| own.1.is_none());
            let same = begins().find(|(_, begin)| name != 0 && begin.2 == name);
            same.or_else(|| begins().next()).map(|(at, _)| at)
        }

        fn close(&mut self, at: usize, ts: i64) -> (usize, usize) {
            let early = self.0[at + 1..].iter().filter(|own| own.1 != Some(ts)).count();
            let within = self.0.len() - at;
            self.0.truncate(at);
            (within, early)
        }
    }

    #[test]
    fn ends_close_what_a_look_at_all_finds() {
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
                        let place = naive.0.iter().position(|own| own.0 == begun);
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
                let until = naive.0.iter().rev().find_map(|own| own.1);
                let innermost = naive.0.last().and_then(|own| Some((naive.0.len() - 1, own.1?)));
                assert_eq!((open.len(), open.is_empty()), (naive.0.len(), naive.0.is_empty()));
                assert_eq!(open.until(), until, "{seed}, {number}");
                assert_eq!(open.innermost_end(), innermost, "{seed}, {number}");
                assert_eq!(open.has_begins(), naive.0.iter().any(|own| own.1.is_none()));
            }
        }
    }
}
