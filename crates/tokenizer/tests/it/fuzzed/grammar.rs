//! Checks the full grammar: all tiers, the position of the first error, and serde_json.

use crate::scanned::tiers;
use serde_json::value::RawValue;
use tracemill_tokenizer::{Validator, validate};

pub(crate) fn grammar(input: &[u8]) {
    // the input itself, and shifted against the blocks
    for spaces in [0, 1, 61] {
        let text = [&b" ".repeat(spaces), input].concat();
        check(&text);
    }
    // in brackets, so that consecutive values are invalid
    check_against_serde(&[b"[", input, b"]"].concat());
}

fn check(text: &[u8]) {
    let expected = validate(text);
    for tier in tiers() {
        let mut validator = Validator::new(tier);
        assert_eq!(validator.check(text), expected, "{tier}");
        // a validator keeps no state from one text to the next
        assert_eq!(validator.check(b"[{\"a\":1}]"), Ok(()), "{tier}");
        assert_eq!(validator.check(text), expected, "{tier} again");
    }
    if let Err(defect) = expected {
        let at = usize::try_from(defect.offset).expect("an offset in the text");
        // up to the error, the text is only incomplete; a cut escape or character is reported at
        // its start
        let before = validate(&text[..at]);
        assert!(
            before.is_ok() || before.is_err_and(|cut| cut.offset + 6 >= at as u64),
            "{before:?}"
        );
    }
}

fn check_against_serde(text: &[u8]) {
    let result = validate(text);
    match serde_json::from_slice::<&RawValue>(text) {
        Ok(_) => assert_eq!(result, Ok(()), "serde_json reads it"),
        Err(error) if is_one_value(text) => assert!(result.is_err(), "serde_json: {error}"),
        Err(_) => {}
    }
}

/// Returns whether the brackets outside strings close exactly at the end.
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
