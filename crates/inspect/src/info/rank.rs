//! The order in which events stand, against that of the output.

use tracemill_tokenizer::{Event, Nanos};
use tracemill_trace::order::Stamp;

/// The place of an event in the order of the output, without the bytes it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    class: Class,
    /// Where it has a time.
    stamp: Option<Stamp>,
}

/// What decides first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Metadata,
    Untimed,
    Timed,
}

impl Rank {
    #[inline]
    pub(super) fn of(
        event: &Event<'_>,
        class: Class,
        ts: Option<Nanos>,
        dur: Option<Nanos>,
    ) -> Self {
        let stamp = ts.filter(|_| class == Class::Timed).map(|ts| Stamp::of(event, ts, dur));
        Rank { class, stamp }
    }
}

/// A stretch of events, in order or not.
#[derive(Default)]
pub(super) struct Ranks {
    first: Option<Rank>,
    last: Option<Rank>,
    /// Neighbours out of order.
    pub(super) inversions: u64,
}

impl Ranks {
    /// The next event.
    #[inline]
    pub(super) fn note(&mut self, rank: Rank) {
        match &self.last {
            Some(last) => self.inversions += u64::from(*last > rank),
            None => self.first = Some(rank),
        }
        self.last = Some(rank);
    }

    /// What follows.
    pub(super) fn append(&mut self, later: Ranks) {
        let seam = match (&self.last, &later.first) {
            (Some(last), Some(first)) => last > first,
            _ => false,
        };
        self.inversions += later.inversions + u64::from(seam);
        self.first = self.first.take().or(later.first);
        self.last = later.last.or(self.last.take());
    }
}
