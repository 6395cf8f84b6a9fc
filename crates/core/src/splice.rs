//! Events with a field changed: only the bytes of that field's value are others (contract C1).

use std::ops::Range;
use tracemill_tokenizer::{Event, Field};

/// Where `value`, which is a part of `whole`, stands in it.
fn range_in(whole: &[u8], value: &[u8]) -> Range<usize> {
    let start = value.as_ptr() as usize - whole.as_ptr() as usize;
    start..start + value.len()
}

/// Changes to one event.
#[derive(Default)]
pub struct Splice(Vec<(Range<usize>, Vec<u8>)>);

impl Splice {
    /// Puts `number` where `value` of `whole` is: a number stays a number, a string a string.
    pub fn number(&mut self, whole: &[u8], value: &[u8], number: &[u8]) {
        let text = if value.starts_with(b"\"") {
            [b"\"", number, b"\""].concat()
        } else {
            number.to_vec()
        };
        self.0.push((range_in(whole, value), text));
    }

    /// Puts `text` where `value` of `whole` is.
    pub fn replace(&mut self, whole: &[u8], value: &[u8], text: Vec<u8>) {
        self.0.push((range_in(whole, value), text));
    }

    /// Puts `text` behind `value` of `whole`.
    pub fn insert_behind(&mut self, whole: &[u8], value: &[u8], text: Vec<u8>) {
        self.insert_at(range_in(whole, value).end, text);
    }

    /// Puts `text` before the byte at a place.
    pub fn insert_at(&mut self, at: usize, text: Vec<u8>) {
        self.0.push((at..at, text));
    }

    /// As [`Splice::number`], of a field that may be missing.
    pub fn field(&mut self, event: &Event<'_>, field: Field, number: &[u8]) {
        if let Some(value) = event.field(field) {
            self.number(event.bytes, value, number);
        }
    }

    /// The event as it is then.
    pub fn apply(mut self, whole: &[u8]) -> Vec<u8> {
        self.0.sort_by_key(|(range, _)| range.start);
        let (mut out, mut at) = (Vec::with_capacity(whole.len() + 32), 0);
        for (range, text) in self.0 {
            out.extend_from_slice(&whole[at..range.start]);
            out.extend_from_slice(&text);
            at = range.end;
            if touches(&out, &whole[at..]) {
                out.push(b' ');
            }
        }
        out.extend_from_slice(&whole[at..]);
        out
    }
}

/// Whether a word or string in `text` would touch another one that follows: only damage puts one right behind a bracket, and
/// it may not touch what the bracket is replaced by.
#[inline]
pub fn touches(text: &[u8], rest: &[u8]) -> bool {
    let is_word = |byte: &u8| {
        !matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n')
    };
    rest.first().is_some_and(is_word) && text.last().is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    #[test]
    fn only_the_value_changes() {
        let bytes = br#"{ "ts" : "1.50" ,"dur":7, "ts":"2","args":{"ts":1}}"#;
        let spans = fields_of(bytes);
        let event = spans.of(bytes);
        let mut splice = Splice::default();
        splice.field(&event, Field::Dur, b"3.25");
        splice.field(&event, Field::Ts, b"10");
        splice.field(&event, Field::Pid, b"10");
        let expected = br#"{ "ts" : "1.50" ,"dur":3.25, "ts":"10","args":{"ts":1}}"#;
        assert_eq!(splice.apply(bytes), expected);
    }

    #[test]
    fn what_lacks_a_comma_stays_apart() {
        let bytes = br#"{"ts":1,"cat":[1]"tid":{"a":1}"b"}"#;
        let members: Vec<_> = tracemill_tokenizer::members(bytes).collect();
        let mut splice = Splice::default();
        splice.replace(bytes, members[1].1, b"\"[1]\"".to_vec());
        splice.insert_behind(bytes, &bytes[23..30], b",\"c\":2".to_vec());
        let expected = br#"{"ts":1,"cat":"[1]" "tid":{"a":1},"c":2 "b"}"#;
        assert_eq!(splice.apply(bytes), expected);
    }
}
