//! What the grammar allows and readers may refuse, or the other way round: what this one does.

/// A name, a value, and whether it is accepted.
#[rustfmt::skip]
pub(super) const CASES: &[(&str, &[u8], bool)] = &[
    // escapes are kept as they stand, whatever they mean
    ("lone high surrogate", b"\"\\ud83d\"", true),
    ("lone low surrogate", b"\"\\ude00\"", true),
    ("high surrogate, then a letter", b"\"\\ud83dx\"", true),
    ("high surrogate, then an escaped letter", b"\"\\ud83d\\u0041\"", true),
    ("surrogates the wrong way round", b"\"\\ude00\\ud83d\"", true),
    ("two high surrogates", b"\"\\ud83d\\ud83d\"", true),
    ("lone surrogate in a key", b"{\"\\udc00\":1}", true),
    // digits are kept as they stand, however many
    ("beyond a double", b"1e400", true),
    ("beyond a double, negative", b"-1e400", true),
    ("below a double", b"1e-400", true),
    ("an enormous exponent", b"0.4e00669999999999999999999999999999999999999999999999999999999999999999999", true),
    ("an enormous negative exponent", b"123.456e-789999999999999999999999", true),
    ("digits beyond a double", b"100000000000000000000000000000000000001", true),
    // UTF-8 is what RFC 8259 asks for
    ("invalid UTF-8", b"\"\xff\"", false),
    ("Latin-1", b"\"\xe9\"", false),
    ("overlong", b"\"\xc0\xaf\"", false),
    ("overlong NUL", b"\"\xc0\x80\"", false),
    ("overlong in three bytes", b"\"\xe0\x80\xaf\"", false),
    ("overlong in four bytes", b"\"\xf0\x80\x80\xaf\"", false),
    ("surrogate in UTF-8", b"\"\xed\xa0\x80\"", false),
    ("surrogate pair in UTF-8", b"\"\xed\xa0\xbd\xed\xb8\x80\"", false),
    ("beyond Unicode", b"\"\xf4\x90\x80\x80\"", false),
    ("five bytes", b"\"\xf8\x88\x80\x80\x80\"", false),
    ("six bytes", b"\"\xfc\x84\x80\x80\x80\x80\"", false),
    ("lone continuation", b"\"\x80\"", false),
    ("two of three bytes", b"\"\xe2\x82\"", false),
    ("three of four bytes", b"\"\xf0\x9f\x98\"", false),
    ("one of two bytes, then a letter", b"\"\xc3x\"", false),
    ("a byte of four, then an escape", b"\"\xf0\\n\"", false),
    ("invalid UTF-8 in a key", b"{\"\xff\":1}", false),
];
