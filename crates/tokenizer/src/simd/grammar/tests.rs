//! Compares every proof with the byte-by-byte reader: it accepts nothing invalid, and most valid
//! text.

use super::*;
use crate::grammar::Validator;
use crate::simd::BLOCK;

fn tiers() -> impl Iterator<Item = (Tier, Prove)> {
    let all = Tier::ALL.into_iter().filter(|tier| tier.is_available());
    all.map(|tier| (tier, Prove::of(tier))).filter(|(_, prove)| !matches!(prove, Prove::Nothing))
}

/// Asserts that all tiers with a proof accept `text`.
#[track_caller]
fn assert_proved(text: &[u8]) {
    let expected = if text.is_ascii() { Proof::Json } else { Proof::JsonIfUtf8 };
    for (tier, prove) in tiers() {
        assert_eq!(prove.run(text), expected, "{tier}: {}", String::from_utf8_lossy(text));
    }
}

/// Asserts that all tiers agree with the reader; returns whether the text is JSON.
#[track_caller]
fn assert_agree(text: &[u8]) -> bool {
    let expected = Validator::new(Tier::Scalar).check(text);
    for (tier, prove) in tiers() {
        let text_of = || String::from_utf8_lossy(text);
        assert_eq!(Validator::new(tier).check(text), expected, "{tier}: {}", text_of());
        if expected.is_err() {
            assert_ne!(prove.run(text), Proof::Json, "{tier}: {}", text_of());
        }
        assert_object_agrees(prove, text);
    }
    expected.is_ok()
}

/// Asserts that colons arrive in ascending order.
struct Own(usize);

impl Colons for Own {
    fn colons(&mut self, base: usize, mut colons: u64) -> bool {
        while colons != 0 {
            let at = base + colons.trailing_zeros() as usize;
            assert!(at > self.0);
            self.0 = at;
            colons &= colons - 1;
        }
        true
    }
}

/// Asserts that an object is proved only if the reader accepts it, whatever follows.
#[track_caller]
fn assert_object_agrees(prove: Prove, text: &[u8]) {
    let Some(start) = text.iter().position(|&b| b == b'{') else { return };
    let behind = text.iter().cycle().take(BLOCK);
    let long: Vec<u8> = text.iter().chain(behind).copied().collect();
    if let Some(Sound { end, ascii }) = prove.object(&long, start, &mut Own(start)) {
        let object = &long[start..end];
        assert_eq!(ascii, object.is_ascii(), "{}", object.escape_ascii());
        let known = Validator::new(Tier::Scalar).check_value(object);
        assert!(known.is_ok() || !ascii, "{known:?}: {}", object.escape_ascii());
    }
}

#[test]
fn short_texts_across_a_block_boundary_agree() {
    const BYTES: &[u8] = b"{}[],:\"1 \\";
    const MOST: usize = if cfg!(miri) { 3 } else { 6 };
    let mut text = vec![b' '; 61];
    let mut sound = 0;
    for number in 0..BYTES.len().pow(MOST as u32) {
        text.truncate(61);
        let mut rest = number;
        for _ in 0..MOST {
            text.push(BYTES[rest % BYTES.len()]);
            rest /= BYTES.len();
        }
        sound += usize::from(assert_agree(&text));
    }
    assert!(sound > 5_000 || cfg!(miri), "{sound}");
}

const OBJECT: &str =
    r#"{"args":{"a":[1,-2.5e3,true,{"b\\\"\u00e9":null}],"c":"é"},"ts":0,"name":"x"}"#;

#[test]
fn valid_text_is_proved_at_every_offset_in_a_block() {
    for before in (0..130).step_by(crate::EVERY) {
        let (long, space) = ("x".repeat(before), " ".repeat(before));
        let (zeros, deep) = ("0".repeat(before), before.min(63));
        for text in [
            format!("{space}{OBJECT}"),
            format!("{{\"{long}\" : {OBJECT}}}"),
            format!("[\"{long}\\\\\",\"{long}\\\"\"]\n"),
            format!("[{}0.5]", "1,".repeat(before)),
            format!("[1{zeros}, 2,0.{zeros}1]"),
            format!("[1{space},{space}0.5{space}]{space}"),
            format!("[{}1.{zeros}1E-7]", "[],".repeat(before)),
            format!("{}1{}", "[".repeat(deep), "]".repeat(deep)),
        ] {
            assert_proved(text.as_bytes());
        }
    }
}

#[test]
fn consecutive_documents_are_proved() {
    for text in ["", " ", "{}\n{}\n", "1 2", "{}[]", "\"a\" \"b\"", "[1]\r\n\t[2]"] {
        assert_proved(text.as_bytes());
    }
}

/// Replaces each byte of an object by each significant byte, at many offsets.
#[test]
#[cfg_attr(miri, ignore = "hours")]
fn one_changed_byte_is_judged_like_the_reader() {
    const BYTES: &[u8] = b"{}[],:\"\\ \n\x01\x7f\xc3\xa90159-+.eEutrfnN/";
    let mut unsound = 0;
    for before in (0..64).step_by(7) {
        let text = format!("[{}{OBJECT}]", " ".repeat(before));
        for at in 0..text.len() {
            for &byte in BYTES {
                let mut text = text.clone().into_bytes();
                text[at] = byte;
                unsound += usize::from(!assert_agree(&text));
            }
            assert!(!assert_agree(&text.as_bytes()[..at]) || at == 0);
        }
    }
    assert!(unsound > 10_000, "{unsound}");
}

#[test]
fn strings_ending_at_every_offset_are_proved() {
    for len in (0..200).step_by(crate::EVERY) {
        let plain = vec![b'x'; len];
        for (inside, sound) in [
            (&b""[..], true),
            (b"\\n", true),
            (b"\\u12aF", true),
            (b"\\\\", true),
            (b"\\u12g4", false),
            (b"\\x", false),
            (b"\n", false),
            ("é€😀".as_bytes(), true),
            (b"\xff", false),
            (b"\xe2\x82", false),
            (b"\"", false),
        ] {
            let text = [b"[\"", &plain[..], inside, b"\",\"", &plain, b"\"]"].concat();
            assert_eq!(assert_agree(&text), sound, "{len}: {inside:?}");
            if sound {
                assert_proved(&text);
            }
        }
    }
}

#[test]
fn numbers_and_words_at_every_offset_agree() {
    for before in (0..66).step_by(crate::EVERY) {
        for (value, sound) in [
            ("0", true),
            ("-0", true),
            ("10", true),
            ("-1.50e+10", true),
            ("0.00", true),
            ("123456789012345678901234567890", true),
            ("true", true),
            ("false", true),
            ("null", true),
            ("01", false),
            ("-01", false),
            ("00", false),
            ("1.", false),
            (".5", false),
            ("-", false),
            ("+1", false),
            ("1e", false),
            ("1-", false),
            ("1.5.5", false),
            ("nul", false),
            ("truefalse", false),
            ("true1", false),
            ("1true", false),
            ("NaN", false),
            ("é", false),
            ("\\\"", false),
        ] {
            let text = format!("{}[{value},{value}]", " ".repeat(before));
            assert_eq!(assert_agree(text.as_bytes()), sound, "{text}");
            if sound {
                assert_proved(text.as_bytes());
            }
        }
    }
}

#[test]
fn deep_nesting_is_left_to_the_reader() {
    let deep = if cfg!(miri) { 1_000 } else { 1_000_000 };
    for depth in [1, 62, 63, 64, 65, 128, deep] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert!(assert_agree(text.as_bytes()), "{depth}");
            let odd = format!("{}1{}", open.repeat(depth), close.repeat(depth + 1));
            assert!(!assert_agree(odd.as_bytes()), "{depth}");
            if depth < 64 {
                assert_proved(text.as_bytes());
            }
        }
    }
}
