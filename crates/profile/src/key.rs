//! What tells streams apart: (pid, id), types strict, as in DevTools; where there is no `id`, `id2` takes its place (DevTools
//! would fuse all streams of the process).

use tracemill_tokenizer::{Event, Field, canonical, unescape};

/// A value as it is written.
pub(crate) type Written = Box<[u8]>;

/// (pid, id), canonical and joined.
pub type StreamKey = Vec<u8>;

/// The key of an event's stream.
pub fn stream_key(event: &Event<'_>) -> StreamKey {
    let mut key = Vec::new();
    push_canonical(event.field(Field::Pid), &mut key);
    match event.field(Field::Id) {
        None if event.field(Field::Id2).is_some() => {
            key.push(b'2');
            push_canonical(event.field(Field::Id2), &mut key);
        }
        id => push_canonical(id, &mut key),
    }
    key
}

/// A form of a value that is the same for equal values of one type only.
pub fn push_canonical(value: Option<&[u8]>, key: &mut Vec<u8>) {
    match value {
        None => key.push(b'-'),
        Some([quote @ b'"', content @ .., b'"']) => {
            key.push(*quote);
            let mut text = Vec::new();
            unescape(content, &mut text);
            // the length keeps ("a", "b") and ("a\0b", …) apart
            key.extend_from_slice(&(text.len() as u64).to_le_bytes());
            key.extend_from_slice(&text);
        }
        Some(value) => {
            key.push(b'#');
            if !canonical(value, key) {
                key.extend_from_slice(value);
            }
        }
    }
    key.push(0);
}
