//! Tests of the scanner on hand-written inputs, with every cut, tier and border.

use crate::scanned::{in_chunks, in_pieces, proved, tiers, whole};
use tracemill_tokenizer::Tier;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the findings of one tier, as lines.
fn found(input: &[u8]) -> Vec<String> {
    whole(input, Tier::Scalar).lines()
}

fn check(input: &str, expected: &[&str]) {
    check_bytes(input.as_bytes(), expected);
}

#[track_caller]
fn check_bytes(input: &[u8], expected: &[&str]) {
    let pieces = |size: usize| std::iter::repeat(size);
    let (whole, classified) = in_pieces(input, Tier::Scalar, pieces(input.len().max(1)));
    assert_eq!(whole.lines(), expected, "{}", text(input));
    for tier in tiers() {
        for piece in [1, 2, 7, 63, 64, 65, 128, 4096] {
            let (log, count) = in_pieces(input, tier, pieces(piece));
            assert_eq!(log, whole, "{tier} in pieces of {piece}: {}", text(input));
            let once = count == classified && count == input.len() as u64;
            assert!(!whole.is_sound() || once, "scanned twice");
            let (log, _) = proved(input, tier, pieces(piece));
            assert_eq!(log, whole, "{tier}, proving, in pieces of {piece}: {}", text(input));
        }
        for chunk in [1, 5, 16, 64, 200] {
            assert_eq!(in_chunks(input, tier, chunk), whole, "chunks of {chunk}: {}", text(input));
        }
    }
}

const A: &str = r#"{"ph":"X","ts":1,"args":{"b":[{"c":"]}"}]}}"#;
const B: &str = r#"{"ts":2.5, "ph" : "i"}"#;

#[test]
fn reads_the_array_form() {
    check(&format!("[{A},{B}]"), &["Array", &format!("1 {A}"), &format!("45 {B}")]);
    check(&format!(" [\n {A} ,\n\n {B} \n] \n"), &["Array", &format!("4 {A}"), &format!("52 {B}")]);
    check("[]", &["Array"]);
    check("", &[]);
    check(" \n", &[]);
    check("[{},{\"ph\":\"M\"},{}]", &["Array", "1 {}", "4 {\"ph\":\"M\"}", "15 {}"]);
}

#[test]
fn allowed_deviations_lose_nothing() {
    check(&format!("[{A}"), &["Array", &format!("1 {A}"), "Unclosed 44"]);
    check(&format!("[{A},\n"), &["Array", &format!("1 {A}"), "Unclosed 46", "Separators 44"]);
    check(&format!("[{A},]"), &["Array", &format!("1 {A}"), "Separators 44"]);
    check(&format!("[,{A}]"), &["Array", "Separators 1", &format!("2 {A}")]);
    check(&format!("[{A}{B}]"), &["Array", &format!("1 {A}"), "Separators 44", &format!("44 {B}")]);
    check("[", &["Array", "Unclosed 1"]);
    check(&format!("{{\"traceEvents\":[{A}"), &["Object", &format!("16 {A}"), "Unclosed 59"]);
    check(
        &format!("{{\"traceEvents\":[{A}],\"a\":\"b\""),
        &["Object", &format!("16 {A}"), "\"a\"=\"b\"", "Unclosed 68"],
    );
}

#[test]
fn object_form_keeps_every_key() {
    check(
        &format!(
            "{{\"x\":1,\"y\" : [1,{{\"traceEvents\":[]}}] ,\n\"traceEvents\": [{B}],\"z\":\"w\\\"\" ,\"x\":null}}"
        ),
        &[
            "Object",
            "\"x\"=1",
            "\"y\"=[1,{\"traceEvents\":[]}]",
            &format!("54 {B}"),
            "\"z\"=\"w\\\"\"",
            "\"x\"=null",
        ],
    );
    check("{\"traceEvents\":[]}", &["Object"]);
    check("{\"trace\\u0045vents\":[{}],\"a\\\"\":2}", &["Object", "21 {}", "\"a\\\"\"=2"]);
    check("{\"traceEvents\":[{}],\"traceEvents\":[{}]}", &["Object", "16 {}", "35 {}"]);
    check("{\"traceEvents\":null,\"a\":1}", &["Plain", "\"a\"=1"]);
    check("{\"traceEvents\":7,\"a\":1}", &["Plain", "NotEvents 15 7", "\"a\"=1"]);
}

#[test]
fn reads_ndjson_with_header() {
    check(&format!("{A}\n{B}\n"), &["Ndjson", &format!("0 {A}"), &format!("44 {B}")]);
    check(
        &format!("{{\"tracemill\":{{\"a\":{{\"b\":1}}, \"c\":[2]}}}}\n{A}\n"),
        &["Ndjson", "\"a\"={\"b\":1}", "\"c\"=[2]", &format!("37 {A}")],
    );
    check(
        &format!("{A}\n{{\"x\":1}}\n{{}}\n"),
        &["Ndjson", &format!("0 {A}"), "44 {\"x\":1}", "52 {}"],
    );
}

#[test]
fn reads_consecutive_documents() {
    check(
        &format!("[{B}]\n{{\"traceEvents\":[{B}],\"k\":1}}{A}\n[{B}"),
        &[
            "Array",
            &format!("1 {B}"),
            "Object",
            &format!("41 {B}"),
            "\"k\"=1",
            "Ndjson",
            &format!("71 {A}"),
            "Array",
            &format!("116 {B}"),
            "Unclosed 138",
        ],
    );
}

#[test]
fn objects_without_events_are_reported() {
    check("{\"nodes\":[{\"id\":1}],\"ts\":5}", &["Plain", "\"nodes\"=[{\"id\":1}]", "\"ts\"=5"]);
    check("{}", &["Ndjson", "0 {}"]);
    check("42", &["Garbage 0 42"]);
    check("\"str\"", &["Garbage 0 \"str\""]);
    check("<html>", &["Garbage 0 <html>"]);
}

#[test]
fn bare_quote_loses_one_event() {
    let bad = r#"{"name":"a"b","ph":"X","ts":3}"#;
    for bad in [
        bad,
        r#"{"name":"a"b"c"d","ph":"X"}"#,
        r#"{"name":"a "1" b","ph":"X"}"#,
        r#"{"name":"a"","ph":"X"}"#,
        r#"{"name":"\","ph":"X"}"#,
        r#"{"name":x,"ph":"X"}"#,
    ] {
        let input = format!("[{A},{bad},{B},{A}]");
        let at = 45 + bad.len() + 1;
        check(
            &input,
            &[
                "Array",
                &format!("1 {A}"),
                &format!("Malformed 45 {bad},"),
                &format!("{at} {B}"),
                &format!("{} {A}", at + 23),
            ],
        );
    }
}

#[test]
fn mismatched_brackets_lose_at_most_one_event() {
    for bad in [
        r#"{"ph":"X","args":{"a":1}"#,
        r#"{"ph":"X","args":[}"#,
        r#"{"ph":"X","args":{]}"#,
        r#"{"ph":"X",{}}"#,
    ] {
        let input = format!("[{bad},{A},{B}]");
        let at = 1 + bad.len() + 1;
        let lines = found(input.as_bytes());
        assert_eq!(
            lines[2..],
            [format!("{at} {A}"), format!("{} {B}", at + 44)],
            "{bad} {lines:?}"
        );
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(&input, &lines);
    }
    check(
        &format!("[{A}}},{B}]"),
        &["Array", &format!("1 {A}"), "Brackets 44 },", &format!("46 {B}")],
    );
    check(
        &format!("{{\"traceEvents\":[{B}]}}}}"),
        &["Object", &format!("16 {B}"), "Brackets 40 }"],
    );
}

#[test]
fn truncated_events_are_reported() {
    check(
        &format!("[{A},{{\"ph\":\"X\",\"na"),
        &["Array", &format!("1 {A}"), "Truncated 45 {\"ph\":\"X\",\"na"],
    );
    // nested objects of the lost event are not events
    check(
        "[{\"args\":{\"nodes\":[{\"id\":1},{\"id\":2},{\"id\"",
        &["Array", "Truncated 1 {\"args\":{\"nodes\":[{\"id\":1},{\"id\":2},{\"id\""],
    );
    // an unfinished document, then another
    check(
        &format!("[{A},{{\"ph\":\"X\",\"na[{B},{A}]"),
        &[
            "Array",
            &format!("1 {A}"),
            "Malformed 45 {\"ph\":\"X\",\"na[",
            &format!("59 {B}"),
            &format!("82 {A}"),
        ],
    );
    check(
        &format!("[{A},[{B},{A}]"),
        &["Array", &format!("1 {A}"), "Garbage 45 [", &format!("46 {B}"), &format!("69 {A}")],
    );
}

#[test]
fn stray_bracket_loses_no_event() {
    check(
        &format!("{{\"traceEvents\":[{B}],{B},{A}],\"d\":2}}"),
        &[
            "Object",
            &format!("16 {B}"),
            "Brackets 40 ",
            &format!("40 {B}"),
            &format!("63 {A}"),
            "\"d\"=2",
        ],
    );
}

#[test]
fn next_document_may_begin_in_an_unclosed_one() {
    check(
        &format!("{{\"traceEvents\":[{B},\n{{\"traceEvents\":[{B},{A}],\"d\":2}}"),
        &[
            "Object",
            &format!("16 {B}"),
            "Garbage 40 {\"traceEvents\":[",
            &format!("56 {B}"),
            &format!("79 {A}"),
            "\"d\"=2",
        ],
    );
}

#[test]
fn second_document_after_damage_is_read() {
    check(
        &format!(
            "{{\"traceEvents\":[{B},{{\"ph\":\"X\",\"na\n{{\"traceEvents\":[{B},{A}],\"d\":true"
        ),
        &[
            "Object",
            &format!("16 {B}"),
            "Malformed 39 {\"ph\":\"X\",\"na\n{\"traceEvents\":[",
            &format!("69 {B}"),
            &format!("92 {A}"),
            "\"d\"=true",
            "Unclosed 145",
        ],
    );
}

#[test]
fn damaged_last_event_keeps_the_keys() {
    check(
        &format!(
            "{{\"traceEvents\":[{B},{{\"ph\":\"X\",\"name\":\"a\"b\"}}],\"metadata\":{{\"c\":[1]}}}}"
        ),
        &[
            "Object",
            &format!("16 {B}"),
            "Malformed 39 {\"ph\":\"X\",\"name\":\"a\"b\"}",
            "\"metadata\"={\"c\":[1]}",
        ],
    );
}

#[test]
fn damage_in_top_level_keys_is_reported() {
    check(
        &format!("{{\"a\":1,\"b\":{{\"c\":\"x\"y\"}},\"traceEvents\":[{A},{B}],\"d\":2}}"),
        &[
            "Object",
            "\"a\"=1",
            "Malformed 7 \"b\":{\"c\":\"x\"y\"},\"traceEvents\":[",
            &format!("38 {A}"),
            &format!("82 {B}"),
            "\"d\"=2",
        ],
    );
    check(
        &format!("{{\"traceEvents\":[{B}],\"d\":2,\"e\":[1"),
        &["Object", &format!("16 {B}"), "\"d\"=2", "Truncated 46 \"e\":[1"],
    );
    check(
        &format!("{{\"traceEvents\":[{B}],\"d\":2"),
        &["Object", &format!("16 {B}"), "Truncated 40 \"d\":2"],
    );
    check(
        "{\"metadata\":{\"a\":1},\"trace",
        &["Object", "\"metadata\"={\"a\":1}", "Truncated 20 \"trace"],
    );
}

#[test]
fn garbage_between_keys_is_reported() {
    check(
        &format!("{{5,\"traceEvents\":[{B}],\"c\" , \"d\":2}}"),
        &["Object", "Garbage 1 5", &format!("18 {B}"), "Garbage 42 \"c\"", "\"d\"=2"],
    );
    check(
        &format!("{{\"traceEvents\":[{B}] 1,:2, }}"),
        &["Object", &format!("16 {B}"), "Garbage 40 1,:2"],
    );
    check("{\"c\",\"d\":\"e\":3}", &["Plain", "Garbage 1 \"c\"", "\"d\"=\"e\":3"]);
    check("{\"d\":1:2,\"e\":3,4}", &["Plain", "\"d\"=1:2", "\"e\"=3,4"]);
    check(
        &format!("{{\"tracemill\":{{\"a\":1}},2}}\n{B}\n"),
        &["Plain", "\"tracemill\"={\"a\":1},2", "Ndjson", &format!("24 {B}")],
    );
}

#[test]
fn garbage_between_events_is_reported() {
    check(
        &format!("[{A},null,{B}, 1 ]"),
        &["Array", &format!("1 {A}"), "Garbage 45 null", &format!("50 {B}"), "Garbage 74 1"],
    );
    check(
        &format!("[{A},// why\n{B}]"),
        &["Array", &format!("1 {A}"), "Garbage 45 // why\n", &format!("52 {B}")],
    );
    check(
        &format!("[{A},/**/{B}]"),
        &["Array", &format!("1 {A}"), "Garbage 45 /**/", &format!("49 {B}")],
    );
    check(
        &format!("{{\"pid\":1,\"name\":\"a\"b\",\"ph\":\"X\"}}\n{B}\n"),
        &["Malformed 0 {\"pid\":1,\"name\":\"a\"b\",\"ph\":\"X\"}\n", "Ndjson", &format!("32 {B}")],
    );
    check(
        &format!("{A}\nxyz\n{B}\n"),
        &["Ndjson", &format!("0 {A}"), "Garbage 44 xyz\n", &format!("48 {B}")],
    );
}

#[test]
fn every_prefix_keeps_the_events_before_the_cut() {
    let input = format!(
        "{{\"a\":{{\"b\":1}},\"traceEvents\":[{A},{B},{{}},{A}],\"c\":[1,2],\"d\":\"e\"}}\n"
    );
    let full = found(input.as_bytes());
    for cut in 0..input.len() {
        let lines = found(&input.as_bytes()[..cut]);
        let refs: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(&input[..cut], &refs);
        let is_event = |l: &&String| l.contains("\"ph\"") && l.as_bytes()[0].is_ascii_digit();
        let events = lines.iter().filter(is_event).count();
        let complete = full.iter().filter_map(|l| {
            let (at, event) = l.split_once(' ')?;
            at.parse::<usize>()
                .ok()
                .filter(|at| event.contains("\"ph\"") && at + event.len() <= cut)
        });
        assert_eq!(events, complete.count(), "{cut}");
    }
}

/// Covers valid events that the scan proves, among other objects and objects that it cannot prove.
#[test]
fn proving_scan_finds_the_same_events() {
    let filler = "-".repeat(70);
    let sound = [A.to_owned(), B.to_owned(), format!(r#"{{"ts":3,"name":"é{filler}"}}"#)];
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(70), "]".repeat(70));
    let others = [
        r#"{"ts":1,}"#,
        r#"{"ts":01}"#,
        r#"{"ts":NaN}"#,
        r#"{"ts" 1}"#,
        r#"{"name":"\q"}"#,
        r#"{"a":[}"#,
        r#"{"a":"b"#,
        r#"{"traceEvents":[{"ts":9}]}"#,
        r#"{"a":{"traceEvents":[{"ts":9}]}}"#,
        r#"{"p\u0068":"X","ts" : 7}"#,
        "7,",
        "]",
        "]}",
        "}",
        "{",
        "x",
        "\u{feff}",
        &deep,
    ];
    let mut count = 0;
    for other in others {
        for gap in [",", ",\n", " ,\n  ", "", ",,", &" ".repeat(100)] {
            for open in ["[", "{\"traceEvents\":[", ""] {
                let all = sound.join(gap);
                let input = format!("{open}{all}{gap}{other}{gap}{all}{gap}{all}\n{filler}");
                let input = input.as_bytes();
                for tier in tiers() {
                    let expected = whole(input, tier);
                    for piece in [1, 64, 100, 300, input.len()] {
                        let (log, proved) = proved(input, tier, std::iter::repeat(piece));
                        assert_eq!(log, expected, "{tier}, pieces of {piece}: {}", text(input));
                        count += proved;
                    }
                }
            }
        }
    }
    // these tiers have no proof
    let unproved = |tier| matches!(tier, Tier::Scalar | Tier::Neon);
    assert!(count > 10_000 || tiers().all(unproved), "{count}");
}

#[test]
fn deep_nesting_is_scanned_in_linear_time() {
    let deep = 100_000;
    let event = format!(
        "{{\"ph\":\"X\",\"args\":{}{}}}",
        "[{\"a\":".repeat(deep),
        "1".to_owned() + &"}]".repeat(deep)
    );
    let input = format!("[{event},{B}]");
    assert_eq!(whole(input.as_bytes(), Tier::best()).found.len(), 3);
    // the same, truncated: no quadratic search
    let lines = whole(&input.as_bytes()[..input.len() / 2], Tier::best()).lines();
    assert_eq!(lines.len(), 2);
    assert!(lines[1].starts_with("Truncated 1 "));
}
