//! What an event is by its phase: a complete event, a part of a pair, metadata, or an instant.

use crate::record;
use tracemill_tokenizer::{Event, Nanos};

/// What the events of a pair are parts of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PairKind {
    /// `B`, `E`: a slice, nested in a thread.
    Slice,
    /// `b`, `e`: an async slice.
    Async,
    /// `S`, `F`: an async slice of the legacy form.
    Legacy,
    /// `s`, `t`, `f`: a flow.
    Flow,
    /// `C`: a counter value, which lasts until the next one.
    Counter,
}

record! { enum PairKind { Slice, Async, Legacy, Flow, Counter } }

impl PairKind {
    /// Returns the phase that ends it.
    pub fn end(self) -> &'static str {
        match self {
            PairKind::Slice | PairKind::Counter => "E",
            PairKind::Async => "e",
            PairKind::Legacy => "F",
            PairKind::Flow => "f",
        }
    }
}

/// Which part of a pair an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PairStep {
    /// The begin event.
    Begin,
    /// A step of a flow, or a counter value.
    Middle,
    /// The end event.
    End,
}

record! { enum PairStep { Begin, Middle, End } }

/// What an event is, by its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// `X`
    Complete,
    /// A part of a pair, a flow or a counter.
    Part(PairKind, PairStep),
    /// `M`
    Metadata,
    /// Any other phase: an instant.
    Instant,
}

impl Phase {
    /// Returns the phase of an event.
    #[inline]
    pub fn of(event: &Event<'_>) -> Phase {
        Phase::of_letter(event.phase())
    }

    /// Returns the phase of a letter, as [`Event::phase`] returns it.
    #[inline]
    pub fn of_letter(letter: u8) -> Phase {
        match letter {
            b'X' => Phase::Complete,
            b'M' => Phase::Metadata,
            b'B' => Phase::Part(PairKind::Slice, PairStep::Begin),
            b'E' => Phase::Part(PairKind::Slice, PairStep::End),
            b'b' => Phase::Part(PairKind::Async, PairStep::Begin),
            b'e' => Phase::Part(PairKind::Async, PairStep::End),
            b'S' => Phase::Part(PairKind::Legacy, PairStep::Begin),
            b'F' => Phase::Part(PairKind::Legacy, PairStep::End),
            b's' => Phase::Part(PairKind::Flow, PairStep::Begin),
            b't' => Phase::Part(PairKind::Flow, PairStep::Middle),
            b'f' => Phase::Part(PairKind::Flow, PairStep::End),
            b'C' => Phase::Part(PairKind::Counter, PairStep::Middle),
            _ => Phase::Instant,
        }
    }
}

/// Returns the last nanosecond of an event that begins at `ts` and has this duration, rounded up.
#[inline]
pub fn end_of(phase: Phase, ts: Nanos, dur: Option<Nanos>) -> i64 {
    match dur.filter(|dur| phase == Phase::Complete && dur.floor >= 0) {
        // rounded up: beyond an edge in doubt
        Some(dur) => {
            let rest = i64::from(!ts.exact) + i64::from(!dur.exact);
            ts.floor.saturating_add(dur.floor).saturating_add(rest)
        }
        None => ts.floor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    #[test]
    fn phases_are_read_through_escapes_and_other_types() {
        let phase = |event: &str| Phase::of(&fields_of(event.as_bytes()).of(event.as_bytes()));
        assert_eq!(phase(r#"{"ph":"X"}"#), Phase::Complete);
        assert_eq!(phase(r#"{"ph":"\u0058"}"#), Phase::Complete);
        assert_eq!(phase(r#"{"ph":"XX"}"#), Phase::Instant);
        assert_eq!(phase(r#"{"ph":5}"#), Phase::Instant);
        assert_eq!(phase(r#"{}"#), Phase::Instant);
        assert_eq!(phase(r#"{"ph":"M"}"#), Phase::Metadata);
        assert_eq!(phase(r#"{"ph":"\u004d"}"#), Phase::Metadata);
        assert_eq!(phase(r#"{"ph":"f"}"#), Phase::Part(PairKind::Flow, PairStep::End));
    }
}
