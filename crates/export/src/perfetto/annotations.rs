//! Writes `args` as debug annotations: scalars with their types, arrays and objects as JSON text.

use super::packets::{TextKind, Texts, content, plain};
use crate::proto::Message;
use tracemill_tokenizer::{members, parse};

/// Field number of debug annotations in `TrackEvent`.
const ANNOTATIONS: u32 = 4;

/// Field numbers of `DebugAnnotation`.
mod field {
    pub(super) const NAME: u32 = 1;
    pub(super) const BOOL: u32 = 2;
    pub(super) const UINT: u32 = 3;
    pub(super) const INT: u32 = 4;
    pub(super) const DOUBLE: u32 = 5;
    pub(super) const STRING: u32 = 6;
    pub(super) const JSON: u32 = 9;
}

/// Adds each member of `args` as an annotation to an event. If `args` is not an object, adds a
/// single annotation named `args`.
pub(super) fn add(args: &[u8], texts: &mut Texts, one: &mut Message, event: &mut Message) {
    if !args.starts_with(b"{") {
        return annotate(b"args", args, texts, one, event);
    }
    for (key, value) in members(args) {
        annotate(content(key), value, texts, one, event);
    }
}

fn annotate(key: &[u8], value: &[u8], texts: &mut Texts, one: &mut Message, event: &mut Message) {
    one.clear();
    one.number(field::NAME, texts.number(TextKind::Annotation, key));
    match value {
        b"true" | b"false" => one.number(field::BOOL, u64::from(value == b"true")),
        [b'"', text @ .., b'"'] => one.field(field::STRING, plain(text).as_bytes()),
        _ => match number(value) {
            Some(Number::Integer(number)) => one.number(field::INT, number as u64),
            Some(Number::Large(number)) => one.number(field::UINT, number),
            Some(Number::Double(number)) => one.fixed(field::DOUBLE, number.to_bits()),
            None => one.field(field::JSON, value),
        },
    }
    event.field(ANNOTATIONS, one.bytes());
}

/// A number in the type of protocol buffers that represents it best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i64),
    /// An integer that exceeds the range of `i64`.
    Large(u64),
    Double(f64),
}

/// Parses a JSON number. Returns `None` for other values.
pub(super) fn number(value: &[u8]) -> Option<Number> {
    if !matches!(value.first(), Some(b'-' | b'0'..=b'9')) {
        return None;
    }
    let integer = parse(value).map(Number::Integer);
    let large = || parse(value).map(Number::Large);
    integer.or_else(large).or_else(|| parse(value).map(Number::Double))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_precision() {
        assert_eq!(number(b"-7"), Some(Number::Integer(-7)));
        assert_eq!(number(b"18446744073709551615"), Some(Number::Large(u64::MAX)));
        assert_eq!(number(b"1.5e3"), Some(Number::Double(1500.0)));
        assert_eq!([number(b"null"), number(b"[1]"), number(b"\"1\"")], [None; 3]);
    }
}
