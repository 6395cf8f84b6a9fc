//! Sort keys of timed events that need no bytes of the events, for commands that check the order of
//! a trace.

use crate::time::attos::Attos;
use crate::time::shift::Shift;
use std::cmp::Reverse;
use tracemill_tokenizer::{Event, Field, Nanos};

/// The sort key of a timed event, except for its offset: 32 bytes.
///
/// ```
/// use tracemill_trace::order::Stamp;
/// use tracemill_tokenizer::fields_of;
///
/// let stamp = |event: &str| {
///     let spans = fields_of(event.as_bytes());
///     let event = spans.of(event.as_bytes());
///     Stamp::of(&event, event.ts().expect("a time"), event.dur())
/// };
/// let [a, b, c] = [r#"{"ts":5,"dur":2}"#, r#"{"ts":5}"#, r#"{"ts":5.00001,"dur":9}"#].map(stamp);
/// assert!(b > a, "at one time the longer comes first");
/// assert!(c > b, "digits below a nanosecond count");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    ts: Attos,
    dur: Reverse<Attos>,
}

impl Stamp {
    /// Creates the stamp of an event, given its times in nanoseconds.
    #[inline]
    pub fn of(event: &Event<'_>, ts: Nanos, dur: Option<Nanos>) -> Self {
        let completed = |ns: Nanos, field| match ns {
            Nanos { floor, exact: true } => Attos::from_nanos(floor),
            _ => Attos::saturated(event.field(field)),
        };
        let dur = dur.map_or(Attos::ZERO, |dur| completed(dur, Field::Dur));
        Stamp { ts: completed(ts, Field::Ts), dur: Reverse(dur) }
    }

    /// Creates the stamp of an event as it will be written, with its times adjusted by `shift`.
    pub(super) fn moved(event: &Event<'_>, shift: Option<&Shift>) -> Self {
        let [ts, dur] = [Field::Ts, Field::Dur].map(|field| Attos::saturated(event.field(field)));
        match shift {
            Some(shift) => Stamp { ts: shift.point(ts), dur: Reverse(shift.length(dur)) },
            None => Stamp { ts, dur: Reverse(dur) },
        }
    }
}
