//! Text that nearly is JSON as JSON: what `JSON.parse` refuses though the scan reads it.
//!
//! `NaN` and `Infinity` become `null`, as `JSON.stringify` has it; raw control characters in strings become escapes. Bytes that
//! are no UTF-8 stay: browsers replace them.

use super::changes::{Change, Changes};
use crate::keys::{Bytes, United};
use tracemill_tokenizer::Validator;

/// Words that are no JSON values, the longer before those they begin with.
const WORDS: [&[u8]; 4] = [b"-Infinity", b"Infinity", b"-NaN", b"NaN"];

/// `text`, which does not begin inside a string, mended; `None` if there is nothing to mend.
pub(super) fn mend(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut at, mut copied, mut in_string) = (0, 0, false);
    while let Some(&byte) = text.get(at) {
        let (len, new): (usize, &[u8]) = match byte {
            b'"' => {
                in_string = !in_string;
                at += 1;
                continue;
            }
            b'\\' if in_string => {
                at += 2;
                continue;
            }
            0..0x20 if in_string => {
                out.extend_from_slice(&text[copied..at]);
                out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                (1, b"")
            }
            b'-' | b'I' | b'N' if !in_string => {
                match WORDS.iter().find(|word| text[at..].starts_with(word)) {
                    Some(word) => {
                        out.extend_from_slice(&text[copied..at]);
                        (word.len(), b"null")
                    }
                    None => {
                        at += 1;
                        continue;
                    }
                }
            }
            _ => {
                at += 1;
                continue;
            }
        };
        out.extend_from_slice(new);
        at += len;
        copied = at;
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(&text[copied..]);
    Some(out)
}

/// What became of an event.
pub(super) enum Soundness {
    Sound,
    Mended(Vec<u8>),
    /// It is not JSON, and nobody knows what was meant.
    Unsound,
}

/// Looks at every byte of an event.
pub(super) fn judge(event: &[u8], validator: &mut Validator) -> Soundness {
    if validator.check(event).is_ok() {
        return Soundness::Sound;
    }
    let mended = mend(event);
    match validator.check(mended.as_deref().unwrap_or(event)) {
        Err(defect) if defect.expected != "UTF-8" => Soundness::Unsound,
        _ => mended.map_or(Soundness::Sound, Soundness::Mended),
    }
}

/// Mends the values of the keys beside the events.
pub(super) fn mend_keys(united: &mut United<'_>, changes: &mut Changes) {
    let mut validator = Validator::default();
    for key in &mut united.keys {
        if let [one] = &*key.value
            && validator.check(one.as_slice()).is_ok()
        {
            continue;
        }
        let mut mended = false;
        for piece in &mut key.value {
            // pieces are cut between values, never inside a string
            if let Some(sound) = mend(piece.as_slice()) {
                *piece = Bytes::Made(sound);
                mended = true;
            }
        }
        changes.add(Change::MendedKeys, u64::from(mended));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_control_characters() {
        for (text, mended) in [
            (
                r#"{"a":NaN,"b":[-Infinity,Infinity , -NaN]}"#,
                r#"{"a":null,"b":[null,null , null]}"#,
            ),
            ("{\"a\":\"x\ty\u{1}\\\"NaN\"}", r#"{"a":"x\u0009y\u0001\"NaN"}"#),
        ] {
            let out = mend(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), mended);
        }
        for sound in [r#"{"a":"NaN -Infinity"}"#, "{\"a\":-1,\n\t\"b\":2}", r#"{"a":"\\"}"#] {
            assert!(mend(sound.as_bytes()).is_none(), "{sound}");
        }
    }

    #[test]
    fn what_cannot_be_mended_is_said() {
        let mut validator = Validator::default();
        let is = |text: &[u8], validator: &mut Validator| match judge(text, validator) {
            Soundness::Sound => 0,
            Soundness::Mended(_) => 1,
            Soundness::Unsound => 2,
        };
        assert_eq!(is(b"{\"a\":1}", &mut validator), 0);
        assert_eq!(is(b"{\"a\":\"\xff\"}", &mut validator), 0);
        assert_eq!(is(b"{\"a\":\"\xff\",\"b\":NaN}", &mut validator), 1);
        assert_eq!(is(b"{\"a\":01}", &mut validator), 2);
    }
}
