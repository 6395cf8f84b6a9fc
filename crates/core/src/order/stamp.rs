//! The places of timed events in the order, kept without the bytes they came from: for verbs that look whether a trace is
//! in order, and neither sort it nor hold it.

use std::cmp::Ordering;
use tracemill_tokenizer::{Event, Field, Nanos, compare, number_text};

/// Digits of ts and dur, where nanoseconds are not all of them.
type Texts = Box<[Vec<u8>; 2]>;

/// The place of a timed event in the order, without the bytes it came from: 40 bytes, and the digits of times that are finer than a nanosecond.
///
/// ```
/// use tracemill_core::order::Stamp;
/// use tracemill_tokenizer::fields_of;
///
/// let stamp = |event: &str| {
///     let spans = fields_of(event.as_bytes());
///     let event = spans.of(event.as_bytes());
///     Stamp::of(&event, event.ts().expect("a time"), event.dur())
/// };
/// let [a, b, c] = [r#"{"ts":5,"dur":2}"#, r#"{"ts":5}"#, r#"{"ts":5.00001,"dur":9}"#].map(stamp);
/// assert!(b.is_after(&a), "at one time the longer comes first");
/// assert!(c.is_after(&b) && !b.is_after(&c), "digits below a nanosecond count");
/// assert!(!a.is_after(&a), "equal ones are in order");
/// ```
#[derive(Clone, Debug)]
pub struct Stamp {
    ts: Nanos,
    dur: Nanos,
    /// Only where nanoseconds are not all there is.
    texts: Option<Texts>,
}

impl Stamp {
    /// The stamp of an event whose time and duration were read already.
    #[inline]
    pub fn of(event: &Event<'_>, ts: Nanos, dur: Option<Nanos>) -> Self {
        let dur = dur.unwrap_or(Nanos { floor: 0, exact: true });
        let texts = if ts.exact && dur.exact { None } else { Some(texts(event)) };
        Stamp { ts, dur, texts }
    }

    /// Whether this one stands behind `next` in the order: then they are the wrong way round.
    #[inline]
    pub fn is_after(&self, next: &Stamp) -> bool {
        if self.texts.is_none() && next.texts.is_none() {
            let (a, b) = (self.ts.floor, next.ts.floor);
            return a > b || a == b && self.dur.floor < next.dur.floor;
        }
        self.is_after_slowly(next)
    }

    #[cold]
    fn is_after_slowly(&self, next: &Stamp) -> bool {
        let by_ts = compare_numbers((self.ts, self.text(0)), (next.ts, next.text(0)));
        let by_dur = || compare_numbers((next.dur, next.text(1)), (self.dur, self.text(1)));
        by_ts.then_with(by_dur).is_gt()
    }

    fn text(&self, number: usize) -> &[u8] {
        self.texts.as_ref().map_or(b"0", |texts| &texts[number])
    }
}

#[cold]
fn texts(event: &Event<'_>) -> Texts {
    let text = |field| {
        let mut scratch = Vec::new();
        let value = event.field(field).and_then(|value| number_text(value, &mut scratch));
        value.unwrap_or(b"0").to_vec()
    };
    Box::new([text(Field::Ts), text(Field::Dur)])
}

/// Exact numbers: what is known of them, and their digits.
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
