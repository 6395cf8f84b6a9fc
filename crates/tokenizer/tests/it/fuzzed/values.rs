//! Checks numbers, strings, members and white space.

use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::mem::take;
use tracemill_testkit::reference::{self, Decimal};
use tracemill_tokenizer::{
    Cursor, Number, canonical, compact, members, nanos, number_text, on_one_line, string_is,
    unescape, validate,
};

pub(crate) fn values(input: &[u8]) {
    let mut lines = input.splitn(2, |&b| b == b'\n');
    check_numbers(lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    check_string(input);
    check_space(input);
    check_members(input);
    check_cursor(input);
}

fn check_numbers(a: &[u8], b: &[u8]) {
    // exponents beyond 10^17 are limited, and no time comes near
    let is_far = |text: &[u8]| text.iter().skip_while(|b| !b"eE".contains(b)).count() > 17;
    if is_far(a) || is_far(b) {
        return;
    }
    let (x, y) = (check_number(a), check_number(b));
    if let (Some(x), Some(y)) = (x, y) {
        let form = |text| {
            let mut out = Vec::new();
            assert!(canonical(text, &mut out));
            out
        };
        assert_eq!(form(a) == form(b), x == y);
    }
}

fn check_number(text: &[u8]) -> Option<Decimal> {
    let expected = Decimal::parse(text);
    let parsed = nanos(text);
    assert_eq!(parsed.map(|nanos| nanos.floor), expected.as_ref().map(Decimal::nanos_floor));
    assert_eq!(canonical(text, &mut Vec::new()), expected.is_some());
    if let (Some(number), Some(expected)) = (Number::parse(text), &expected) {
        for decimals in [0, 3, 12, 18] {
            const MOST: i128 = 10_i128.pow(38);
            let floor = number.scaled(decimals).map(|(floor, _)| floor);
            let reference = expected.floor(i64::from(decimals), MOST);
            assert_eq!(floor, Some(reference).filter(|floor| floor.abs() < MOST), "{decimals}");
        }
    }
    if let (Some(parsed), Some(expected)) = (parsed, &expected) {
        let back = Decimal::parse(format!("{}e-3", parsed.floor).as_bytes());
        assert_eq!(parsed.exact, back.as_ref() == Some(expected), "{parsed:?}");
    }
    if let Ok(value) = serde_json::from_slice::<&RawValue>(text)
        && value.get().len() == text.len()
    {
        let found = number_text(text, &mut Vec::new()).and_then(Decimal::parse);
        assert_eq!(found, reference::time(value.get()));
    }
    expected
}

fn check_string(content: &[u8]) {
    let quoted = [b"\"", content, b"\""].concat();
    let mut unescaped = Vec::new();
    unescape(content, &mut unescaped);
    assert!(unescaped.len() <= content.len());
    let expected = std::str::from_utf8(&quoted).ok().and_then(reference::string_content);
    if let Some(expected) = expected {
        assert_eq!(unescaped, expected);
        assert!(string_is(&quoted, &expected));
        assert!(!string_is(&quoted, &[&expected[..], b"x"].concat()));
    }
}

fn check_space(text: &[u8]) {
    let (mut dense, mut again, mut line) = (vec![], vec![], vec![]);
    compact(text, &mut dense);
    compact(&dense, &mut again);
    assert_eq!(again, dense, "compact twice");
    let breaks = on_one_line(text, &mut line);
    assert!(!line.iter().any(|b| b"\r\n".contains(b)));
    let expected = tokens(text);
    assert_eq!(tokens(&dense), expected, "compact");
    assert_eq!(tokens(&line), tokens(&escape_breaks(text)), "one line");
    if validate(text).is_err() {
        return;
    }
    assert_eq!(breaks, 0);
    // consecutive values, which no trace has, stay separate or may join
    let several = is_several(text);
    assert!(several || dense == without_space(text));
    assert_eq!(without_space(&dense), without_space(text));
    for (other, what) in [(&dense, "compact"), (&line, "one line")] {
        again.clear();
        compact(other, &mut again);
        assert!(several || again == dense, "{what}");
    }
}

/// Splits a text at white space, brackets, commas and colons. Drops only the white space.
fn tokens(text: &[u8]) -> Vec<Vec<u8>> {
    let (mut out, mut token) = (Vec::new(), Vec::new());
    let mut end = |token: &mut Vec<u8>| out.extend((!token.is_empty()).then(|| take(token)));
    for (byte, in_string) in with_strings(text) {
        let separates = !in_string && b"{}[],: \t\r\n".contains(&byte);
        if separates {
            end(&mut token);
        }
        if !separates || b"{}[],:".contains(&byte) {
            token.push(byte);
        }
        if separates {
            end(&mut token);
        }
    }
    end(&mut token);
    out
}

/// Escapes the line breaks in strings.
fn escape_breaks(text: &[u8]) -> Vec<u8> {
    let escaped = |(byte, in_string)| match byte {
        b'\n' if in_string => b"\\n".to_vec(),
        b'\r' if in_string => b"\\r".to_vec(),
        _ => vec![byte],
    };
    with_strings(text).flat_map(escaped).collect()
}

/// Returns each byte, and whether it is inside a string or its closing quote.
fn with_strings(text: &[u8]) -> impl Iterator<Item = (u8, bool)> {
    let (mut in_string, mut escaped) = (false, false);
    text.iter().map(move |&byte| {
        let was = in_string;
        in_string ^= byte == b'"' && !escaped;
        escaped = in_string && byte == b'\\' && !escaped;
        (byte, was || in_string)
    })
}

/// Returns the text without white space outside strings.
fn without_space(text: &[u8]) -> Vec<u8> {
    let stays = |(byte, in_string): &(u8, bool)| *in_string || !b" \t\r\n".contains(byte);
    with_strings(text).filter(stays).map(|(byte, _)| byte).collect()
}

fn is_several(text: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(text).is_err()
}

fn check_members(object: &[u8]) {
    let found = members(object).map(|(key, value)| {
        let mut name = Vec::new();
        unescape(&key[1..key.len() - 1], &mut name);
        (name, value)
    });
    let found: BTreeMap<Vec<u8>, &[u8]> = found.collect();
    let is_object = object.first() == Some(&b'{') && !is_several(object);
    let Some(text) = std::str::from_utf8(object).ok().filter(|_| is_object) else { return };
    let expected = reference::members(text).expect("an object");
    let outer = expected.into_iter().filter(|(key, _)| !key.starts_with(b"args"));
    for (key, value) in outer {
        assert_eq!(found.get(&key).copied(), Some(value.as_bytes()));
    }
}

/// Writes everything that a cursor reads, which must be the whole text.
fn check_cursor(text: &[u8]) {
    let mut out = Vec::new();
    let mut cursor = Cursor::new(text);
    copy(&mut cursor, 0, &mut out);
    assert!(cursor.offset() <= text.len());
    if validate(text).is_ok() && !is_several(text) {
        let mut dense = Vec::new();
        compact(text, &mut dense);
        assert_eq!(out, dense);
        assert_eq!(cursor.passed(), None);
    }
}

fn copy(cursor: &mut Cursor<'_>, depth: usize, out: &mut Vec<u8>) {
    let separate = |out: &mut Vec<u8>| {
        if !matches!(out.last(), Some(b'{' | b'[')) {
            out.push(b',');
        }
    };
    if depth < 60 && cursor.enter(b'{') {
        out.push(b'{');
        while cursor.next_key().is_some() {
            separate(out);
            out.extend_from_slice(cursor.key().0);
            out.push(b':');
            copy(cursor, depth + 1, out);
        }
        out.push(b'}');
    } else if depth < 60 && cursor.enter(b'[') {
        check_integers(cursor.clone());
        out.push(b'[');
        while cursor.next_element() {
            separate(out);
            copy(cursor, depth + 1, out);
        }
        out.push(b']');
    } else {
        compact(cursor.value(), out);
    }
}

/// Asserts that integers read in bulk equal those read one by one.
fn check_integers(mut quick: Cursor<'_>) {
    let mut slow = quick.clone();
    let rest = |cursor: &mut Cursor<'_>, numbers: &mut Vec<Option<i64>>| {
        while cursor.next_element() {
            let number = cursor.integer();
            if number.is_none() {
                cursor.value();
            }
            numbers.push(number);
        }
    };
    let (mut one, mut other) = (Vec::new(), Vec::new());
    quick.integers(|number| {
        one.push(Some(number));
        true
    });
    rest(&mut quick, &mut one);
    rest(&mut slow, &mut other);
    assert_eq!((one, quick.offset()), (other, slow.offset()));
}
