//! `args` as annotations: scalars as what they are, lists and objects as the JSON that they are.

use super::packets::{TextKind, Texts, content, plain};
use crate::proto::Message;
use tracemill_tokenizer::{members, parse};

/// The field of `TrackEvent`.
const ANNOTATIONS: u32 = 4;

/// Fields of `DebugAnnotation`.
mod field {
    pub(super) const NAME: u32 = 1;
    pub(super) const BOOL: u32 = 2;
    pub(super) const UINT: u32 = 3;
    pub(super) const INT: u32 = 4;
    pub(super) const DOUBLE: u32 = 5;
    pub(super) const STRING: u32 = 6;
    pub(super) const JSON: u32 = 9;
}

/// Adds each member of `args` to an event; what is no object as one annotation `args`.
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

/// A number, as exact as the form has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i64),
    /// Above all of those.
    Large(u64),
    Double(f64),
}

/// The number that a JSON value is.
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
    fn numbers_are_as_exact_as_they_can_be() {
        assert_eq!(number(b"-7"), Some(Number::Integer(-7)));
        assert_eq!(number(b"18446744073709551615"), Some(Number::Large(u64::MAX)));
        assert_eq!(number(b"1.5e3"), Some(Number::Double(1500.0)));
        assert_eq!([number(b"null"), number(b"[1]"), number(b"\"1\"")], [None; 3]);
    }
}
