//! Classifies events by phase: complete event, member of a pair, metadata, or instant.

use crate::record;
use tracemill_tokenizer::{Event, Nanos};

/// The kind of pair, flow or counter that an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PairKind {
    /// Slice of a thread: `B`, `E`.
    Slice,
    /// Async slice: `b`, `e`.
    Async,
    /// Async slice of the legacy form: `S`, `F`.
    Legacy,
    /// Flow: `s`, `t`, `f`.
    Flow,
    /// Counter: `C`. Each value lasts until the next value.
    Counter,
}

record! { enum PairKind { Slice, Async, Legacy, Flow, Counter } }

impl PairKind {
    /// Returns the phase that ends a pair of this kind.
    pub fn end(self) -> &'static str {
        match self {
            PairKind::Slice | PairKind::Counter => "E",
            PairKind::Async => "e",
            PairKind::Legacy => "F",
            PairKind::Flow => "f",
        }
    }
}

/// The position of an event in its pair or flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PairStep {
    /// Begin event.
    Begin,
    /// Step of a flow, or counter value.
    Middle,
    /// End event.
    End,
}

record! { enum PairStep { Begin, Middle, End } }

/// The class of an event, by its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Complete event: `X`.
    Complete,
    /// Member of a pair, flow or counter.
    Part(PairKind, PairStep),
    /// Metadata event: `M`.
    Metadata,
    /// Instant: any other phase.
    Instant,
}

impl Phase {
    /// Returns the class of an event.
    #[inline]
    pub fn of(event: &Event<'_>) -> Phase {
        Phase::of_letter(event.phase())
    }

    /// Returns the class of a phase letter as returned by [`Event::phase`].
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

/// Returns the end of a complete event in nanoseconds, rounded up, or the `ts` of any other event.
#[inline]
pub fn end_of(phase: Phase, ts: Nanos, dur: Option<Nanos>) -> i64 {
    match dur.filter(|dur| phase == Phase::Complete && dur.floor >= 0) {
        // rounded up, so that in doubt the event ends after an edge
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
