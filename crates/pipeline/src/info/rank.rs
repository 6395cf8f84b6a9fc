//! The order in which events stand, against that of contract C3.

use std::cmp::Ordering;
use tracemill_tokenizer::{Event, Field, Nanos, compare, number_text};

/// The place of an event in the order of contract C3, without the bytes it came from.
#[derive(Clone, Debug)]
pub(super) struct Rank {
    class: Class,
    ts: Nanos,
    dur: Nanos,
    /// Digits of ts and dur, where nanoseconds are not all of them.
    texts: Option<Box<[Vec<u8>; 2]>>,
}

/// What decides first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Metadata,
    Untimed,
    Timed,
}

const ZERO: Nanos = Nanos { floor: 0, exact: true };

impl Rank {
    #[inline]
    pub(super) fn of(
        event: &Event<'_>,
        class: Class,
        (ts, dur): (Option<Nanos>, Option<Nanos>),
    ) -> Self {
        if class < Class::Timed {
            return Rank { class, ts: ZERO, dur: ZERO, texts: None };
        }
        let (ts, dur) = (ts.unwrap_or(ZERO), dur.unwrap_or(ZERO));
        let texts = if ts.exact && dur.exact { None } else { Some(texts(event)) };
        Rank { class, ts, dur, texts }
    }

    /// Whether an event of rank `next` may follow one of this rank.
    #[inline]
    pub(super) fn precedes(&self, next: &Rank) -> bool {
        if self.texts.is_some() || next.texts.is_some() {
            return self.precedes_slowly(next);
        }
        let (own, next) = (
            (self.class, self.ts.floor, -self.dur.floor),
            (next.class, next.ts.floor, -next.dur.floor),
        );
        own <= next
    }

    #[cold]
    fn precedes_slowly(&self, next: &Rank) -> bool {
        let by_class = self.class.cmp(&next.class);
        let by_ts = || compare_numbers((self.ts, self.text(0)), (next.ts, next.text(0)));
        let by_dur = || compare_numbers((next.dur, next.text(1)), (self.dur, self.text(1)));
        by_class.then_with(by_ts).then_with(by_dur).is_le()
    }

    fn text(&self, number: usize) -> &[u8] {
        self.texts.as_ref().map_or(b"0", |texts| &texts[number])
    }
}

#[cold]
fn texts(event: &Event<'_>) -> Box<[Vec<u8>; 2]> {
    let text = |field| {
        let mut scratch = Vec::new();
        let value = event.field(field).and_then(|value| number_text(value, &mut scratch));
        value.unwrap_or(b"0").to_vec()
    };
    Box::new([text(Field::Ts), text(Field::Dur)])
}

fn compare_numbers(a: (Nanos, &[u8]), b: (Nanos, &[u8])) -> Ordering {
    a.0.floor.cmp(&b.0.floor).then_with(|| match (a.0.exact, b.0.exact) {
        (true, true) => Ordering::Equal,
        (false, false) => compare(a.1, b.1),
        // of one floor, the number with a rest is the greater one; beyond the range the sign decides
        (true, false) if b.0.floor > -Nanos::MAX => Ordering::Less,
        (false, true) if a.0.floor > -Nanos::MAX => Ordering::Greater,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
    })
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
            Some(last) => self.inversions += u64::from(!last.precedes(&rank)),
            None => self.first = Some(rank.clone()),
        }
        self.last = Some(rank);
    }

    /// What follows.
    pub(super) fn append(&mut self, later: Ranks) {
        let seam = match (&self.last, &later.first) {
            (Some(last), Some(first)) => !last.precedes(first),
            _ => false,
        };
        self.inversions += later.inversions + u64::from(seam);
        self.first = self.first.take().or(later.first);
        self.last = later.last.or(self.last.take());
    }
}
