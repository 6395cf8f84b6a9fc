//! Texts of events: what a string holds, cut to what is shown.

use tracemill_tokenizer::unescape;

/// Bytes of a name that are kept: more is read from the event.
pub const NAME_MOST: usize = 200;

/// The content of a string, or a value as it stands; escapes are resolved in `scratch`.
pub fn content<'v>(value: &'v [u8], scratch: &'v mut Vec<u8>) -> &'v [u8] {
    let [b'"', inside @ .., b'"'] = value else { return value };
    if !inside.contains(&b'\\') {
        return inside;
    }
    scratch.clear();
    unescape(inside, scratch);
    scratch
}

/// A text cut to [`NAME_MOST`] bytes, between characters.
pub fn cut(text: &[u8]) -> &[u8] {
    if text.len() <= NAME_MOST {
        return text;
    }
    let is_within = |byte: u8| byte & 0xC0 == 0x80;
    let end = (NAME_MOST - 3..=NAME_MOST).rev().find(|&at| !is_within(text[at]));
    &text[..end.unwrap_or(NAME_MOST)]
}
