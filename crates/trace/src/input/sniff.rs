//! Detects the format of an input by its first bytes, never by its name.
//!
//! | first bytes | format |
//! |---|---|
//! | `1F 8B` | gzip |
//! | `28 B5 2F FD`, or `5x 2A 4D 18` | zstd, or a skippable frame before it |
//! | `FF FE`, `FE FF` | UTF-16, little- or big-endian |
//! | `EF BB BF` | UTF-8 with a byte order mark, which is skipped |
//! | zip, ELF, bzip2, xz, an index, a Perfetto trace, HTML | refused, with a suggestion |
//! | anything else | UTF-8 |
//!
//! Unknown bytes count as UTF-8: events can be salvaged from a trace that begins in the middle or
//! with garbage.

use crate::input::source::Source;
use memchr::memmem;
use std::ops::Range;
use tracemill_tokenizer::Cursor;

/// Number of bytes inspected: enough for white space before a first bracket, and for magic numbers.
pub(super) const LOOK: usize = 512;

/// The packing or encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// UTF-8, with a byte order mark of `skip` bytes.
    Plain {
        skip: usize,
    },
    Gzip,
    Zstd,
    Utf16 {
        big_endian: bool,
    },
}

/// Report name of gzip with data after its first member: more members, or zeros.
pub const MEMBERS: &str = "gzip of several members";

impl Packing {
    /// Returns the name in reports. Returns `None` for plain text.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Packing::Plain { .. } => None,
            Packing::Gzip => Some("gzip"),
            Packing::Zstd => Some("zstd"),
            Packing::Utf16 { .. } => Some("utf-16"),
        }
    }
}

/// Returns the length of the UTF-8 byte order mark at the start of `bytes`.
pub fn byte_order_mark(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }
}

/// Returns the packing that the first bytes indicate; plain by default.
pub(super) fn packing(bytes: &[u8]) -> Packing {
    match bytes {
        [0x1F, 0x8B, ..] => Packing::Gzip,
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Packing::Zstd,
        // a skippable frame may come first
        [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Packing::Zstd,
        [0xFF, 0xFE, ..] => Packing::Utf16 { big_endian: false },
        [0xFE, 0xFF, ..] => Packing::Utf16 { big_endian: true },
        _ => Packing::Plain { skip: byte_order_mark(bytes) },
    }
}

/// Returns whether the bytes suffice to decide that the input is JSON.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    let Packing::Plain { skip } = packing(bytes) else { return false };
    // longer than any magic number
    bytes.len() >= 8 && matches!(bytes[skip..].trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Returns a description of a foreign format that the bytes begin with, and a suggestion.
pub(super) fn foreign(bytes: &[u8]) -> Option<&'static str> {
    let text = bytes.trim_ascii_start();
    match bytes {
        [b'P', b'K', 3 | 5, 4 | 6, ..] => return Some("a zip archive; unpack it first"),
        [b'T', b'M', b'I', b'X', 0x0D, 0x0A, ..] => {
            return Some("a tracemill index; name its trace instead");
        }
        [0x7F, b'E', b'L', b'F', ..] => return Some("an ELF program"),
        [b'B', b'Z', b'h', ..] => {
            return Some("bzip2; unpack it first (bzip2 -dc | tracemill … -)");
        }
        [0xFD, b'7', b'z', b'X', b'Z', ..] => {
            return Some("xz; unpack it first (xz -dc | tracemill … -)");
        }
        // field 1, length-delimited: packets of a Perfetto trace; text would continue differently
        [0x0A, len, tag, ..] if is_packet(*len, *tag, text) => {
            return Some("a Perfetto protobuf trace; convert it first (traceconv json)");
        }
        _ => {}
    }
    match text {
        [b'<', ..] => Some("HTML or XML; extract the JSON from it first (html2trace)"),
        [b'#', ..] if text.starts_with(b"# tracer") => Some("an ftrace text; convert it first"),
        _ => None,
    }
}

/// Returns whether a text has an event key, or begins with an object with a key of traces or CPU
/// profiles. Empty lists count as traces.
pub(super) fn may_be_trace(text: &[u8]) -> bool {
    const DOCUMENTS: [&[u8]; 4] = [b"\"traceEvents\"", b"\"nodes\"", b"\"head\"", b"\"tracemill\""];
    let has = |key: &[u8]| memmem::find(text, key).is_some();
    let is_empty = |byte: &u8| byte.is_ascii_whitespace() || b"[]".contains(byte);
    has(b"\"ph\"")
        || text.trim_ascii_start().starts_with(b"{") && DOCUMENTS.iter().any(|key| has(key))
        || text.iter().all(is_empty)
}

/// Returns the range of the first object with the key `traceEvents` inside other text.
pub(crate) fn trace_inside(bytes: &[u8]) -> Option<Range<usize>> {
    /// Maximum number of opening brackets tried before the key.
    const MOST: usize = 64;
    let key = memmem::find(bytes, b"\"traceEvents\"")?;
    let object = |start: usize| {
        let value = Cursor::new(&bytes[start..]).value();
        (start + value.len() > key).then_some(start..start + value.len())
    };
    memchr::memrchr_iter(b'{', &bytes[..key]).take(MOST).find_map(object)
}

/// Returns a hint for reading a trace inside a plain file, to append to the file's description.
pub(crate) fn reading_inside(source: &Source, bytes: &[u8]) -> Option<String> {
    let path = source.file()?;
    let Range { start, end } = trace_inside(bytes)?;
    let (name, from, len) = (path.display(), start + 1, end - start);
    Some(format!(
        "; there is a trace in it, at byte {start}: tail -c +{from} {name} | head -c {len} | tracemill … -"
    ))
}

/// Returns whether a leading line feed is the tag of a protobuf field, followed by a length and
/// another tag.
fn is_packet(len: u8, tag: u8, text: &[u8]) -> bool {
    let json = matches!(text.first(), None | Some(b'{' | b'[' | b'"' | b',' | b']' | b'}'));
    !json && (len >= 0x80 || tag & 7 <= 2) && !len.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_packing_by_first_bytes() {
        assert_eq!(packing(b"\x1f\x8b\x08"), Packing::Gzip);
        assert_eq!(packing(b"\x28\xb5\x2f\xfd\0"), Packing::Zstd);
        assert_eq!(packing(b"\xff\xfe[\0"), Packing::Utf16 { big_endian: false });
        assert_eq!(packing(b"\xef\xbb\xbf[]"), Packing::Plain { skip: 3 });
        assert_eq!(packing(b""), Packing::Plain { skip: 0 });
    }

    #[test]
    fn json_is_known_by_its_first_bracket() {
        for (bytes, json) in [
            (&b"[{\"ph\":1"[..], true),
            (b"\xef\xbb\xbf [{\"a", true),
            (b"[{", false),
            (b"        ", false),
            (b"\x1f\x8b\x08[[[[[", false),
            (b"[*M\x18[[[[", false),
        ] {
            assert_eq!(is_json(bytes), json, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn finds_the_whole_trace_inside_other_text() {
        for (text, expected) in [
            (r#"<p>{"traceEvents":[{"ph":"X"}]}</p>"#, Some(r#"{"traceEvents":[{"ph":"X"}]}"#)),
            (
                r#"{"a":{"b":{"x":{}},"traceEvents":[]},"c":1}"#,
                Some(r#"{"b":{"x":{}},"traceEvents":[]}"#),
            ),
            ("<p>no trace</p>", None),
        ] {
            let found = trace_inside(text.as_bytes()).map(|range| &text[range]);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn other_formats_are_named() {
        for (bytes, word) in [
            (&b"<!doctype html>"[..], "HTML"),
            (b"PK\x03\x04", "zip"),
            (b"TMIX\r\n\x1a\n\x01\0", "tracemill index"),
            (b"\x7fELF", "ELF"),
            (b"\x0a\x84\x01\x08\x01", "Perfetto"),
            (b"\x0a\x10\x08\x01", "Perfetto"),
            (b"# tracer: nop\n", "ftrace"),
        ] {
            assert!(foreign(bytes).is_some_and(|found| found.contains(word)), "{word}");
        }
        for text in ["\n\n[", "\n{\"a\":1}", "", "[", "\n,{}", " \n", "\n"] {
            assert_eq!(foreign(text.as_bytes()), None, "{text:?}");
        }
    }
}
