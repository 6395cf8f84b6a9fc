//! Checks the scan: tiers, cuts, the naive reader, and that no bytes vanish.

use crate::scanned::{Found, Log, Places, in_chunks, in_pieces, proved, tiers, whole};
use std::ops::Range;
use tracemill_testkit::reference::{self, RawEvent};
use tracemill_testkit::{Rng, cut::cuts};
use tracemill_tokenizer::{Field, FieldFinder, Form, Tier, fields_of, string_is};

pub(crate) fn scan(input: &[u8]) {
    let expected = whole(input, Tier::Scalar);
    for tier in tiers() {
        assert_eq!(whole(input, tier), expected, "{tier}");
        assert_eq!(proved(input, tier, [input.len()]).0, expected, "{tier}, proving");
        check_fields(input, tier, &expected);
    }
    check_cuts(input, &expected);
    check_nothing_vanishes(input, &expected);
    check_against_reader(input, &expected);
}

/// Checks some cuts with some tiers; creating a scanner takes longer than scanning a small input.
fn check_cuts(input: &[u8], expected: &Log<'_>) {
    let hash = input.iter().fold(0_u64, |hash, &b| hash.wrapping_mul(31) + u64::from(b));
    let pieces = cuts(&mut Rng::new(hash), input.len(), 200);
    for tier in [Tier::Scalar, Tier::best()] {
        // an empty input has no pieces, but an end
        let (log, _) = in_pieces(input, tier, pieces.iter().copied().chain([0]));
        assert_eq!(log, *expected, "{tier} in pieces of {pieces:?}");
        let (log, _) = proved(input, tier, pieces.iter().copied().chain([0]));
        assert_eq!(log, *expected, "{tier}, proving, in pieces of {pieces:?}");
    }
    let (log, _) =
        in_pieces(input, Tier::best(), std::iter::repeat([1, 63, 65][hash as usize % 3]));
    assert_eq!(log, *expected, "in pieces of {}", [1, 63, 65][hash as usize % 3]);
    for chunk in [16 + hash as usize % 48, 300] {
        assert_eq!(in_chunks(input, Tier::best(), chunk), *expected, "in chunks of {chunk}");
    }
}

/// Asserts that readers of single events find the same fields as the scan.
fn check_fields(input: &[u8], tier: Tier, log: &Log<'_>) {
    let mut finder = FieldFinder::new(tier);
    for found in &log.found {
        let Found::Event { span, fields, .. } = found else { continue };
        let event = &input[span.clone()];
        for (again, who) in [(fields_of(event), "fields_of"), (finder.find(event), "FieldFinder")] {
            for (field, place) in Field::ALL.into_iter().zip(&**fields) {
                let value = place.clone().map(|place| &input[place]);
                assert_eq!(again.field(event, field), value, "{tier} {who} {field:?}");
            }
        }
    }
}

/// Asserts that findings do not overlap, and that only separators are between them.
fn check_nothing_vanishes(input: &[u8], log: &Log<'_>) {
    let spans = log.found.iter().filter_map(|found| match found {
        Found::Event { span, .. } | Found::Damage { span, .. } => Some(span.clone()),
        Found::Member { key, value } => Some(member_span(input, key, value)),
        Found::Document(_) | Found::Note(..) => None,
    });
    let mut spans: Vec<Range<usize>> = spans.filter(|span| !span.is_empty()).collect();
    // keys before `traceEvents` may be reported late
    spans.sort_by_key(|span| span.start);
    let mut between = Vec::new();
    let mut end = 0;
    for span in spans {
        assert!(end <= span.start, "{span:?} begins before {end}");
        between.extend_from_slice(&input[end..span.start]);
        between.push(b' ');
        end = span.end;
    }
    between.extend_from_slice(&input[end..]);
    check_between(&between);
}

/// Returns the range of a member from its key on: the last occurrence of the key before the value.
fn member_span(input: &[u8], key: &[u8], value: &Range<usize>) -> Range<usize> {
    let before = &input[..value.start];
    let start = before.windows(key.len()).rposition(|window| window == key);
    start.expect("a key stands before its value")..value.end
}

fn check_between(text: &[u8]) {
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'"' {
            let end = closing_quote(after).expect("a key between findings has an end");
            let key = &text[text.len() - after.len() - 1..][..end + 2];
            let known = [&b"traceEvents"[..], b"tracemill"];
            let shown = String::from_utf8_lossy(key);
            assert!(known.iter().any(|name| string_is(key, name)), "{shown} vanished");
            rest = &after[end + 1..];
        } else if byte == b'n' {
            rest = after.strip_prefix(b"ull").expect("no events: `traceEvents` is null");
        } else {
            let shown = String::from_utf8_lossy(text);
            assert!(b"{}[]:, \t\r\n".contains(&byte), "{} vanished of {shown}", byte as char);
        }
    }
}

fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while *text.get(at)? != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    Some(at)
}

/// Asserts that the scan finds the same as the naive reader, if serde_json can read the trace.
fn check_against_reader(input: &[u8], log: &Log<'_>) {
    // the naive reader accepts objects without events, and byte order marks are handled when
    // opening inputs
    if log.found.contains(&Found::Document(Form::Plain)) || input.starts_with(b"\xef\xbb\xbf") {
        return;
    }
    let Ok(expected) = reference::events(input) else { return };
    assert!(log.is_sound(), "damage where there is none: {log:?}");
    let events = log.found.iter().filter_map(|found| match found {
        Found::Event { span, fields, .. } => Some((span, fields)),
        _ => None,
    });
    let events: Vec<_> = events.collect();
    assert_eq!(events.len(), expected.len(), "{log:?}");
    for ((span, fields), event) in events.into_iter().zip(&expected) {
        assert_eq!(*span, event.span);
        check_values(input, fields, event);
    }
}

fn check_values(input: &[u8], fields: &Places, event: &RawEvent) {
    for (field, place) in Field::ALL.into_iter().zip(fields) {
        let value = place.clone().map(|place| &input[place]);
        assert_eq!(value, event.get(field.key()).map(str::as_bytes), "{field:?}");
    }
}
