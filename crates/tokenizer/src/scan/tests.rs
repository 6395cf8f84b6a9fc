//! The scanner on hand-written inputs, over every cut, tier and border.

use super::*;

/// Everything a scan finds, as lines of text.
#[derive(Default, PartialEq, Eq, Debug, Clone)]
struct Log(Vec<String>);

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Sink for Log {
    fn event(&mut self, event: &Event<'_>) {
        self.0.push(format!("{} {}", event.offset, text(event.bytes)));
    }
    fn document(&mut self, form: Form) {
        self.0.push(format!("{form:?}"));
    }
    fn member(&mut self, member: Member<'_>) {
        self.0.push(format!("{}={}", text(member.key), text(member.value)));
    }
    fn damage(&mut self, damage: Damage<'_>) {
        self.0.push(format!("{:?} {} {}", damage.kind, damage.offset, text(damage.lost)));
    }
    fn note(&mut self, note: Note, offset: u64) {
        self.0.push(format!("{note:?} {offset}"));
    }
}

/// The whole input in pieces of `piece` bytes, keeping no byte longer than the scanner asks.
fn in_pieces(input: &[u8], tier: Tier, piece: usize) -> (Log, u64) {
    let (mut scanner, mut log, mut end) = (Scanner::new(tier), Log::default(), 0);
    loop {
        end = (end + piece).min(input.len());
        let base = scanner.retain_from();
        let bytes = &input[base as usize..end];
        let window = Window { bytes, base, last: end == input.len() };
        match scanner.feed(window, Stop::NEVER, &mut log) {
            Status::NeedInput => assert!(end < input.len()),
            Status::End => return (log, scanner.classified()),
            status => panic!("{status:?} without a stop"),
        }
    }
}

/// As the pipeline does it: to the first events, then chunks from guessed starts, proven at the borders.
fn in_chunks(input: &[u8], tier: Tier, chunk: usize) -> Log {
    let mut log = Log::default();
    let mut scanner = Scanner::new(tier);
    let window = Window::whole(input);
    let stop = Stop { border: u64::MAX, at_events: true };
    let Status::Events(start) = scanner.feed(window, stop, &mut log) else { return log };
    let seed = scanner.fork(start);
    let mut from = start as usize;
    let mut at = None;
    loop {
        let to = (from + chunk).min(input.len());
        let stop =
            Stop { border: if to == input.len() { u64::MAX } else { to as u64 }, ..Stop::NEVER };
        let guess = speculate(input, from, to);
        let proven =
            at.is_some() && at == guess.map(|at| at as u64) && scanner.level() == seed.level();
        if proven {
            scanner = seed.fork(guess.expect("it equals a place") as u64);
        }
        match scanner.feed(window, stop, &mut log) {
            Status::Border(next) => at = Some(next),
            Status::End => return log,
            status => panic!("{status:?}"),
        }
        from = to;
    }
}

fn check(input: &str, expected: &[&str]) {
    check_bytes(input.as_bytes(), expected);
}

#[track_caller]
fn check_bytes(input: &[u8], expected: &[&str]) {
    let (whole, classified) = in_pieces(input, Tier::Scalar, input.len().max(1));
    assert_eq!(whole.0, expected, "{}", text(input));
    let sound = !whole
        .0
        .iter()
        .any(|line| DamageKind::ALL.iter().any(|k| line.starts_with(&format!("{k:?} "))));
    for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
        for piece in [1, 2, 7, 63, 64, 65, 128, 4096] {
            let (log, count) = in_pieces(input, tier, piece);
            assert_eq!(log, whole, "{tier} in pieces of {piece}: {}", text(input));
            assert!(!sound || count == classified && count == input.len() as u64, "scanned twice");
        }
        for chunk in [1, 5, 16, 64, 200] {
            assert_eq!(in_chunks(input, tier, chunk), whole, "chunks of {chunk}: {}", text(input));
        }
    }
}

const A: &str = r#"{"ph":"X","ts":1,"args":{"b":[{"c":"]}"}]}}"#;
const B: &str = r#"{"ts":2.5, "ph" : "i"}"#;

#[test]
fn the_array_form() {
    check(&format!("[{A},{B}]"), &["Array", &format!("1 {A}"), &format!("45 {B}")]);
    check(&format!(" [\n {A} ,\n\n {B} \n] \n"), &["Array", &format!("4 {A}"), &format!("52 {B}")]);
    check("[]", &["Array"]);
    check("", &[]);
    check(" \n", &[]);
    check("[{},{\"ph\":\"M\"},{}]", &["Array", "1 {}", "4 {\"ph\":\"M\"}", "15 {}"]);
}

#[test]
fn what_the_format_allows_is_no_loss() {
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
fn the_object_form_keeps_every_key() {
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
fn ndjson_and_its_header() {
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
fn documents_may_follow_each_other() {
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
fn other_objects_are_named_as_such() {
    check("{\"nodes\":[{\"id\":1}],\"ts\":5}", &["Plain", "\"nodes\"=[{\"id\":1}]", "\"ts\"=5"]);
    check("{}", &["Ndjson", "0 {}"]);
    check("42", &["Garbage 0 42"]);
    check("\"str\"", &["Garbage 0 \"str\""]);
    check("<html>", &["Garbage 0 <html>"]);
}

#[test]
fn a_bare_quote_loses_one_event() {
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
fn brackets_that_do_not_match() {
    for bad in [
        r#"{"ph":"X","args":{"a":1}"#,
        r#"{"ph":"X","args":[}"#,
        r#"{"ph":"X","args":{]}"#,
        r#"{"ph":"X",{}}"#,
    ] {
        let input = format!("[{bad},{A},{B}]");
        let at = 1 + bad.len() + 1;
        let log = in_pieces(input.as_bytes(), Tier::Scalar, 4096).0;
        assert_eq!(log.0[2..], [format!("{at} {A}"), format!("{} {B}", at + 44)], "{bad} {log:?}");
        let lines: Vec<&str> = log.0.iter().map(String::as_str).collect();
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
fn cut_off_events() {
    check(
        &format!("[{A},{{\"ph\":\"X\",\"na"),
        &["Array", &format!("1 {A}"), "Truncated 45 {\"ph\":\"X\",\"na"],
    );
    // nested objects of the lost event are no events
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
fn a_stray_bracket_costs_nothing_but_itself() {
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
fn a_document_may_begin_before_the_last_one_was_closed() {
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
fn a_second_document_behind_damage_is_entered() {
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
fn a_damaged_last_event_leaves_the_keys() {
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
fn damage_in_the_keys() {
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
fn garbage_between_events_is_named() {
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
fn every_prefix_ends_and_loses_nothing_before_the_cut() {
    let input = format!(
        "{{\"a\":{{\"b\":1}},\"traceEvents\":[{A},{B},{{}},{A}],\"c\":[1,2],\"d\":\"e\"}}\n"
    );
    let (full, _) = in_pieces(input.as_bytes(), Tier::Scalar, 4096);
    for cut in 0..input.len() {
        let lines = in_pieces(&input.as_bytes()[..cut], Tier::Scalar, 4096).0;
        let refs: Vec<&str> = lines.0.iter().map(String::as_str).collect();
        check(&input[..cut], &refs);
        let events = |log: &Log| {
            log.0
                .iter()
                .filter(|l| l.contains("\"ph\"") && l.as_bytes()[0].is_ascii_digit())
                .count()
        };
        let complete = full.0.iter().filter_map(|l| {
            let (at, event) = l.split_once(' ')?;
            at.parse::<usize>()
                .ok()
                .filter(|at| event.contains("\"ph\"") && at + event.len() <= cut)
        });
        assert_eq!(events(&lines), complete.count(), "{cut}");
    }
}

#[test]
fn deep_nesting_costs_a_bit_a_level() {
    let deep = 100_000;
    let event = format!(
        "{{\"ph\":\"X\",\"args\":{}{}}}",
        "[{\"a\":".repeat(deep),
        "1".to_owned() + &"}]".repeat(deep)
    );
    let input = format!("[{event},{B}]");
    let (log, _) = in_pieces(input.as_bytes(), Tier::best(), input.len());
    assert_eq!(log.0.len(), 3);
    // the same, cut off: no quadratic search
    let (log, _) = in_pieces(&input.as_bytes()[..input.len() / 2], Tier::best(), input.len());
    assert_eq!(log.0.len(), 2);
    assert!(log.0[1].starts_with("Truncated 1 "));
}
