//! What an input is, by its first bytes, never by its name.
//!
//! | first bytes | taken for |
//! |---|---|
//! | `1F 8B` | gzip |
//! | `28 B5 2F FD`, or `5x 2A 4D 18` | zstd, or a skippable frame before it |
//! | `FF FE`, `FE FF` | UTF-16, little- or big-endian |
//! | `EF BB BF` | UTF-8 with a byte order mark, which is skipped |
//! | those of zip, ELF, bzip2, xz, an index, a Perfetto trace, HTML | refused, with what to do about it |
//! | anything else | UTF-8 |
//!
//! The last line is wide on purpose: a trace may begin in its middle, or with garbage, and something can still be saved of it.

use crate::input::source::Source;
use memchr::memmem;
use std::ops::Range;
use tracemill_tokenizer::Cursor;

/// How many bytes are looked at: enough for white space before a first bracket, and for the signs of other formats.
pub(super) const LOOK: usize = 512;

/// What the text is packed in.
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

/// The name in reports of gzip behind whose first member something stands: more members, or zeros.
pub const MEMBERS: &str = "gzip of several members";

impl Packing {
    /// Its name in reports; none for plain text.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Packing::Plain { .. } => None,
            Packing::Gzip => Some("gzip"),
            Packing::Zstd => Some("zstd"),
            Packing::Utf16 { .. } => Some("utf-16"),
        }
    }
}

/// Length of the UTF-8 byte order mark that `bytes` begin with.
pub fn byte_order_mark(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }
}

/// What the text is packed in, by the bytes it begins with; plain where they say nothing else.
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

/// Whether more bytes can say nothing else than that this is JSON.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    let Packing::Plain { skip } = packing(bytes) else { return false };
    // no magic number is longer
    bytes.len() >= 8 && matches!(bytes[skip..].trim_ascii_start().first(), Some(b'{' | b'['))
}

/// What else the bytes are, if they begin like something that is no JSON, and what to do about it.
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
        // field 1, length-delimited: the packets of a Perfetto trace; a text would not go on like this
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

/// Whether a text has a key of events, or begins with an object that has one of traces or CPU profiles. Empty lists are traces.
pub(super) fn may_be_trace(text: &[u8]) -> bool {
    const DOCUMENTS: [&[u8]; 4] = [b"\"traceEvents\"", b"\"nodes\"", b"\"head\"", b"\"tracemill\""];
    let has = |key: &[u8]| memmem::find(text, key).is_some();
    let is_empty = |byte: &u8| byte.is_ascii_whitespace() || b"[]".contains(byte);
    has(b"\"ph\"")
        || text.trim_ascii_start().starts_with(b"{") && DOCUMENTS.iter().any(|key| has(key))
        || text.iter().all(is_empty)
}

/// The first object with the key `traceEvents` in something that is no trace as a whole.
pub(crate) fn trace_inside(bytes: &[u8]) -> Option<Range<usize>> {
    /// Opening brackets before the key that are tried.
    const MOST: usize = 64;
    let key = memmem::find(bytes, b"\"traceEvents\"")?;
    let object = |start: usize| {
        let value = Cursor::new(&bytes[start..]).value();
        (start + value.len() > key).then_some(start..start + value.len())
    };
    memchr::memrchr_iter(b'{', &bytes[..key]).take(MOST).find_map(object)
}

/// How to read the trace inside a plain file, if there is one; to follow what the file is.
pub(crate) fn reading_inside(source: &Source, bytes: &[u8]) -> Option<String> {
    let path = source.file()?;
    let Range { start, end } = trace_inside(bytes)?;
    let (name, from, len) = (path.display(), start + 1, end - start);
    Some(format!(
        "; there is a trace in it, at byte {start}: tail -c +{from} {name} | head -c {len} | tracemill … -"
    ))
}

/// Whether a line feed is rather the tag of a protobuf field: what follows it is then a length and another tag.
fn is_packet(len: u8, tag: u8, text: &[u8]) -> bool {
    let json = matches!(text.first(), None | Some(b'{' | b'[' | b'"' | b',' | b']' | b'}'));
    !json && (len >= 0x80 || tag & 7 <= 2) && !len.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packings() {
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
    fn traces_inside_are_found_as_a_whole() {
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
