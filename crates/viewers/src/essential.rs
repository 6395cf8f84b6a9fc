//! Events that a piece of a trace needs from outside it, so that DevTools shows its pages and workers.

use tracemill_tokenizer::{Event, Field};

/// The event at which DevTools lets a trace of a browser begin.
pub const STARTED: &[u8] = b"TracingStartedInBrowser";

/// Events without which DevTools shows nothing of a page, by name (devtools-semantics §9, §15): they say which process
/// is a page's, when pages began, and which worker is whose.
pub(crate) const ESSENTIAL: [&[u8]; 6] = [
    STARTED,
    b"navigationStart",
    b"CommitLoad",
    b"FrameCommittedInBrowser",
    b"TracingStartedInPage",
    b"TracingSessionIdForWorker",
];

/// Threads that the panel of DevTools never shows in web traces, by name (devtools-semantics §9).
pub const HIDDEN_THREADS: [&str; 4] =
    ["Chrome_ChildIOThread", "Compositor", "GpuMemoryThread", "PerfettoTrace"];

/// The category of events that are calls made of samples. `tracemill-analysis` leaves them out where the samples stand beside them, since
/// it makes the calls of those.
pub const CALLS: &str = "v8.calls";

/// Whether an event may be essential or part of a CPU profile: what two bytes of its name tell.
#[inline]
pub fn may_be_special(event: &Event<'_>) -> bool {
    let Some([b'"', first, second, ..]) = event.field_and_rest(Field::Name) else { return false };
    match first {
        b'T' | b'F' | b'P' => matches!(second, b'r' | b'\\'),
        b'n' => matches!(second, b'a' | b'\\'),
        b'C' => matches!(second, b'o' | b'p' | b'\\'),
        b'\\' => true,
        _ => false,
    }
}

/// Whether an event is kept wherever it stands.
pub fn is_essential(event: &Event<'_>) -> bool {
    ESSENTIAL.iter().any(|text| event.is_string(Field::Name, text))
}

/// Whether an event is the one at which DevTools lets a trace begin (§11).
pub fn is_start(event: &Event<'_>) -> bool {
    event.is_string(Field::Name, STARTED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    #[test]
    fn names_are_read_through_escapes() {
        let essential =
            |event: &str| is_essential(&fields_of(event.as_bytes()).of(event.as_bytes()));
        for name in ["CommitLoad", "navigationStart", r"n\u0061vigationStart", r"\u0043ommitLoad"] {
            assert!(essential(&format!("{{\"name\":\"{name}\"}}")), "{name}");
        }
        let special =
            |event: &str| may_be_special(&fields_of(event.as_bytes()).of(event.as_bytes()));
        let streams = ["Profile", "ProfileChunk", "CpuProfile", r"P\u0072ofile", r"\u0050rofile"];
        let all = ESSENTIAL.map(|name| std::str::from_utf8(name).expect("ASCII"));
        for name in all.into_iter().chain(streams) {
            assert!(special(&format!("{{\"name\":\"{name}\"}}")), "{name}");
        }
        for name in ["CommitLoad2", "xCommitLoad", "", "T"] {
            assert!(!essential(&format!("{{\"name\":\"{name}\"}}")), "{name}");
        }
    }
}
