//! Names of events, cut to their displayed length.

/// Maximum bytes of a stored name; longer names are read from the event.
pub const NAME_MOST: usize = 200;

/// Cuts a text to [`NAME_MOST`] bytes, between characters.
pub fn cut(text: &[u8]) -> &[u8] {
    if text.len() <= NAME_MOST {
        return text;
    }
    let is_within = |byte: u8| byte & 0xC0 == 0x80;
    let end = (NAME_MOST - 3..=NAME_MOST).rev().find(|&at| !is_within(text[at]));
    &text[..end.unwrap_or(NAME_MOST)]
}
