//! What a part that `split` made says of itself: one key beside its events.
//!
//! ```text
//!   "tracemill":{"part_of":{"events":9,"bytes":712,"first_ns":1000,"last_ns":70000}}
//! ```
//!
//! `part_of` says what the whole was. Parts in which it is equal to the byte are parts of one trace: they keep their pids
//! and ids, and metadata events that several of them have come once (`dedup`).

use tracemill_tokenizer::{Form, members, unescape};
use tracemill_trace::event::envelope::Document;
use tracemill_trace::read::Inputs;

/// The value of the key of a part of a whole that `of` describes.
pub fn statement(of: &str) -> Vec<u8> {
    format!("{{\"part_of\":{of}}}").into_bytes()
}

/// What the whole of a part was, by a key of its document; `None` if it is none that `split` wrote.
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

/// The parts among the inputs, by where their events stand.
pub struct InputParts {
    /// Where stretches end, ascending, each with what the whole was of the part whose events stand there.
    stretches: Vec<(u64, Option<Vec<u8>>)>,
}

impl InputParts {
    /// Finds the parts among `documents`.
    ///
    /// Cost: one look at each key called `tracemill`.
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
        let mut stretches = Vec::new();
        let mut signs = signs.into_iter().peekable();
        for held in &inputs.payloads {
            let end = held.base + held.payload.len();
            let mut last = None;
            // the key stands behind the events of its document, in NDJSON before them
            while let Some((at, form, of)) = signs.next_if(|sign| sign.0 < end) {
                let (before, behind) = match form {
                    Form::Ndjson => (last.take(), Some(of)),
                    _ => (Some(of), None),
                };
                stretches.push((at, before));
                last = behind;
            }
            stretches.push((end, last));
        }
        InputParts { stretches }
    }

    /// Whether no input is a part.
    pub fn is_empty(&self) -> bool {
        self.stretches.iter().all(|stretch| stretch.1.is_none())
    }

    /// The number of the stretch in which an event stands. Events of several documents are in several.
    pub fn number(&self, offset: u64) -> usize {
        self.stretches.partition_point(|stretch| stretch.0 <= offset)
    }

    /// What the whole was of the part that the event at a place is of.
    pub fn whole_at(&self, offset: u64) -> Option<&[u8]> {
        self.stretches.get(self.number(offset))?.1.as_deref()
    }

    /// What the whole was of the first part that stands between two places.
    pub(crate) fn first_between(&self, base: u64, end: u64) -> Option<&[u8]> {
        let own = &self.stretches[self.number(base)..self.number(end)];
        own.iter().find_map(|stretch| stretch.1.as_deref())
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
