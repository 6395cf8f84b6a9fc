//! Edits JSON arrays and objects; unchanged parts keep their bytes and white space.

use std::borrow::Cow;
use std::ops::Range;
use tracemill_tokenizer::{members, string_is};
use tracemill_trace::json::array_elements;

/// Returns the range in `whole` of its subslice `part`.
pub(crate) fn range_in(whole: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr() as usize - whole.as_ptr() as usize;
    start..start + part.len()
}

/// Returns the elements of an array, or `None` if the value is not an array.
pub(crate) fn elements(array: &[u8]) -> Option<Vec<&[u8]>> {
    array_elements(array).map(Iterator::collect)
}

/// The text before, between and after the elements of an array.
pub(crate) struct ArrayStyle {
    before: Cow<'static, [u8]>,
    /// Comma and white space between two elements.
    between: Cow<'static, [u8]>,
    behind: Cow<'static, [u8]>,
}

impl ArrayStyle {
    pub(crate) const PLAIN: Self = ArrayStyle {
        before: Cow::Borrowed(b"["),
        between: Cow::Borrowed(b","),
        behind: Cow::Borrowed(b"]"),
    };

    /// Returns the style of an existing array.
    pub(crate) fn of(array: &[u8]) -> Self {
        let all = elements(array).unwrap_or_default();
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return ArrayStyle::PLAIN };
        let (first, last) = (range_in(array, first), range_in(array, last));
        let between = match all.get(1) {
            Some(second) => array[first.end..range_in(array, second).start].to_vec().into(),
            None => ArrayStyle::PLAIN.between,
        };
        let (before, behind) = (array[..first.start].to_vec(), array[last.end..].to_vec());
        ArrayStyle { before: before.into(), between, behind: behind.into() }
    }

    /// Formats elements as an array in this style.
    pub(crate) fn list(&self, elements: &[Vec<u8>]) -> Vec<u8> {
        match elements.is_empty() {
            true => b"[]".to_vec(),
            false => [&*self.before, &elements.join(&*self.between), &*self.behind].concat(),
        }
    }
}

/// Returns an object with `value` as its last member named `name`. Appends the member if it is
/// missing.
pub(crate) fn with_member(object: &[u8], name: &[u8], value: &[u8]) -> Vec<u8> {
    let named = members(object).filter(|(key, _)| string_is(key, name)).last();
    if let Some((_, old)) = named {
        let old = range_in(object, old);
        return [&object[..old.start], value, &object[old.end..]].concat();
    }
    let content = object.len().saturating_sub(1);
    let before = object[..content].trim_ascii_end();
    let comma: &[u8] = if before.len() > 1 { b"," } else { b"" };
    [before, comma, b"\"", name, b"\":", value, &object[content..]].concat()
}

/// Returns slices of an object without the members named `name` and their commas. Returns `None` if
/// there is no such member.
pub fn without<'o>(object: &'o [u8], name: &[u8]) -> Option<Vec<&'o [u8]>> {
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
    let (first, last) = (&all[0].0, &all[all.len() - 1].0);
    let mut left = vec![&object[..first.start]];
    let mut is_first = true;
    for (number, (range, _)) in all.iter().enumerate().filter(|(_, (_, named))| !named) {
        if !std::mem::replace(&mut is_first, false) {
            let before = number.checked_sub(1).map_or(range.start, |before| all[before].0.end);
            left.push(&object[before..range.start]);
        }
        left.push(&object[range.clone()]);
    }
    left.push(&object[last.end..]);
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_removes_members_with_their_commas() {
        for (object, left) in [
            (r#"{"a":1,"x":[{"x":2}],"b":2}"#, r#"{"a":1,"b":2}"#),
            (r#"{ "x" : 1, "a":1 }"#, r#"{ "a":1 }"#),
            ("{\n  \"a\": 1,\n  \"x\": 2\n}", "{\n  \"a\": 1\n}"),
            (r#"{"x":1}"#, "{}"),
            (r#"{"x":1,"\u0078":2,"a":3,"x":4,"b":5}"#, r#"{"a":3,"b":5}"#),
        ] {
            let out = without(object.as_bytes(), b"x").unwrap().concat();
            assert_eq!(String::from_utf8(out).unwrap(), left, "{object}");
        }
        assert_eq!(without(br#"{"a":{"x":1}}"#, b"x"), None);
        assert_eq!(without(br#"[{"x":1}]"#, b"x"), None);
    }

    #[test]
    fn lists_keep_their_style() {
        let change = |array: &str, new: &[&str]| {
            let new: Vec<Vec<u8>> = new.iter().map(|e| e.as_bytes().to_vec()).collect();
            String::from_utf8(ArrayStyle::of(array.as_bytes()).list(&new)).unwrap()
        };
        let list = "[\n  1,\n  2,\n  3\n]";
        assert_eq!(change(list, &["1", "2", "3"]), list);
        assert_eq!(change(list, &["9", "5"]), "[\n  9,\n  5\n]");
        assert_eq!(change(list, &[]), "[]");
        assert_eq!(change("[ ]", &["1", "2"]), "[1,2]");
        assert_eq!(change("[1]", &["1", "2"]), "[1,2]");
    }

    #[test]
    fn with_member_replaces_or_appends() {
        let put = |object: &str| String::from_utf8(with_member(object.as_bytes(), b"x", b"7"));
        assert_eq!(put(r#"{"x": 1, "x" : 2 }"#).unwrap(), r#"{"x": 1, "x" : 7 }"#);
        assert_eq!(put("{\"a\":1\n}").unwrap(), "{\"a\":1,\"x\":7}");
        assert_eq!(put("{ }").unwrap(), "{\"x\":7}");
    }
}
