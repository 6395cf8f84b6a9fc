//! What a trace itself says it lost: counts of dropped events among its keys outside the events.
//!
//! Recorders write such counts under names of their own: `dataLossOccurred` and `trace_processor_stats` of Chrome, `overflow`
//! of VizTracer. A member whose name has a word of `WORDS` and whose value is true or positive says so.

use tracemill_tokenizer::{members, to_text};
use tracemill_trace::json::elements;

/// Words in names of such counts.
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

/// Top-level keys that are data of events, and tables of names, not of counts.
const DATA: [&[u8]; 3] = [b"\"stackFrames\"", b"\"samples\"", b"\"systemTraceEvents\""];

/// Objects in each other that are looked into.
const DEPTH: usize = 5;

/// Counts that are reported at most.
pub const MOST: usize = 20;

/// A count that the trace has of what it lost.
pub struct ReportedLoss {
    /// Its name and value.
    pub text: String,
    /// Offset of its name from the start of the value.
    pub offset: u64,
}

/// Finds the counts in the value of a key outside the events. Cost: a look at each byte, unless the value has no object.
pub fn reported_losses(key: &[u8], value: &[u8]) -> Vec<ReportedLoss> {
    let mut found = Vec::new();
    if !DATA.contains(&key) {
        look_into(value, value.as_ptr() as usize, 0, &mut found);
    }
    found
}

/// Finds them in a value that lies in so many others, the outermost of which is at `start`.
fn look_into(value: &[u8], start: usize, depth: usize, found: &mut Vec<ReportedLoss>) {
    if value.starts_with(b"[") && depth < DEPTH {
        elements(value).for_each(|value| look_into(value, start, depth + 1, found));
    }
    for (name, value) in members(value).filter(|_| value.starts_with(b"{")) {
        if found.len() == MOST {
            return;
        }
        match value.first() {
            // constants of Chrome by name
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

/// Whether a name, in camel case or of words with anything between them, has one of [`WORDS`].
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
