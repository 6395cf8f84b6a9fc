//! The same JSON with other white space between its tokens: none ([`compact`]), or one member per line ([`pretty`]).
//!
//! Tokens are copied as they stand, whatever they are: strings with their escapes, numbers with their digits, and what
//! is no JSON at all (`NaN`). No recursion: depth is counted.

use crate::text::{is_kept_apart, is_space, skip_space, string_end};

/// Levels that [`pretty`] indents; deeper ones stand below each other, so that 10,000 brackets make no 100 MB of blanks.
const INDENTED: usize = 64;
const BLANKS: [u8; 2 * INDENTED] = [b' '; 2 * INDENTED];

/// Appends `value` without the white space outside its strings.
///
/// Between two words or strings that only white space keeps apart (which JSON does not have) a blank stays: a quote that
/// touches a word would make the value unreadable, and digits another number. Cost: one pass.
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

/// Appends `value` with each member and element on a line of its own, two blanks a level; its first line goes on where
/// `out` ends, and `level` is that of its closing bracket. Empty objects and arrays stay on one line.
///
/// As `JSON.stringify(value, null, 2)` has it, for whatever is JSON. Cost: one pass; the output is up to 128 bytes a
/// token longer.
///
/// ```
/// let mut out = Vec::new();
/// tracemill_tokenizer::pretty(br#"{"a":[1,2],"b":{}}"#, 0, &mut out);
/// assert_eq!(out, b"{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
/// ```
pub fn pretty(value: &[u8], mut level: usize, out: &mut Vec<u8>) {
    let mut at = skip_space(value, 0);
    while let Some(&byte) = value.get(at) {
        let next = skip_space(value, at + 1);
        match byte {
            b'"' => {
                let end = end_of_string(value, at);
                out.extend_from_slice(&value[at..end]);
                at = skip_space(value, end);
                keep_apart(value, end, at, out);
                continue;
            }
            b'{' | b'[' => {
                out.push(byte);
                if let Some(close @ (b'}' | b']')) = value.get(next) {
                    out.push(*close);
                    at = skip_space(value, next + 1);
                    continue;
                }
                level += 1;
                break_line(level, out);
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                break_line(level, out);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                // a trailing comma: the bracket begins the line
                if !matches!(value.get(next), Some(b'}' | b']')) {
                    break_line(level, out);
                }
            }
            b':' => out.extend_from_slice(b": "),
            _ => {
                out.push(byte);
                keep_apart(value, at + 1, next, out);
            }
        }
        at = next;
    }
}

/// Appends a line break and the blanks of a level.
fn break_line(level: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.extend_from_slice(&BLANKS[..2 * level.min(INDENTED)]);
}

/// Appends a blank in place of the white space of `value[from..to]`, if it is all that keeps two words or strings apart.
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

    fn both(text: &str) -> (String, String) {
        let (mut short, mut long) = (Vec::new(), Vec::new());
        compact(text.as_bytes(), &mut short);
        pretty(text.as_bytes(), 1, &mut long);
        (String::from_utf8(short).unwrap(), String::from_utf8(long).unwrap())
    }

    #[test]
    fn white_space_goes_or_is_that_of_the_style() {
        let text = "{ \"a \\\" b\" :\t[ 1 , {\r\n} ,[ ]],\"c\":\"\\\\\" , \"d\": -1.50e3 }";
        let (short, long) = both(text);
        assert_eq!(short, r#"{"a \" b":[1,{},[]],"c":"\\","d":-1.50e3}"#);
        let lines = [
            "{",
            r#"    "a \" b": ["#,
            "      1,",
            "      {},",
            "      []",
            "    ],",
            r#"    "c": "\\","#,
            r#"    "d": -1.50e3"#,
            "  }",
        ];
        assert_eq!(long, lines.join("\n"));
        for again in [&short, &long] {
            assert_eq!(both(again), (short.clone(), long.clone()));
        }
    }

    #[test]
    fn what_is_no_json_keeps_its_tokens() {
        for (text, expected) in [
            ("[1,]", "[1,]"),
            ("[ NaN , 1 2 ]", "[NaN,1 2]"),
            ("{ \"a\" : 1\n\"b\" : \"c\"\t\"d\" e }", "{\"a\":1 \"b\":\"c\" \"d\" e}"),
            ("[ 1\"a\"\"b\" ]", "[1\"a\"\"b\"]"),
            ("{\"a\":\"open ", "{\"a\":\"open "),
            ("", ""),
        ] {
            let (short, long) = both(text);
            assert_eq!(short, expected);
            assert_eq!(both(&long), (short, long), "{text}");
        }
    }

    #[test]
    fn depth_is_cheap() {
        let text = "[".repeat(10_000) + &"]".repeat(10_000);
        let (short, long) = both(&text);
        assert_eq!(short, text);
        assert!(long.len() < 3_000_000, "{}", long.len());
    }
}
