//! Replaces `\u` escapes by the characters themselves, for Perfetto.
//!
//! Perfetto v52 decodes the escapes of a string only if the string contains `\"`, and shows all
//! other escapes as written. When it decodes half of a surrogate pair (`\ud83d`), it refuses the
//! file or hangs.

use memchr::memchr_iter;
use tracemill_tokenizer::escaped_code_point;

/// Returns the event (valid JSON) with its escapes replaced, or `None` if nothing is replaced.
/// Control characters, `"` and `\` stay escaped; an unpaired surrogate becomes U+FFFD.
pub(super) fn with_characters(event: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    // `event[..done]` is in the text already
    let mut done = 0;
    let mut next = 0;
    for at in memchr_iter(b'\\', event) {
        // the second half of `\\` or of a surrogate pair
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
    fn replaces_escapes_by_characters() {
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

    #[test]
    fn replacing_escapes_keeps_the_value() {
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
