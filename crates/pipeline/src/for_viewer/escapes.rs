//! Characters that an event has as `\u` escapes, written as themselves for Perfetto.
//!
//! Version 52 resolves the escapes of a string only where one of them is `\"`, and shows all others as they are written. Where it
//! resolves them, half of a surrogate pair (`\ud83d`) makes it refuse the file, or read it for ever, though it stands before its
//! other half.

use memchr::memchr_iter;
use tracemill_tokenizer::escaped_code_point;

/// The event with these characters; `None` if it has no such escape. Control characters, `"` and `\` stay escaped; half of a pair
/// without the other becomes U+FFFD. The event is JSON.
pub(super) fn with_characters(event: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    // what is before is in the text, or stays as it is while there is none
    let mut done = 0;
    let mut next = 0;
    for at in memchr_iter(b'\\', event) {
        // the second one of `\\`, or of a pair of surrogates
        if at < next {
            continue;
        }
        let Some((code, used)) = escaped_code_point(&event[at..]) else {
            next = at + 2;
            continue;
        };
        next = at + used;
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        if matches!(character, '\0'..' ' | '"' | '\\') {
            continue;
        }
        text.extend_from_slice(&event[done..at]);
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        done = next;
    }
    if done == 0 {
        return None;
    }
    text.extend_from_slice(&event[done..]);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::Rng;

    #[test]
    fn characters_are_written_as_themselves() {
        for (event, expected) in [
            (r#"{"a":"b"}"#, None),
            (r#"{"a":"\n\"\\u00e9\u0007\u0022\u005C"}"#, None),
            (r#"{"a":"\u00e9","\u0062":1}"#, Some("{\"a\":\"é\",\"b\":1}")),
            (r#"{"a":"\ud83d\uDE00\ud83d"}"#, Some("{\"a\":\"😀\u{FFFD}\"}")),
            (r#"{"a":"\ude00\ud83dx\ud83d\n"}"#, Some("{\"a\":\"\u{FFFD}\u{FFFD}x\u{FFFD}\\n\"}")),
            (r#"{"a":"\\\u00e9"}"#, Some("{\"a\":\"\\\\é\"}")),
        ] {
            let text = with_characters(event.as_bytes());
            assert_eq!(text.as_deref(), expected.map(str::as_bytes), "{event}");
        }
    }

    /// A parser of JSON reads the same.
    #[test]
    fn the_meaning_stays() {
        let mut changed = 0;
        for seed in 0..2_000 {
            let rng = &mut Rng::new(seed);
            let parts = [
                "\\\\",
                "\\\"",
                "\\n",
                "u00e9",
                "\\u00e9",
                "\\u005c",
                "\\u0022",
                "\\ud83d\\ude00",
                "é",
                "\\u2028",
            ];
            let content: String = (0..rng.below(8)).map(|_| rng.pick(&parts)).collect();
            let event = format!(r#"{{"name":"{content}"}}"#);
            let Some(text) = with_characters(event.as_bytes()) else { continue };
            changed += 1;
            let read =
                |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).expect("JSON");
            assert_eq!(read(&text), read(event.as_bytes()), "seed {seed}");
        }
        assert!(changed > 500, "{changed} were changed");
    }
}
