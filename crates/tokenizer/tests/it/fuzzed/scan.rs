//! The scan: tiers, cuts, the naive reader, and that nothing vanishes.

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

/// Not every cut with every tier: a scanner takes longer to make than a small input to scan.
fn check_cuts(input: &[u8], expected: &Log<'_>) {
    let hash = input.iter().fold(0_u64, |hash, &b| hash.wrapping_mul(31) + u64::from(b));
    let pieces = cuts(&mut Rng::new(hash), input.len(), 200);
    for tier in [Tier::Scalar, Tier::best()] {
        // of nothing there are no pieces, and yet an end
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

/// Those who look at an event again find what the scan found.
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

/// Findings follow each other, and between them stands only what holds them together.
fn check_nothing_vanishes(input: &[u8], log: &Log<'_>) {
    let spans = log.found.iter().filter_map(|found| match found {
        Found::Event { span, .. } | Found::Damage { span, .. } => Some(span.clone()),
        Found::Member { key, value } => Some(member_span(input, key, value)),
        Found::Document(_) | Found::Note(..) => None,
    });
    let mut spans: Vec<Range<usize>> = spans.filter(|span| !span.is_empty()).collect();
    // keys before `traceEvents` may be said later than they stand
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

/// A member from its key on: the last time that the key stands before the value.
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

/// What serde_json reads as a trace is read the same way.
fn check_against_reader(input: &[u8], log: &Log<'_>) {
    // an object without events is one to the naive reader, a mark at the start is for whoever opens the input
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
