//! Compares the order of events with the output order.

use tracemill_tokenizer::{Event, Nanos};
use tracemill_trace::order::Stamp;

/// Position of an event in the output order, independent of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    class: Class,
    stamp: Option<Stamp>,
}

/// Primary sort key: metadata events, then untimed events, then timed events.
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

#[derive(Default)]
pub(super) struct Ranks {
    first: Option<Rank>,
    last: Option<Rank>,
    pub(super) inversions: u64,
}

impl Ranks {
    #[inline]
    pub(super) fn note(&mut self, rank: Rank) {
        match &self.last {
            Some(last) => self.inversions += u64::from(*last > rank),
            None => self.first = Some(rank),
        }
        self.last = Some(rank);
    }

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
