//! Events that every excerpt of a trace keeps, so that DevTools recognizes its pages and workers.

use tracemill_tokenizer::{Event, Field};

/// Name of the event at which DevTools starts a browser trace.
pub const STARTED: &[u8] = b"TracingStartedInBrowser";

/// Names of the events without which DevTools shows no page. The events identify the process and
/// the start of each page, and the owner of each worker.
pub(crate) const ESSENTIAL: [&[u8]; 6] = [
    STARTED,
    b"navigationStart",
    b"CommitLoad",
    b"FrameCommittedInBrowser",
    b"TracingStartedInPage",
    b"TracingSessionIdForWorker",
];

/// Names of threads that the Performance panel never shows in web traces.
pub const HIDDEN_THREADS: [&str; 4] =
    ["Chrome_ChildIOThread", "Compositor", "GpuMemoryThread", "PerfettoTrace"];

/// Category of events that record JavaScript calls. `tracemill-analysis` ignores such events if the
/// trace has CPU samples, because it derives the calls from the samples.
pub const CALLS: &str = "v8.calls";

/// Returns whether an event may be essential or part of a CPU profile, judging by two bytes of its
/// name.
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

/// Returns whether an event is kept in every excerpt.
pub fn is_essential(event: &Event<'_>) -> bool {
    ESSENTIAL.iter().any(|text| event.is_string(Field::Name, text))
}

/// Returns whether an event is the one at which DevTools starts the trace.
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
