//! Finds the annotations of DevTools in a document.

use tracemill_tokenizer::string_is;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::json::member;
use tracemill_trace::store::Store;

/// Returns the index of the key with the annotations, its value, and the value of `modifications`.
/// Returns `None` if the document has no annotations.
pub fn modifications<'p>(
    document: &Document,
    store: &Store<'p>,
) -> Option<(usize, &'p [u8], &'p [u8])> {
    // the last of several `metadata` keys wins
    let number = document.keys.iter().rposition(|key| string_is(&key.key, b"metadata"))?;
    let key = &document.keys[number];
    let metadata = store.slice(key.offset, key.len);
    let modifications = member(metadata, b"modifications").filter(|m| m.starts_with(b"{"))?;
    Some((number, metadata, modifications))
}
