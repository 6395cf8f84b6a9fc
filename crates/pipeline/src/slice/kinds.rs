//! What an event is to a window: an interval of its own, an end of one, a moment, or something that is always kept.

pub(crate) use crate::essential::{is_essential, is_start, may_be_special};
use tracemill_core::record;
use tracemill_tokenizer::{Event, Nanos};

/// A part of something that lasts, by phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// `B`, `E`: nested in a thread.
    Slice,
    /// `b`, `e`
    Async,
    /// `S`, `F`
    Legacy,
    /// `s`, `t`, `f`
    Flow,
    /// `C`: lasts until the next one.
    Counter,
}

record! { enum Kind { Slice, Async, Legacy, Flow, Counter } }

impl Kind {
    /// The phase that ends it.
    pub(crate) fn end(self) -> &'static str {
        match self {
            Kind::Slice | Kind::Counter => "E",
            Kind::Async => "e",
            Kind::Legacy => "F",
            Kind::Flow => "f",
        }
    }
}

/// Which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    Begin,
    Middle,
    End,
}

record! { enum Step { Begin, Middle, End } }

/// What an event is, by its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// `X`
    Complete,
    Part(Kind, Step),
    /// `M`
    Metadata,
    /// Anything else happens at one moment.
    Moment,
}

impl Phase {
    #[inline]
    pub(crate) fn of(event: &Event<'_>) -> Phase {
        Phase::of_letter(event.phase())
    }

    /// That of a letter as [`Event::phase`] gives it.
    #[inline]
    pub(crate) fn of_letter(letter: u8) -> Phase {
        match letter {
            b'X' => Phase::Complete,
            b'M' => Phase::Metadata,
            b'B' => Phase::Part(Kind::Slice, Step::Begin),
            b'E' => Phase::Part(Kind::Slice, Step::End),
            b'b' => Phase::Part(Kind::Async, Step::Begin),
            b'e' => Phase::Part(Kind::Async, Step::End),
            b'S' => Phase::Part(Kind::Legacy, Step::Begin),
            b'F' => Phase::Part(Kind::Legacy, Step::End),
            b's' => Phase::Part(Kind::Flow, Step::Begin),
            b't' => Phase::Part(Kind::Flow, Step::Middle),
            b'f' => Phase::Part(Kind::Flow, Step::End),
            b'C' => Phase::Part(Kind::Counter, Step::Middle),
            _ => Phase::Moment,
        }
    }
}

/// The last nanosecond of an event that begins at `ts` and has this duration, or one behind it.
#[inline]
pub(crate) fn end_of(phase: Phase, ts: Nanos, dur: Option<Nanos>) -> i64 {
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
    fn phases_and_names_are_read_as_they_are_meant() {
        let phase = |event: &str| Phase::of(&fields_of(event.as_bytes()).of(event.as_bytes()));
        assert_eq!(phase(r#"{"ph":"X"}"#), Phase::Complete);
        assert_eq!(phase(r#"{"ph":"\u0058"}"#), Phase::Complete);
        assert_eq!(phase(r#"{"ph":"XX"}"#), Phase::Moment);
        assert_eq!(phase(r#"{"ph":5}"#), Phase::Moment);
        assert_eq!(phase(r#"{}"#), Phase::Moment);
        assert_eq!(phase(r#"{"ph":"M"}"#), Phase::Metadata);
        assert_eq!(phase(r#"{"ph":"\u004d"}"#), Phase::Metadata);
        assert_eq!(phase(r#"{"ph":"f"}"#), Phase::Part(Kind::Flow, Step::End));
        let essential =
            |event: &str| is_essential(&fields_of(event.as_bytes()).of(event.as_bytes()));
        for name in ["CommitLoad", "navigationStart", r"n\u0061vigationStart", r"\u0043ommitLoad"] {
            assert!(essential(&format!("{{\"name\":\"{name}\"}}")), "{name}");
        }
        let special =
            |event: &str| may_be_special(&fields_of(event.as_bytes()).of(event.as_bytes()));
        let streams = ["Profile", "ProfileChunk", "CpuProfile", r"P\u0072ofile", r"\u0050rofile"];
        let all = crate::essential::ESSENTIAL.map(|name| std::str::from_utf8(name).expect("ASCII"));
        for name in all.into_iter().chain(streams) {
            assert!(special(&format!("{{\"name\":\"{name}\"}}")), "{name}");
        }
        for name in ["CommitLoad2", "xCommitLoad", "", "T"] {
            assert!(!essential(&format!("{{\"name\":\"{name}\"}}")), "{name}");
        }
    }
}
