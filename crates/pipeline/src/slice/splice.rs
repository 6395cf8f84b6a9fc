//! Events with a field changed: only the bytes of that field's value are others (contract C1).

use std::ops::Range;
use tracemill_tokenizer::{Event, Field, members, string_is};

/// Where `value`, which is a part of `whole`, stands in it.
fn range_in(whole: &[u8], value: &[u8]) -> Range<usize> {
    let start = value.as_ptr() as usize - whole.as_ptr() as usize;
    start..start + value.len()
}

/// Changes to one event.
#[derive(Default)]
pub(crate) struct Splice(Vec<(Range<usize>, Vec<u8>)>);

impl Splice {
    /// Puts `number` where `value` of `whole` is: a number stays a number, a string a string.
    pub(crate) fn number(&mut self, whole: &[u8], value: &[u8], number: &[u8]) {
        let text = if value.starts_with(b"\"") {
            [b"\"", number, b"\""].concat()
        } else {
            number.to_vec()
        };
        self.0.push((range_in(whole, value), text));
    }

    /// Puts `text` where `value` of `whole` is.
    pub(crate) fn replace(&mut self, whole: &[u8], value: &[u8], text: Vec<u8>) {
        self.0.push((range_in(whole, value), text));
    }

    /// Puts `text` behind `value` of `whole`.
    pub(crate) fn insert_behind(&mut self, whole: &[u8], value: &[u8], text: Vec<u8>) {
        self.insert_at(range_in(whole, value).end, text);
    }

    /// Puts `text` before the byte at a place.
    pub(crate) fn insert_at(&mut self, at: usize, text: Vec<u8>) {
        self.0.push((at..at, text));
    }

    /// As [`Splice::number`], of a field that may be missing.
    pub(crate) fn field(&mut self, event: &Event<'_>, field: Field, number: &[u8]) {
        if let Some(value) = event.field(field) {
            self.number(event.bytes, value, number);
        }
    }

    /// The event as it is then.
    pub(crate) fn apply(mut self, whole: &[u8]) -> Vec<u8> {
        self.0.sort_by_key(|(range, _)| range.start);
        let (mut out, mut at) = (Vec::with_capacity(whole.len() + 32), 0);
        for (range, text) in self.0 {
            out.extend_from_slice(&whole[at..range.start]);
            out.extend_from_slice(&text);
            at = range.end;
        }
        out.extend_from_slice(&whole[at..]);
        out
    }
}

/// The value of the last member of that name.
pub(crate) fn member<'o>(object: &'o [u8], name: &[u8]) -> Option<&'o [u8]> {
    if object.first() != Some(&b'{') {
        return None;
    }
    members(object).filter(|(key, _)| string_is(key, name)).last().map(|(_, value)| value)
}

/// An object without its members of that name, each with the comma that goes with it; `None` if it has none.
pub(crate) fn without(object: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    if object.first() != Some(&b'{') {
        return None;
    }
    let all: Vec<(Range<usize>, bool)> = members(object)
        .map(|(key, value)| {
            let end = range_in(object, value).end;
            (range_in(object, key).start..end, string_is(key, name))
        })
        .collect();
    if !all.iter().any(|(_, named)| *named) {
        return None;
    }
    let kept: Vec<&Range<usize>> =
        all.iter().filter(|(_, named)| !named).map(|(range, _)| range).collect();
    let (first, last) = (&all[0].0, &all[all.len() - 1].0);
    let mut out = object[..first.start].to_vec();
    for (number, range) in kept.iter().enumerate() {
        if number > 0 {
            // what stands between two members: the comma and the white space before the later one
            let before =
                all.iter().map(|(range, _)| range.end).filter(|&end| end <= range.start).max();
            out.extend_from_slice(&object[before.unwrap_or(range.start)..range.start]);
        }
        out.extend_from_slice(&object[(*range).clone()]);
    }
    out.extend_from_slice(&object[last.end..]);
    Some(out)
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
    fn members_are_taken_out_with_their_commas() {
        for (object, left) in [
            (r#"{"a":1,"x":[{"x":2}],"b":2}"#, r#"{"a":1,"b":2}"#),
            (r#"{ "x" : 1, "a":1 }"#, r#"{ "a":1 }"#),
            ("{\n  \"a\": 1,\n  \"x\": 2\n}", "{\n  \"a\": 1\n}"),
            (r#"{"x":1}"#, "{}"),
            (r#"{"x":1,"\u0078":2,"a":3,"x":4,"b":5}"#, r#"{"a":3,"b":5}"#),
        ] {
            let out = without(object.as_bytes(), b"x").unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), left, "{object}");
        }
        assert_eq!(without(br#"{"a":{"x":1}}"#, b"x"), None);
        assert_eq!(without(br#"[{"x":1}]"#, b"x"), None);
    }
}
