//! Byte-by-byte helpers for JSON text: white space, strings, members. The crate applies them to
//! single keys and values, never to whole files.

pub(crate) mod field;
pub(crate) mod lapse;
pub(crate) mod number;
pub(crate) mod reader;
pub(crate) mod restyle;
pub mod swar;

use crate::text::swar::{equal_bytes, first};
use std::str::FromStr;

/// Returns whether `byte` is JSON white space.
#[inline(always)]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// Returns the first offset at or after `at` that is not white space.
#[inline(always)]
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && is_space(bytes[at]) {
        at += 1;
    }
    at
}

/// Returns the end of `bytes[..end]` without trailing white space.
#[inline(always)]
pub(crate) fn trim_end(bytes: &[u8], mut end: usize) -> usize {
    while end > 0 && is_space(bytes[end - 1]) {
        end -= 1;
    }
    end
}

/// Returns whether the white space `value[from..to]` separates two words or strings. JSON does not
/// allow that, but without the white space the words would merge.
pub(crate) fn is_kept_apart(value: &[u8], from: usize, to: usize) -> bool {
    let is_word = |byte: &u8| !matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':');
    value[..from].last().is_some_and(is_word) && value.get(to).is_some_and(is_word)
}

/// Returns the offset after the closing quote of the string whose opening quote is at `at`. Returns
/// `None` if the string does not end.
///
/// Processes eight bytes per step, because names and URLs are too short for wider vectors. Does not
/// check the opening quote again: a mapped file may have changed, which is detected after reading.
#[inline]
pub(crate) fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut i = at + 1;
    loop {
        if let Some(word) = bytes[i.min(bytes.len())..].first_chunk::<8>() {
            let word = u64::from_le_bytes(*word);
            let found = equal_bytes(word, b'"') | equal_bytes(word, b'\\');
            if found == 0 {
                i += 8;
                continue;
            }
            i += first(found);
        }
        match bytes.get(i)? {
            b'"' => return Some(i + 1),
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
}

/// Returns the opening quote of the string whose closing quote is at `close`.
pub(crate) fn string_start(bytes: &[u8], close: usize) -> Option<usize> {
    let mut end = close;
    loop {
        let quote = bytes[..end].iter().rposition(|&b| b == b'"')?;
        let slashes = bytes[..quote].iter().rev().take_while(|&&b| b == b'\\').count();
        if slashes.is_multiple_of(2) {
            return Some(quote);
        }
        end = quote;
    }
}

/// Returns whether a raw JSON string, with quotes, equals `text` when unescaped.
///
/// ```
/// use tracemill_tokenizer::string_is;
///
/// assert!(string_is(br#""caf\u00e9""#, "café".as_bytes()));
/// assert!(!string_is(b"7", b"7"), "a number is no string");
/// ```
pub fn string_is(string: &[u8], text: &[u8]) -> bool {
    let [b'"', content @ .., b'"'] = string else { return false };
    // a string with escapes is longer than its content
    if content.len() <= text.len() && content != text {
        return false;
    }
    if !content.contains(&b'\\') {
        return content == text;
    }
    // an escape takes at most six bytes for one
    if content.len() > 6 * text.len() {
        return false;
    }
    let mut plain = Vec::new();
    unescape(content, &mut plain);
    plain == text
}

/// Appends `value` as one line, without the white space around line breaks outside strings.
///
/// A raw line break inside a string, which JSON does not allow, becomes an escape. A line break
/// that separates two words or strings becomes a blank. Returns the number of line breaks in
/// strings.
///
/// ```
/// let mut out = Vec::new();
/// tracemill_tokenizer::on_one_line(b"{\n  \"a\": 1\n}", &mut out);
/// assert_eq!(out, b"{\"a\": 1}");
/// ```
pub fn on_one_line(value: &[u8], out: &mut Vec<u8>) -> usize {
    let (mut escaped, mut at) = (0, 0);
    while at < value.len() {
        if value[at] == b'"' {
            let end = string_end(value, at).unwrap_or(value.len()).min(value.len());
            for &byte in &value[at..end] {
                match byte {
                    b'\n' => out.extend_from_slice(b"\\n"),
                    b'\r' => out.extend_from_slice(b"\\r"),
                    _ => out.push(byte),
                }
                escaped += usize::from(byte == b'\n' || byte == b'\r');
            }
            at = end;
        } else if is_space(value[at]) {
            let end = skip_space(value, at);
            let space = &value[at..end];
            if !space.contains(&b'\n') && !space.contains(&b'\r') {
                out.extend_from_slice(space);
            } else if is_kept_apart(value, at, end) {
                out.push(b' ');
            }
            at = end;
        } else {
            out.push(value[at]);
            at += 1;
        }
    }
    escaped
}

/// Appends the unescaped `content` of a JSON string.
///
/// Lone surrogates become three bytes (as in WTF-8), and malformed escapes stay, so that different
/// strings stay different.
///
/// ```
/// let mut out = Vec::new();
/// tracemill_tokenizer::unescape(br"C:\\a \u00e9 \q", &mut out);
/// assert_eq!(out, r"C:\a é \q".as_bytes());
/// ```
pub fn unescape(content: &[u8], out: &mut Vec<u8>) {
    let mut rest = content;
    while let Some(slash) = rest.iter().position(|&b| b == b'\\') {
        out.extend_from_slice(&rest[..slash]);
        rest = &rest[slash..];
        let (plain, used) = match rest.get(1) {
            Some(b'n') => (b'\n', 2),
            Some(b't') => (b'\t', 2),
            Some(b'r') => (b'\r', 2),
            Some(b'b') => (8, 2),
            Some(b'f') => (12, 2),
            Some(&quoted @ (b'"' | b'\\' | b'/')) => (quoted, 2),
            Some(b'u') => {
                if let Some((code, used)) = escaped_code_point(rest) {
                    push_code_point(code, out);
                    rest = &rest[used..];
                    continue;
                }
                (b'\\', 1)
            }
            _ => (b'\\', 1),
        };
        out.push(plain);
        rest = &rest[used..];
    }
    out.extend_from_slice(rest);
}

/// Converts the result of [`unescape`] to text. A lone surrogate becomes one U+FFFD, as does any
/// other invalid UTF-8.
///
/// ```
/// let mut content = Vec::new();
/// tracemill_tokenizer::unescape(br"a\ud83db", &mut content);
/// assert_eq!(tracemill_tokenizer::unescaped_text(&content), "a\u{FFFD}b");
/// ```
pub fn unescaped_text(content: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(content) {
        return text.to_owned();
    }
    let mut bytes = content.to_vec();
    for at in 0..bytes.len().saturating_sub(2) {
        // no valid UTF-8 contains these two bytes
        if bytes[at] == 0xED && bytes[at + 1] >= 0xA0 {
            bytes[at..at + 3].copy_from_slice("\u{FFFD}".as_bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the code point of the `\u` escape at the start of `text`, and the length of the escape:
/// 12 bytes for a surrogate pair, else 6. A lone surrogate is its own code point. Returns `None` if
/// `text` does not begin with such an escape.
///
/// ```
/// use tracemill_tokenizer::escaped_code_point;
///
/// assert_eq!(escaped_code_point(br"\u00e9t\u00e9"), Some((0xE9, 6)));
/// assert_eq!(escaped_code_point(br"\ud83d\ude00"), Some((0x1F600, 12)));
/// assert_eq!(escaped_code_point(br"\ud83d!"), Some((0xD83D, 6)));
/// assert_eq!(escaped_code_point(br"\n"), None);
/// ```
pub fn escaped_code_point(text: &[u8]) -> Option<(u32, usize)> {
    let unit = hex_unit(text)?;
    if (0xD800..0xDC00).contains(&unit)
        && let Some(low @ 0xDC00..0xE000) = hex_unit(&text[6..])
    {
        return Some((0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), 12));
    }
    Some((unit, 6))
}

/// Returns the code unit of the escape at the start of `text`.
fn hex_unit(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, &b| Some(unit * 16 + char::from(b).to_digit(16)?))
}

/// Converts bytes to text; invalid UTF-8 becomes U+FFFD.
///
/// Copies the bytes before validating them, because bytes of a mapped file may change in between
/// and a `str` must not.
///
/// ```
/// assert_eq!(tracemill_tokenizer::to_text(b"a\xFFb"), "a\u{FFFD}b");
/// ```
pub fn to_text(bytes: &[u8]) -> String {
    let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    String::from_utf8(bytes.to_vec()).unwrap_or_else(|e| lossy(e.into_bytes()))
}

/// Parses a number in Rust notation. Returns `None` if `bytes` are not such a number. Copies the
/// bytes first, as [`to_text`] does.
///
/// ```
/// use tracemill_tokenizer::parse;
///
/// assert_eq!((parse(b"12"), parse(b"-1"), parse::<u32>(b"1.5")), (Some(12u32), Some(-1i64), None));
/// ```
pub fn parse<T: FromStr>(bytes: &[u8]) -> Option<T> {
    let mut short = [0; 40];
    let long;
    let copy = match short.get_mut(..bytes.len()) {
        Some(buffer) => {
            buffer.copy_from_slice(bytes);
            &*buffer
        }
        None => {
            long = bytes.to_vec();
            &long
        }
    };
    std::str::from_utf8(copy).ok()?.parse().ok()
}

fn push_code_point(code: u32, out: &mut Vec<u8>) {
    let tail = |shift: u32| 0x80 | ((code >> shift) & 0x3F) as u8;
    match code {
        0..0x80 => out.push(code as u8),
        0x80..0x800 => out.extend([0xC0 | (code >> 6) as u8, tail(0)]),
        0x800..0x10000 => out.extend([0xE0 | (code >> 12) as u8, tail(6), tail(0)]),
        _ => out.extend([0xF0 | (code >> 18) as u8, tail(12), tail(6), tail(0)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_text_and_numbers_of_any_length() {
        assert_eq!(to_text("aé".as_bytes()), "aé");
        assert_eq!(to_text(b"a\xffb"), "a\u{fffd}b");
        assert_eq!(parse::<i64>(b"-12"), Some(-12));
        assert_eq!(parse::<u8>(b"256"), None);
        assert_eq!(parse::<u64>(b"\xff"), None);
        let long = format!("{}7", "0".repeat(60));
        assert_eq!(parse::<u64>(long.as_bytes()), Some(7));
    }

    #[test]
    fn finds_strings_from_both_ends() {
        let text = br#"{"a\\":"b\"c"}"#;
        assert_eq!(string_end(text, 1), Some(6));
        assert_eq!(string_start(text, 5), Some(1));
        assert_eq!(string_end(text, 7), Some(13));
        assert_eq!(string_start(text, 12), Some(7));
        assert_eq!(string_end(b"\"abc\\\"", 0), None);
    }

    /// Compares strings of every length, with quotes, backslashes and similar bytes, with a plain
    /// loop.
    #[test]
    fn string_end_equals_a_plain_loop() {
        let plain = |bytes: &[u8], at: usize| {
            let mut i = at + 1;
            loop {
                match bytes.get(i)? {
                    b'"' => return Some(i + 1),
                    b'\\' => i += 2,
                    _ => i += 1,
                }
            }
        };
        let alphabet = b"\"\\!#[]a\x00\xa2\xdc\xff";
        let mut state = 1u64;
        for round in (0..50_000).step_by(crate::EVERY) {
            let mut text = vec![b'"'];
            for _ in 0..round % 40 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let pick = (state >> 33) as usize;
                let rare = if pick.is_multiple_of(11) { pick / 11 % 2 } else { 2 + pick / 11 % 9 };
                text.push(alphabet[rare]);
            }
            assert_eq!(string_end(&text, 0), plain(&text, 0), "{text:?}");
        }
    }

    #[test]
    fn line_breaks_become_blanks_or_escapes() {
        let mut out = Vec::new();
        let count = on_one_line(b"{\r\n  \"a\" : \"x\ny\\\"\" ,\n\t\"b\":[ 1, 2 ]\n}", &mut out);
        assert_eq!((count, &out[..]), (1, &b"{\"a\" : \"x\\ny\\\"\" ,\"b\":[ 1, 2 ]}"[..]));
        out.clear();
        on_one_line(b"\n{\"a\":1\r\n\"b\":\"c\"\n\"d\"\n:2\n}\n", &mut out);
        assert_eq!(out, b"{\"a\":1 \"b\":\"c\" \"d\":2}");
    }

    #[test]
    fn escapes_are_resolved() {
        for (text, plain) in [
            (r"t\u0073", "ts".as_bytes()),
            (r"\ud83d\ude00", "\u{1F600}".as_bytes()),
            (r"\ud83dx", b"\xED\xA0\xBDx"),
            (r"\n\t\\\/\q\u12", b"\n\t\\/\\q\\u12"),
            (r"\", b"\\"),
        ] {
            let mut out = Vec::new();
            unescape(text.as_bytes(), &mut out);
            assert_eq!(out, plain, "{text}");
        }
    }
}
