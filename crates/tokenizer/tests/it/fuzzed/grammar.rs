//! The full grammar: all tiers, the place of the first defect, and serde_json.

use crate::scanned::tiers;
use serde_json::value::RawValue;
use tracemill_tokenizer::{Validator, validate};

pub(crate) fn grammar(input: &[u8]) {
    // as they stand, and where blocks begin elsewhere
    for spaces in [0, 1, 61] {
        let text = [&b" ".repeat(spaces), input].concat();
        check(&text);
    }
    // in brackets, so that one value follows another at no other place than the outermost
    check_against_serde(&[b"[", input, b"]"].concat());
}

fn check(text: &[u8]) {
    let expected = validate(text);
    for tier in tiers() {
        let mut validator = Validator::new(tier);
        assert_eq!(validator.check(text), expected, "{tier}");
        // what is left of one text is nothing to the next
        assert_eq!(validator.check(b"[{\"a\":1}]"), Ok(()), "{tier}");
        assert_eq!(validator.check(text), expected, "{tier} again");
    }
    if let Err(defect) = expected {
        let at = usize::try_from(defect.offset).expect("an offset in the text");
        // up to there nothing is wrong but that it ends; an escape or character that is cut is named where it begins
        let before = validate(&text[..at]);
        assert!(
            before.is_ok() || before.is_err_and(|cut| cut.offset + 6 >= at as u64),
            "{before:?}"
        );
    }
}

fn check_against_serde(text: &[u8]) {
    let own = validate(text);
    match serde_json::from_slice::<&RawValue>(text) {
        Ok(_) => assert_eq!(own, Ok(()), "serde_json reads it"),
        Err(error) if is_one_value(text) => assert!(own.is_err(), "serde_json: {error}"),
        Err(_) => {}
    }
}

/// Whether brackets outside strings are all closed at the very end and not before.
fn is_one_value(text: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_i64, false, false);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'"' if !escaped => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
        escaped = in_string && byte == b'\\' && !escaped;
        if depth <= 0 && at + 1 < text.len() {
            return false;
        }
    }
    depth == 0
}
