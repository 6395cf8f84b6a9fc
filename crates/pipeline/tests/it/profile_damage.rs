//! Damaged CPU profile streams: each problem is counted with its offset, the undamaged data is
//! saved, and other streams are unaffected.

use crate::extract::{Extracted, check_rules, extract, kinds};
use crate::run::{Knobs, PLAIN, knobs};
use crate::trace::assert_same;
use serde_json::Value;
use tracemill_testkit::damage::any_damage;
use tracemill_testkit::generate::{Arrangement, ProfileShape, profile_trace};
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::run::flaws::FlawKind::{self, *};

fn corners() -> impl Iterator<Item = Knobs> {
    [1, 9, 28, 53, 64].into_iter().map(knobs)
}

const HEAD: &str = r#"{"name":"Profile","ph":"P","pid":1,"tid":7,"id":"0x1","ts":100,"args":{"data":{"startTime":100}}}"#;
/// A valid stream with another pid, around the damaged one.
const OTHERS: [&str; 3] = [
    r#"{"name":"Profile","ph":"P","pid":2,"tid":7,"id":"0x1","ts":50,"args":{"data":{"startTime":50}}}"#,
    r#"{"name":"ProfileChunk","ph":"P","pid":2,"tid":9,"id":"0x1","ts":60,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{}}],"samples":[1]},"timeDeltas":[4]}}}"#,
    r#"{"name":"ProfileChunk","ph":"P","pid":2,"tid":9,"id":"0x1","ts":900,"args":{"data":{"cpuProfile":{"nodes":[{"id":2,"callFrame":{},"parent":1}],"samples":[2]},"timeDeltas":[8]}}}"#,
];

fn chunk(number: usize, args: &str) -> String {
    let ts = 200 + 10 * number;
    format!(
        r#"{{"name":"ProfileChunk","ph":"P","pid":1,"tid":8,"id":"0x1","ts":{ts},"args":{args}}}"#
    )
}

/// Returns chunks with these data: `nodes`, `samples` and `timeDeltas` in one object.
fn chunks(data: &[&str]) -> Vec<String> {
    let args = data.iter().map(|data| format!("{{\"data\":{data}}}"));
    args.enumerate().map(|(number, args)| chunk(number, &args)).collect()
}

/// Returns a trace with a damaged stream inside the valid one.
fn around(head: &str, chunks: &[String]) -> Vec<u8> {
    let mut events = vec![OTHERS[0], OTHERS[1]];
    events.extend((!head.is_empty()).then_some(head));
    events.extend(chunks.iter().map(String::as_str));
    events.push(OTHERS[2]);
    format!("{{\"traceEvents\":[\n{}\n]}}\n", events.join(",\n")).into_bytes()
}

/// The kinds of problems, their counts, and the text at the first one.
type Expected<'e> = &'e [(FlawKind, u64, &'e str)];

fn find(trace: &[u8], text: &str) -> u64 {
    let mut found = trace.windows(text.len()).enumerate().filter(|(_, w)| *w == text.as_bytes());
    let (at, _) = found.next().unwrap_or_else(|| panic!("{text} is not in the trace"));
    at as u64
}

/// Extracts with all knobs, and asserts the problems of the damaged stream and that the other one
/// is complete. Returns the data that is saved from the damaged profile.
#[track_caller]
fn check_trace(trace: &[u8], expected: Expected<'_>) -> Option<Extracted> {
    let shown = String::from_utf8_lossy(trace).into_owned();
    let flaws: Vec<(FlawKind, u64, u64)> =
        expected.iter().map(|&(kind, count, text)| (kind, count, find(trace, text))).collect();
    let alone = extract(&[&around("", &[])], PLAIN).expect("a profile").remove(0);
    let mut first: Option<Vec<Extracted>> = None;
    for corner in [PLAIN].into_iter().chain(corners()) {
        let all = extract(&[trace], corner).unwrap_or_else(|e| panic!("{e}\n{shown}"));
        let (other, damaged): (Vec<_>, Vec<_>) =
            all.iter().partition(|profile| profile.info.pid == "2");
        assert_eq!(other.len(), 1, "{shown}");
        assert_same("the other stream", &alone.bytes, &other[0].bytes);
        assert!(other[0].info.flaws.is_empty(), "{:?}\n{shown}", other[0].info.flaws);
        for profile in damaged {
            assert_eq!(kinds(&profile.info.flaws), flaws, "{corner:?}\n{shown}");
        }
        for (before, after) in first.iter().flatten().zip(&all) {
            assert_same(&format!("{corner:?}\n{shown}"), &before.bytes, &after.bytes);
        }
        first.get_or_insert(all);
    }
    check_as_second_input(trace, &flaws);
    first.into_iter().flatten().find(|profile| profile.info.pid != "2")
}

/// Asserts that offsets refer to the right input.
#[track_caller]
fn check_as_second_input(trace: &[u8], flaws: &[(FlawKind, u64, u64)]) {
    let other = br#"[{"name":"first","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}]"#;
    let all = extract(&[other, trace], PLAIN).expect("sound enough");
    for profile in all.iter().filter(|profile| profile.info.pid != "2") {
        assert_eq!(kinds(&profile.info.flaws), flaws, "as second input");
        let mut inputs = profile.info.flaws.iter().map(|(_, flaw)| &flaw.input);
        assert!(inputs.all(|input| input.ends_with("in1")), "{:?}", profile.info.flaws);
    }
}

/// Formats the nodes of a profile as `id<parent`, in order.
fn tree(profile: &Value) -> String {
    let nodes = profile["nodes"].as_array().expect("checked by the helper");
    let parent = |id: &Value| {
        let is_child = |node: &&Value| {
            node["children"].as_array().is_some_and(|children| children.contains(id))
        };
        nodes.iter().find(is_child).map(|parent| format!("<{}", parent["id"]))
    };
    let texts = nodes
        .iter()
        .map(|node| format!("{}{}", node["id"], parent(&node["id"]).unwrap_or_default()));
    texts.collect::<Vec<_>>().join(" ")
}

/// Asserts that a stream of these data has the expected problems, and which tree, samples and time
/// steps are saved.
#[track_caller]
fn check(data: &[&str], expected: Expected<'_>, saved: (&str, &str, &str)) {
    let trace = around(HEAD, &chunks(data));
    let extracted = check_trace(&trace, expected).expect("something is saved");
    let profile = check_rules(&extracted.bytes);
    let text = |key: &str| profile[key].to_string();
    assert_eq!(
        (&*tree(&profile), &*text("samples"), &*text("timeDeltas")),
        saved,
        "{}",
        String::from_utf8_lossy(&extracted.bytes)
    );
}

/// Nodes 1 and 2 with a sample each.
const GOOD: &str = r#"{"nodes":[{"id":1,"callFrame":{}},{"id":2,"callFrame":{},"parent":1}],"samples":[1,2],"timeDeltas":[5,6]}"#;

#[test]
fn values_of_the_wrong_type_are_dropped() {
    for odd in ["77777", "\"77777\"", "[77777]", "true"] {
        let mut all = chunks(&[GOOD]);
        all.push(chunk(1, odd));
        let trace = around(HEAD, &all);
        let extracted =
            check_trace(&trace, &[(Shape, 1, &format!("{odd}}}"))]).expect("one chunk is good");
        let text = String::from_utf8_lossy(&extracted.bytes);
        assert!(text.contains("\"samples\":[1,2],\"timeDeltas\":[5,6]"), "{text}");
    }
    let saved = ("1 2<1", "[1,2]", "[5,6]");
    for (data, odd) in [
        ("77777", "77777"),
        ("[77777]", "[77777"),
        (r#"{"cpuProfile":77777}"#, "77777"),
        (r#"{"cpuProfile":"77777"}"#, "\"77777"),
        (r#"{"nodes":{"x":77777}}"#, "{\"x\":77777"),
        (r#"{"samples":77777}"#, "77777"),
        (r#"{"timeDeltas":"77777"}"#, "\"77777"),
        (r#"{"trace_ids":[77777]}"#, "[77777"),
        (r#"{"lines":77777}"#, "77777"),
    ] {
        check(&[GOOD, data], &[(Shape, 1, odd)], saved);
    }
    for nothing in ["null", "{}", r#"{"cpuProfile":null,"lines":null}"#, r#"{"nodes":[]}"#] {
        check(&[GOOD, nothing], &[], saved);
    }
}

#[test]
fn invalid_nodes_are_dropped() {
    let data = r#"{"nodes":[{"id":1},7777,"x",null,[{}],{"noid":1},{"id":-2},{"id":1.5},{"id":2,"parent":1}],"samples":[2],"timeDeltas":[3]}"#;
    check(&[data], &[(Node, 7, "7777")], ("1 2<1", "[2]", "[3]"));
    let in_quotes =
        r#"{"nodes":[{"id":"1"},{"id":"7","parent":"1"}],"samples":["7",7],"timeDeltas":[3,4]}"#;
    check(&[in_quotes], &[], ("1 7<1", "[7,7]", "[3,4]"));
}

/// The difference of two times may overflow even if both are in range.
#[test]
fn time_steps_that_overflow_count_as_zero() {
    let far = r#"{"nodes":[{"id":1},{"id":2,"parent":1}],"samples":[1,2,1],"timestamps":[-9000000000000000,9000000000000000,9000000000000007]}"#;
    check(&[far], &[(Delta, 1, "[-9000")], ("1 2<1", "[1,2,1]", "[0,0,7]"));
}

#[test]
fn cycles_are_cut() {
    let by_parents = r#"{"nodes":[{"id":1},{"id":2,"parent":4},{"id":3,"parent":2},{"id":4,"parent":3},{"id":5,"parent":5}],"samples":[4,5],"timeDeltas":[1,1]}"#;
    check(&[by_parents], &[(Cycle, 2, "{\"id\":2")], ("1 2<1 3<2 4<3 5<1", "[4,5]", "[1,1]"));
    let rootless = r#"{"nodes":[{"id":11,"parent":12},{"id":12,"parent":11}],"samples":[12],"timeDeltas":[1]}"#;
    check(&[rootless], &[(Cycle, 1, "{\"id\":11")], ("11 12<11", "[12]", "[1]"));
    let by_lists = r#"{"nodes":[{"id":1,"children":[]},{"id":2,"children":[3]},{"id":3,"children":[2]}],"samples":[3],"timeDeltas":[1]}"#;
    check(&[by_lists], &[(Cycle, 1, "{\"id\":2")], ("1 2<1 3<2", "[3]", "[1]"));
}

#[test]
fn orphans_become_children_of_the_root() {
    let data = r#"{"nodes":[{"id":1},{"id":2,"parent":77},{"id":3,"parent":2},{"id":4,"parent":"x"},{"id":5}],"samples":[3],"timeDeltas":[1]}"#;
    check(&[data], &[(Orphan, 3, "{\"id\":2")], ("1 2<1 3<2 4<1 5<1", "[3]", "[1]"));
    let late = r#"{"nodes":[{"id":3,"parent":2}],"samples":[3],"timeDeltas":[1]}"#;
    let root = r#"{"nodes":[{"id":1},{"id":2,"parent":1}]}"#;
    check(&[late, root], &[], ("1 3<2 2<1", "[3]", "[1]"));
}

#[test]
fn repeated_ids_are_merged_or_renumbered() {
    check(&[GOOD, GOOD], &[], ("1 2<1", "[1,2,1,2]", "[5,6,5,6]"));
    let again = r#"{"nodes":[{"id":2,"callFrame":{"url":"other"},"parent":1}],"samples":[2],"timeDeltas":[1]}"#;
    let expected = [
        (Repeated, 1, r#"{"id":2,"callFrame":{"url""#),
        (
            Renumbered,
            1,
            r#"{"id":1,"callFrame":{}},{"id":2,"callFrame":{},"parent":1}],"samples":[1,2],"timeDeltas":[5,6]"#,
        ),
    ];
    check(&[GOOD, again], &expected, ("1 2<1 3<1", "[1,2,3]", "[5,6,1]"));
}

#[test]
fn ids_above_2_pow_53_are_renumbered() {
    let data = r#"{"nodes":[{"id":9007199254740993},{"id":9007199254740992,"parent":9007199254740993},{"id":18446744073709551613,"parent":9007199254740992}],"samples":[9007199254740992,18446744073709551613],"timeDeltas":[1,2]}"#;
    let expected = [(Renumbered, 1, "{\"id\":9007199254740993}")];
    check(&[data], &expected, ("1 2<1 3<2", "[2,3]", "[1,2]"));
    let safe =
        r#"{"nodes":[{"id":9007199254740991}],"samples":[9007199254740991],"timeDeltas":[1]}"#;
    check(&[safe], &[], ("9007199254740991", "[9007199254740991]", "[1]"));
}

#[test]
fn samples_of_unknown_nodes_pass_their_time_on() {
    let data = r#"{"nodes":[{"id":1},{"id":2,"parent":1}],"samples":[1,77,null,"x",2.5,2,-1],"timeDeltas":[1,2,4,8,16,32,64]}"#;
    let event = r#"{"name":"ProfileChunk","ph":"P","pid":1"#;
    check(&[data], &[(Sample, 5, event)], ("1 2<1", "[1,2]", "[1,62]"));
    let named_later = r#"{"nodes":[{"id":1}],"samples":[2,3],"timeDeltas":[1,2]}"#;
    let later = r#"{"nodes":[{"id":2,"parent":1}],"samples":[2],"timeDeltas":[4]}"#;
    check(&[named_later, later], &[(Sample, 1, event)], ("1 2<1", "[2,2]", "[1,6]"));
}

#[test]
fn invalid_time_steps_count_as_zero() {
    let samples = |steps: &str| {
        let count = steps.split(',').count();
        let samples = vec!["1"; count].join(",");
        format!(r#"{{"nodes":[{{"id":1}}],"samples":[{samples}],"timeDeltas":[{steps}]}}"#)
    };
    let good = samples("\"12\",1.5,-3,\"-0.25\",1e1");
    check(&[&good], &[], ("1", "[1,1,1,1,1]", "[12,1.5,-3,-0.25,10]"));
    for odd in ["NaN", "null", "1e400", "\"x\"", "{\"a\":1}", "true", "-Infinity", "\"\""] {
        let data = samples(&format!("5,{odd},7"));
        let place = format!("{odd},7]");
        check(&[&data], &[(Delta, 1, &place)], ("1", "[1,1,1]", "[5,0,7]"));
    }
    let fine = samples("5,0.0009,7");
    check(&[&fine], &[(Rounded, 1, "0.0009")], ("1", "[1,1,1]", "[5,0,7]"));
}

#[test]
fn unpaired_samples_and_steps_are_counted() {
    let nodes = r#""nodes":[{"id":1},{"id":2,"parent":1}]"#;
    let more_samples = format!(r#"{{{nodes},"samples":[1,2,1,1],"timeDeltas":[5,6]}}"#);
    let more_steps = format!(r#"{{{nodes},"samples":[1,2],"timeDeltas":[5,6,7]}}"#);
    let last = r#"{"samples":[2],"timeDeltas":[3]}"#;
    let event = r#"{"name":"ProfileChunk","ph":"P","pid":1"#;
    check(&[&more_samples, last], &[(Unpaired, 2, event)], ("1 2<1", "[1,2,2]", "[5,6,3]"));
    check(&[&more_steps, last], &[(Unpaired, 1, event)], ("1 2<1", "[1,2,2]", "[5,6,10]"));
    // the totals match: DevTools pairs them across chunks
    let late = r#"{"samples":[2],"timeDeltas":[7,8,9]}"#;
    check(&[&more_samples, late], &[], ("1 2<1", "[1,2,1,1,2]", "[5,6,7,8,9]"));
    let only_steps = r#"{"timeDeltas":[3,4]}"#;
    check(
        &[GOOD, only_steps],
        &[(Unpaired, 2, r#"{"name":"ProfileChunk","ph":"P","pid":1,"tid":8,"id":"0x1","ts":210"#)],
        ("1 2<1", "[1,2]", "[5,6]"),
    );
}

#[test]
fn samples_without_times_are_spread_evenly() {
    let data = r#"{"nodes":[{"id":1},{"id":2,"parent":1}],"samples":[1,2,1,2]}"#;
    let event = r#"{"name":"ProfileChunk","ph":"P","pid":1"#;
    check(
        &[data, r#"{"endTime":500}"#],
        &[(Untimed, 1, event)],
        ("1 2<1", "[1,2,1,2]", "[0,100,100,100]"),
    );
    check(&[data], &[(Unpaired, 4, event)], ("1 2<1", "[]", "[]"));
}

/// Start and end in the data may use another clock than the events; their difference is the same.
#[test]
fn samples_without_times_use_the_clock_of_the_data() {
    let data = [r#"{"nodes":[{"id":1}],"samples":[1,1]}"#, r#"{"endTime":7400}"#];
    let head = HEAD.replace("\"startTime\":100", "\"startTime\":7000");
    let trace = around(&head, &chunks(&data));
    let extracted = extract(&[&trace], PLAIN).expect("a profile");
    let extracted = extracted.iter().find(|entry| entry.info.pid == "1").expect("the damaged one");
    let text = String::from_utf8_lossy(&extracted.bytes);
    assert!(
        text.contains("\"startTime\":100,\"endTime\":500,\"samples\":[1,1],\"timeDeltas\":[0,200]"),
        "{text}"
    );
}

#[test]
fn lists_of_lines_are_truncated_or_padded() {
    let data = r#"{"nodes":[{"id":1}],"samples":[1,1,1],"timeDeltas":[1,1,1],"lines":[4,"x"],"columns":[1,2,3,4]}"#;
    let trace = around(HEAD, &chunks(&[data]));
    let extracted = check_trace(&trace, &[(Lines, 3, "\"x\"]")]).expect("all samples");
    let profile = check_rules(&extracted.bytes);
    assert_eq!(
        (profile["lines"].to_string(), profile["columns"].to_string()),
        ("[4,0,0]".into(), "[1,2,3]".into())
    );
}

#[test]
fn trace_ids_of_unknown_nodes_are_dropped() {
    for odd in ["\"b\":77", "\"b\":\"x\"", "\"b\":null"] {
        let data = format!(
            r#"{{"nodes":[{{"id":1}}],"samples":[1],"timeDeltas":[1],"trace_ids":{{"a":1,{odd},"d":1}}}}"#
        );
        let trace = around(HEAD, &chunks(&[&data]));
        let extracted = check_trace(&trace, &[(TraceId, 1, odd)]).expect("all samples");
        assert_eq!(check_rules(&extracted.bytes)["trace_ids"].to_string(), r#"{"a":1,"d":1}"#);
    }
}

#[test]
fn missing_keys_and_values_leave_valid_json() {
    let node = r#"{"id":2,"callFrame":{},"parent":1}"#;
    for odd in [
        r#"{"id":2,"callFrame":{"a","codeType":"JS"},"parent":1}"#,
        r#"{"id":2,"callFrame":{"a":},"parent":1}"#,
        r#"{"id":2,"callFrame":{},"a":,"parent":1}"#,
        r#"{"id":2,"callFrame":{},"a" "b":7,"parent":1}"#,
    ] {
        check_text(&GOOD.replace(node, odd));
    }
    let samples = "\"samples\"";
    for odd in
        [r#""a" "b":5"#, r#""a":"#, r#""trace_ids":{"a" "b":1}"#, r#""trace_ids":{"a","b":1}"#]
    {
        check_text(&GOOD.replace(samples, &format!("{odd},{samples}")));
    }
    for key in ["a\u{1}b", "a\\d"] {
        let ids = format!("\"trace_ids\":{{\"{key}\":1}},\"own{key}\":7,{samples}");
        let profile = check_text(&GOOD.replace(samples, &ids));
        assert_eq!(profile["trace_ids"].as_object().map(serde_json::Map::len), Some(1), "{key}");
    }
}

/// Asserts that a stream of these data has a problem and is saved.
#[track_caller]
fn check_text(data: &str) -> Value {
    let trace = around(HEAD, &chunks(&[data]));
    let all = extract(&[&trace], PLAIN).expect("sound enough");
    let extracted = all.iter().find(|entry| entry.info.pid == "1");
    let extracted = extracted.unwrap_or_else(|| panic!("nothing is left of {data}"));
    let profile = check_rules(&extracted.bytes);
    assert_eq!(tree(&profile), "1 2<1", "{data}");
    assert!(extracted.info.flaws.lost() > 0, "{data}: {:?}", extracted.info.flaws);
    profile
}

#[test]
fn missing_start_times_are_guessed() {
    let event = r#"{"name":"ProfileChunk","ph":"P","pid":1"#;
    let start = |head: &str, data: &[&str], expected: Expected<'_>| {
        let extracted = check_trace(&around(head, &chunks(data)), expected).expect("a profile");
        let start = check_rules(&extracted.bytes)["startTime"].to_string();
        (start, extracted.info.tid)
    };
    // the first chunk is at 200 and its steps sum to 11
    let guessed = ("189".to_owned(), "8".to_owned());
    assert_eq!(start("", &[GOOD], &[(NoProfile, 1, event), (NoStart, 1, event)]), guessed);
    let with_start = GOOD.replace("{\"nodes\"", "{\"startTime\":44,\"nodes\"");
    assert_eq!(
        start("", &[&with_start], &[(NoProfile, 1, event)]),
        ("44".to_owned(), "8".to_owned())
    );
    for odd in ["", ",\"ts\":null", ",\"ts\":\"x\"", ",\"ts\":NaN", ",\"ts\":{}"] {
        let head = HEAD.replace(",\"ts\":100", odd);
        assert_eq!(
            start(&head, &[GOOD], &[(NoStart, 1, event)]),
            ("189".to_owned(), "7".to_owned())
        );
    }
    let twice =
        format!("{HEAD},\n{}", HEAD.replace("100", "150").replace("\"tid\":7", "\"tid\":71"));
    let second = r#"{"name":"Profile","ph":"P","pid":1,"tid":71"#;
    assert_eq!(
        start(&twice, &[GOOD], &[(TwoProfiles, 1, second)]),
        ("150".to_owned(), "71".to_owned())
    );
}

#[test]
fn invalid_text_becomes_valid_json() {
    let odd: [(&[u8], &str); 5] = [
        (b"{\"id\":2,\"callFrame\":{\"functionName\":\"a\x01\nb\"},\"parent\":1}", "a\u{1}\nb"),
        (
            b"{\"id\":2,\"callFrame\":{\"functionName\":\"gr\xf6\xdfe\"},\"parent\":1}",
            "gr\u{fffd}\u{fffd}e",
        ),
        (b"{\"id\":2,\"callFrame\":{\"functionName\":\"c:\\dir\"},\"parent\":1}", "c:\\dir"),
        (b"{\"id\":2,\"callFrame\":{\"functionName\":\"f\",\"own\":NaN},\"parent\":1}", "f"),
        (
            b"{\"id\":2,\"callFrame\":{\"functionName\":\"f\"},\"own\":[1,-Infinity],\"parent\":1}",
            "f",
        ),
    ];
    for (node, name) in odd {
        let mut trace = around(
            HEAD,
            &chunks(&[&GOOD.replace("{\"id\":2,\"callFrame\":{},\"parent\":1}", "@")]),
        );
        let at = find(&trace, "@") as usize;
        trace.splice(at..=at, node.iter().copied());
        let extracted =
            check_trace(&trace, &[(Text, 1, "{\"id\":2,\"callFrame\":{\"functionName\"")])
                .expect("all of it");
        let profile = check_rules(&extracted.bytes);
        assert_eq!(profile["nodes"][1]["callFrame"]["functionName"].as_str(), Some(name));
        assert_eq!(tree(&profile), "1 2<1");
    }
}

#[test]
fn frames_of_the_wrong_types_are_counted() {
    for odd in [
        "\"functionName\":NaN",
        "\"functionName\":5",
        "\"url\":{}",
        "\"lineNumber\":\"x\"",
        "\"lineNumber\":1.5",
        "\"scriptId\":[1]",
    ] {
        let data = GOOD
            .replace("{\"id\":2,\"callFrame\":{}", &format!("{{\"id\":2,\"callFrame\":{{{odd}}}"));
        let all = extract(&[&around(HEAD, &chunks(&[&data]))], PLAIN).expect("sound enough");
        let extracted = all.iter().find(|entry| entry.info.pid == "1").expect("the damaged one");
        assert!(extracted.info.flaws.lost() > 0, "{odd}: {:?}", extracted.info.flaws);
    }
}

#[test]
fn a_trace_truncated_in_a_chunk_loses_that_chunk() {
    let whole = around(HEAD, &chunks(&[GOOD, GOOD]));
    let second = find(&whole, "\"ts\":210") as usize;
    let end = find(&whole, OTHERS[2]) as usize;
    let expected = extract(&[&around(HEAD, &chunks(&[GOOD]))], PLAIN).expect("sound").remove(1);
    for cut in (second..end - 2).step_by(7) {
        let all = extract(&[&whole[..cut]], knobs(cut)).expect("sound enough");
        let extracted =
            all.iter().find(|entry| entry.info.pid == "1").expect("the first chunk is whole");
        assert_same(&format!("cut at {cut}"), &expected.bytes, &extracted.bytes);
        let flaws = kinds(&extracted.info.flaws);
        assert_eq!(flaws, [], "cut at {cut}");
    }
}

#[test]
fn damaged_traces_give_one_valid_result() {
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed);
        let arrangement = Arrangement::ALL[rng.index(5)];
        let shape = ProfileShape { arrangement, ..ProfileShape::plain(1 + rng.index(3)) };
        let whole = profile_trace(seed, &shape);
        let events = reference::events(&whole).expect("well-formed");
        let spans: Vec<_> = events.into_iter().map(|event| event.span).collect();
        let mut trace = any_damage(&mut rng, &whole, &spans).bytes;
        for _ in 0..rng.below(4) {
            let at = rng.index(trace.len());
            let byte = *b"\"{}[],:\\0-9eN\x00\xff\n"[..].get(rng.index(16)).expect("one of them");
            match rng.below(3) {
                0 => trace[at] = byte,
                1 => trace.insert(at, byte),
                _ => drop(trace.drain(at..(at + rng.index(9)).min(trace.len()))),
            }
        }
        check_answer(&format!("seed {seed}"), &trace, (0..2).map(|n| knobs(seed as usize * 2 + n)));
    }
}

#[track_caller]
fn check_answer(what: &str, trace: &[u8], corners: impl Iterator<Item = Knobs>) {
    let plain = extract(&[trace], PLAIN);
    for corner in corners {
        match (&plain, extract(&[trace], corner)) {
            (Ok(plain), Ok(again)) => {
                assert_eq!(plain.len(), again.len(), "{what} {corner:?}");
                for (plain, again) in plain.iter().zip(&again) {
                    assert_same(&format!("{what} {corner:?}"), &plain.bytes, &again.bytes);
                    assert_eq!(
                        kinds(&plain.info.flaws),
                        kinds(&again.info.flaws),
                        "{what} {corner:?}"
                    );
                }
            }
            (Err(plain), Err(again)) => assert_eq!(plain.class(), again.class(), "{what}"),
            (plain, again) => panic!("{what} {corner:?}: {plain:?}\n{again:?}"),
        }
    }
}
