//! Repairs text that deviates from JSON, such as `NaN` or a trailing comma ([`Lapse`](crate::Lapse)).

use crate::grammar::{Defect, lapses};

/// Repairs the deviations in a text of JSON values; returns `None` if there are no deviations. All
/// other bytes are unchanged. Cost: one pass over the bytes, and a copy if there is a deviation.
///
/// # Errors
/// Returns the first syntax error that is not a deviation.
///
/// ```
/// use tracemill_tokenizer::mend;
///
/// assert_eq!(mend(b"[1,NaN,]"), Ok(Some(b"[1,null]".to_vec())));
/// assert_eq!(mend(b"[1]"), Ok(None), "it is JSON");
/// assert!(mend(b"[tru]").is_err());
/// ```
pub fn mend(text: &[u8]) -> Result<Option<Vec<u8>>, Defect> {
    let (mut out, mut copied) = (Vec::new(), 0);
    lapses(text, |lapse, at| {
        out.extend_from_slice(&text[copied..at.start]);
        lapse.mended(&text[at.clone()], &mut out);
        copied = at.end;
    })?;
    if copied == 0 {
        return Ok(None);
    }
    out.extend_from_slice(&text[copied..]);
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate;

    /// Returns the repaired text, and the kinds of its deviations.
    fn mended(text: &[u8]) -> (Vec<u8>, Vec<&'static str>) {
        let mut kinds = Vec::new();
        lapses(text, |lapse, _| kinds.push(lapse.name())).expect("lapses only");
        let out = mend(text).expect("as above").unwrap_or_else(|| text.to_vec());
        assert_eq!(validate(&out), Ok(()));
        (out, kinds)
    }

    #[test]
    fn every_deviation_is_repaired() {
        for (text, json, kinds) in [
            (
                &br#"{"a":NaN,"b":[-Infinity,Infinity , -NaN]}"#[..],
                r#"{"a":null,"b":[null,null , null]}"#,
                "nan nan nan nan",
            ),
            (
                b"{\"a\":\"x\ty\x01\\\"NaN\"}",
                r#"{"a":"x\u0009y\u0001\"NaN"}"#,
                "raw-control raw-control",
            ),
            (
                b"{\"\xff\xfe\":\"a\xe9\n\xf0\x9f\"}",
                "{\"\u{fffd}\u{fffd}\":\"a\u{fffd}\\u000a\u{fffd}\"}",
                "utf8 utf8 utf8 raw-control utf8",
            ),
            (b"{\"a\":[1,2 , ],}", r#"{"a":[1,2  ]}"#, "trailing-comma trailing-comma"),
            (
                br#"{"a\q":"C:\demo\u12\x\\"}"#,
                r#"{"a\\q":"C:\\demo\\u12\\x\\"}"#,
                "bad-escape bad-escape bad-escape bad-escape",
            ),
        ] {
            let (out, found) = mended(text);
            assert_eq!(
                (String::from_utf8(out).expect("UTF-8").as_str(), found.join(" ").as_str()),
                (json, kinds)
            );
        }
    }

    #[test]
    fn valid_text_is_unchanged() {
        for text in [
            "{\"a\":\"NaN \\u00e9 -Infinity\"}",
            "{\"a\":-1,\n\t\"b\":2}",
            r#"{"a":"\\"} [] 1"#,
            "",
        ] {
            assert_eq!(mend(text.as_bytes()), Ok(None), "{text}");
        }
    }

    #[test]
    fn ambiguous_text_is_an_error() {
        for (text, offset) in [
            (&br#"{"pid" 1}"#[..], 7),
            (br#"{"x":tru}"#, 5),
            (br#"{"x":01}"#, 6),
            (br#"{"x" "y"}"#, 5),
            (br#"{"x":NaN "y"}"#, 9),
            (b"[,1]", 1),
            (b"[1,,2]", 3),
            (b"{,}", 1),
            (b"[1,", 3),
            (br#"["a\"#, 3),
            (b"nan", 0),
            (b"\xff", 0),
        ] {
            assert_eq!(
                mend(text).map_err(|defect| defect.offset),
                Err(offset),
                "{}",
                text.escape_ascii()
            );
        }
    }
}
