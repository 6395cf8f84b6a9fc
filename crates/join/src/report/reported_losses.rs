//! Finds the losses that a trace itself reports: counts of dropped events in its top-level keys.
//!
//! Recorders name such counts differently: Chrome writes `dataLossOccurred` and
//! `trace_processor_stats`, VizTracer `overflow`. A member counts if its name contains a word of
//! `WORDS` and its value is true or positive.

use tracemill_tokenizer::{members, to_text};
use tracemill_trace::json::elements;

const WORDS: [&str; 13] = [
    "loss",
    "losses",
    "lost",
    "drops",
    "dropped",
    "overwritten",
    "overflow",
    "overflows",
    "overflowed",
    "overrun",
    "overruns",
    "discarded",
    "failure",
];

/// Top-level keys that hold event data or tables of names, and no counts.
const DATA: [&[u8]; 3] = [b"\"stackFrames\"", b"\"samples\"", b"\"systemTraceEvents\""];

const DEPTH: usize = 5;

/// Maximum number of counts to report.
pub const MOST: usize = 20;

/// A count of losses that the trace reports.
pub struct ReportedLoss {
    /// Name and value of the member.
    pub text: String,
    /// Offset of the name from the start of the value.
    pub offset: u64,
}

/// Finds the counts in the value of a top-level key. Cost: one pass over the value.
pub fn reported_losses(key: &[u8], value: &[u8]) -> Vec<ReportedLoss> {
    let mut found = Vec::new();
    if !DATA.contains(&key) {
        look_into(value, value.as_ptr() as usize, 0, &mut found);
    }
    found
}

/// Finds the counts in a value nested `depth` levels inside the value at address `start`.
fn look_into(value: &[u8], start: usize, depth: usize, found: &mut Vec<ReportedLoss>) {
    if value.starts_with(b"[") && depth < DEPTH {
        elements(value).for_each(|value| look_into(value, start, depth + 1, found));
    }
    for (name, value) in members(value).filter(|_| value.starts_with(b"{")) {
        if found.len() == MOST {
            return;
        }
        match value.first() {
            // net-constants: Chrome's tables of constants
            _ if name.starts_with(b"\"net-constant") => {}
            Some(b'{' | b'[') if depth < DEPTH => look_into(value, start, depth + 1, found),
            Some(b'1'..=b'9' | b't') if is_count_of_losses(name) => {
                let text = format!("{}: {}", to_text(name).trim_matches('"'), to_text(value));
                let offset = (name.as_ptr() as usize - start) as u64;
                found.push(ReportedLoss { text, offset });
            }
            _ => {}
        }
    }
}

/// Returns whether a name contains one of [`WORDS`]. Words are separated by camel case or any other
/// characters.
fn is_count_of_losses(name: &[u8]) -> bool {
    let ends = |pair: &[u8]| !(pair[0].is_ascii_alphabetic() && pair[1].is_ascii_lowercase());
    let mut at = 0;
    let mut words = std::iter::from_fn(|| {
        let rest = name.get(at..).filter(|rest| !rest.is_empty())?;
        let len = rest.windows(2).position(ends).map_or(rest.len(), |last| last + 1);
        at += len;
        Some(rest[..len].to_ascii_lowercase())
    });
    words.any(|word| WORDS.iter().any(|known| word == known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_losses_are_found_by_their_names() {
        let text = r#"{"dataLossOccurred":true,"lossless":true,"version":2,"dropped":0,"lost":false,
            "stats":{"traced_buf":[{"chunks_overwritten":7,"size":5}],"json_tokenizer_failure":3},
            "net-constant-x":{"PACKET_LOST":4},"PACKET_LOST":4}"#;
        let found = reported_losses(b"\"metadata\"", text.as_bytes());
        let texts: Vec<_> = found.iter().map(|loss| &*loss.text).collect();
        let expected =
            ["dataLossOccurred: true", "chunks_overwritten: 7", "json_tokenizer_failure: 3"];
        assert_eq!(texts, expected);
        assert!(found.iter().all(|loss| text[loss.offset as usize..].starts_with('"')));
        assert!(reported_losses(b"\"samples\"", text.as_bytes()).is_empty());
        assert!(reported_losses(b"\"lost\"", b"5").is_empty());
    }
}
