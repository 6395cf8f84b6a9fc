//! Tests of the shapes that a scan learns.

use crate::fuzzed::check_change;
use crate::scanned::{in_chunks, proved, tiers, whole};
use tracemill_testkit::Rng;
use tracemill_tokenizer::Tier;

/// Events of several producers, and events that shapes treat specially.
const EVENTS: [&str; 12] = [
    r#"{"args":{},"cat":"toplevel","dur":15,"name":"RunTask","ph":"X","pid":7,"tid":1,"ts":100}"#,
    r#"{"ph":"X","name":"a b","ts":1.5,"dur":-0.25,"pid":1,"tid":"main","args":{"a":[1,20,3]}}"#,
    r#"{"name":"f","ph":"b","id":"0x1","id2":{"local":"0x2"},"bind_id":5,"scope":"s","ts":0}"#,
    "{\n  \"ph\": \"i\",\n  \"ts\": 12 ,\n  \"name\": \"x\"\n}",
    r#"{"ts":1,"ts":2,"args":{"ts":3,"traceEvents":[{"a":null}]},"ph":"s","pid":true}"#,
    r#"{"pid":"\u0041","name":"a\"b","ph":"\u0058","ts":5}"#,
    r#"{"name":"übung","ts":1e3,"dur":1.5E-2,"ph":"X"}"#,
    r#"{"args":{"data":{"samples":[1,2,3],"timeDeltas":[0,10,-5],"lines":[]}},"ph":"P"}"#,
    r#"{"ph":"M","name":"thread_name","args":{"name":""},"cat":"","tid":0,"pid":0}"#,
    r#"{"a":{"b":{"c":{"d":[[[[{}]]]]}}},"ph":"X","ts":1}"#,
    r#"{"s":"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz","ts":1}"#,
    r#"{}"#,
];

#[test]
fn one_changed_byte_changes_only_what_it_changes_without_shapes() {
    for event in EVENTS {
        for at in 0..event.len() {
            for byte in *b"\"\\{}[],: 0a9.-e\n\x1f\x80" {
                check_change(event.as_bytes(), at, byte);
            }
        }
    }
}

/// On the scalar tier, only a match of a shape proves an event.
#[test]
fn events_of_known_shapes_are_matched_on_every_tier() {
    let mut rng = Rng::new(1);
    let mut event = |number: usize| match number % 3 {
        0 => format!(r#"{{"ph":"X","ts":{number},"dur":0.{},"name":"f"}}"#, rng.below(1000)),
        1 => format!(r#"{{"ph":"i","ts":{}.5,"tid":"t{number}","s":"t"}}"#, rng.below(9)),
        _ => format!(r#"{{"args":{{"a":[{number},0]}},"ph":"C","ts":{number}}}"#),
    };
    let events: Vec<String> = (0..3000).map(&mut event).collect();
    let text = format!("[{}]", events.join(",\n"));
    let expected = whole(text.as_bytes(), Tier::Scalar);
    for tier in tiers() {
        let (log, count) = proved(text.as_bytes(), tier, [text.len()]);
        assert_eq!(log, expected);
        assert!(count > 2990, "{tier}: {count}");
        assert_eq!(in_chunks(text.as_bytes(), tier, 1000), expected, "{tier}");
    }
}

/// Covers more keys than are learned, more events than are tried, and then events of one shape.
#[test]
fn shapes_rest_where_none_match_and_wake_up() {
    let odd = (0..5000).map(|number| format!(r#"{{"ts":1,"key{number}":{{}}}}"#));
    let even = (0..20_000).map(|number| format!(r#"{{"ts":{number},"ph":"i"}}"#));
    let text = format!("[{}]", odd.chain(even).collect::<Vec<_>>().join(","));
    let expected = whole(text.as_bytes(), Tier::Scalar);
    for tier in tiers() {
        let (log, count) = proved(text.as_bytes(), tier, [text.len()]);
        assert_eq!(log, expected, "{tier}");
        assert!(count > 10_000, "{tier}: {count}");
    }
}
