//! The top-level key by which `split` marks a part.
//!
//! ```text
//!   "tracemill":{"part_of":{"events":9,"bytes":712,"first_ns":1000,"last_ns":70000}}
//! ```
//!
//! `part_of` describes the whole trace. Parts with byte-identical `part_of` belong to one trace:
//! they keep their pids and ids, and metadata events repeated in several parts are written once
//! (`dedup`).

use tracemill_tokenizer::{Form, members, unescape};
use tracemill_trace::event::envelope::Document;
use tracemill_trace::read::Inputs;

/// Returns the value of the key for a part; `of` describes the whole trace.
pub fn statement(of: &str) -> Vec<u8> {
    format!("{{\"part_of\":{of}}}").into_bytes()
}

/// Returns the description of the whole trace in a top-level key, or `None` if `split` did not
/// write the key.
fn whole_of<'v>(key: &[u8], value: &'v [u8]) -> Option<&'v [u8]> {
    let mut name = Vec::new();
    unescape(key.get(1..key.len() - 1)?, &mut name);
    if name != b"tracemill" && !name.starts_with(b"tracemill.") {
        return None;
    }
    let mut all = members(value).filter(|_| value.starts_with(b"{"));
    let (key, of) = all.next()?;
    (key == b"\"part_of\"" && of.starts_with(b"{") && all.next().is_none()).then_some(of)
}

/// Maps offsets of events to the part that contains them.
pub struct InputParts {
    /// Ends of the ranges, ascending, each with the description of the whole if the range belongs
    /// to a part.
    spans: Vec<(u64, Option<Vec<u8>>)>,
}

impl InputParts {
    /// Finds the parts among `documents`.
    ///
    /// Cost: one check of each key named `tracemill`.
    pub fn of(documents: &[Document], inputs: &Inputs) -> Self {
        let store = inputs.store();
        let keys = documents
            .iter()
            .flat_map(|document| document.keys.iter().map(move |key| (document.form, key)));
        let mut signs: Vec<(u64, Form, Vec<u8>)> = keys
            .filter_map(|(form, key)| {
                let of = whole_of(&key.key, store.slice(key.offset, key.len))?;
                Some((key.offset, form, of.to_vec()))
            })
            .collect();
        signs.sort_by_key(|sign| sign.0);
        let mut spans = Vec::new();
        let mut signs = signs.into_iter().peekable();
        for held in &inputs.payloads {
            let end = held.base + held.payload.len();
            let mut last = None;
            // the key follows the events of its document; in NDJSON it precedes them
            while let Some((at, form, of)) = signs.next_if(|sign| sign.0 < end) {
                let (before, behind) = match form {
                    Form::Ndjson => (last.take(), Some(of)),
                    _ => (Some(of), None),
                };
                spans.push((at, before));
                last = behind;
            }
            spans.push((end, last));
        }
        InputParts { spans }
    }

    /// Returns whether no input is a part.
    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|span| span.1.is_none())
    }

    /// Returns the number of the range that contains an event. Each document is one range or more.
    pub fn number(&self, offset: u64) -> usize {
        self.spans.partition_point(|span| span.0 <= offset)
    }

    /// Returns the description of the whole for the part that contains an offset.
    pub fn whole_at(&self, offset: u64) -> Option<&[u8]> {
        self.spans.get(self.number(offset))?.1.as_deref()
    }

    /// Returns the description of the whole for the first part between two offsets.
    pub(crate) fn first_between(&self, base: u64, end: u64) -> Option<&[u8]> {
        let spans = &self.spans[self.number(base)..self.number(end)];
        spans.iter().find_map(|span| span.1.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_parts_are_known_and_others_not() {
        let value = statement(r#"{"events":2}"#);
        for key in [&b"\"tracemill\""[..], b"\"tracemill.2\""] {
            assert_eq!(whole_of(key, &value), Some(&br#"{"events":2}"#[..]));
        }
        assert_eq!(whole_of(b"\"other\"", &value), None);
        for value in [r#"{"part_of":{},"x":1}"#, r#"{"part_of":1}"#, r#"{"inputs":[]}"#, "{}", "[]"]
        {
            assert_eq!(whole_of(b"\"tracemill\"", value.as_bytes()), None, "{value}");
        }
    }
}
