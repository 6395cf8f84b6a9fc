//! Removes white space between JSON tokens.
//!
//! Tokens are copied unchanged: strings with their escapes, numbers with their digits, and invalid
//! tokens (`NaN`). No recursion: depth is counted.

use crate::text::{is_kept_apart, is_space, skip_space, string_end};

/// Appends `value` without white space outside strings.
///
/// A blank stays between two words or strings separated only by white space, which JSON does not
/// allow; joining them would change the tokens. Cost: one pass.
///
/// ```
/// let mut out = Vec::new();
/// tracemill_tokenizer::compact(b"{ \"a b\" : [ 1,\n 2 ] }", &mut out);
/// assert_eq!(out, b"{\"a b\":[1,2]}");
/// ```
pub fn compact(value: &[u8], out: &mut Vec<u8>) {
    let (mut at, mut start) = (0, 0);
    while let Some(&byte) = value.get(at) {
        if byte == b'"' {
            at = end_of_string(value, at);
        } else if is_space(byte) {
            out.extend_from_slice(&value[start..at]);
            start = skip_space(value, at);
            keep_apart(value, at, start, out);
            at = start;
        } else {
            at += 1;
        }
    }
    out.extend_from_slice(&value[start..]);
}

/// Appends a blank for the white space `value[from..to]` if it separates two words or strings.
fn keep_apart(value: &[u8], from: usize, to: usize, out: &mut Vec<u8>) {
    if from < to && is_kept_apart(value, from, to) {
        out.push(b' ');
    }
}

fn end_of_string(value: &[u8], at: usize) -> usize {
    string_end(value, at).unwrap_or(value.len()).min(value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compacted(text: &str) -> String {
        let mut out = Vec::new();
        compact(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn removes_white_space_outside_strings() {
        let text = "{ \"a \\\" b\" :\t[ 1 , {\r\n} ,[ ]],\"c\":\"\\\\\" , \"d\": -1.50e3 }";
        let short = compacted(text);
        assert_eq!(short, r#"{"a \" b":[1,{},[]],"c":"\\","d":-1.50e3}"#);
        assert_eq!(compacted(&short), short);
    }

    #[test]
    fn invalid_json_keeps_its_tokens() {
        for (text, expected) in [
            ("[1,]", "[1,]"),
            ("[ NaN , 1 2 ]", "[NaN,1 2]"),
            ("{ \"a\" : 1\n\"b\" : \"c\"\t\"d\" e }", "{\"a\":1 \"b\":\"c\" \"d\" e}"),
            ("[ 1\"a\"\"b\" ]", "[1\"a\"\"b\"]"),
            ("{\"a\":\"open ", "{\"a\":\"open "),
            ("", ""),
        ] {
            assert_eq!(compacted(text), expected);
        }
    }
}
