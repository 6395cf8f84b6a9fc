//! Tests of the reference against hand-written cases.

use super::*;

#[track_caller]
fn check(inputs: &[&str], format: Option<Format>, expected: &str) -> Notes {
    let inputs: Vec<&[u8]> = inputs.iter().map(|i| i.as_bytes()).collect();
    let (output, notes) = merge_with_notes(&inputs, format).expect("well-formed");
    assert_eq!(String::from_utf8(output).unwrap(), expected);
    notes
}

#[test]
fn sorts_one_object_and_keeps_keys_of_both_sides() {
    check(
        &["{ \"a\" : 1,\"traceEvents\":[{\"ts\": 2},{ \"ts\":1 }],\"b\":{ }, \"a\":3 }\n"],
        None,
        "{\"traceEvents\":[\n{ \"ts\":1 },\n{\"ts\": 2}\n],\n\"a\":1,\n\"b\":{ },\n\"a\":3}\n",
    );
}

#[test]
fn writes_nothing_for_nothing() {
    check(&["", " \n"], None, "{\"traceEvents\":[\n]}\n");
    check(&[], Some(Format::Array), "[\n]\n");
    check(&["\u{feff}[]"], None, "[\n]\n");
    check(&["", "[]"], Some(Format::Ndjson), "");
    check(&["{\"tracemill\":{}}"], None, "");
}

#[test]
fn orders_metadata_then_timeless_then_time_then_long_before_short() {
    let input = r#"[{"ts":5,"n":1},{"ts":5,"dur":2},{"ts":"5.0","dur":"3"},{"ts":5,"dur":-1},
        {"ts":null,"n":2},{"ph":"M","ts":9},{"n":3},{"ts":5,"dur":{},"n":4},{"ph":"\u004d"},
        {"ts":7,"t\u0073":-1},{"ts":" 5"},{"ts":4e0,"dur":10.0},{"ts":40e-1,"dur":1e1}]"#;
    let expected = r#"[
{"ph":"M","ts":9},
{"ph":"\u004d"},
{"ts":null,"n":2},
{"n":3},
{"ts":" 5"},
{"ts":7,"t\u0073":-1},
{"ts":4e0,"dur":10.0},
{"ts":40e-1,"dur":1e1},
{"ts":"5.0","dur":"3"},
{"ts":5,"dur":2},
{"ts":5,"n":1},
{"ts":5,"dur":{},"n":4},
{"ts":5,"dur":-1}
]
"#;
    check(&[input], None, expected);
}

#[test]
fn ties_go_by_input_and_array_becomes_object_when_a_later_source_has_keys() {
    check(
        &[
            "[{\"ts\":1,\"f\":0}]",
            "{\"traceEvents\":[{\"ts\":1.0,\"f\":1},{\"ts\":0}],\"k\":[1, 2]}",
        ],
        None,
        "{\"traceEvents\":[\n{\"ts\":0},\n{\"ts\":1,\"f\":0},\n{\"ts\":1.0,\"f\":1}\n],\n\
         \"tracemill\":{\"inputs\":[{\"index\":1,\"keys\":{\"k\":[1, 2]}}]}}\n",
    );
    let notes = check(
        &["[{\"ts\":1}]", "{\"traceEvents\":[],\"k\":1}"],
        Some(Format::Array),
        "[\n{\"ts\":1}\n]\n",
    );
    assert_eq!(notes.lost_keys, ["\"tracemill\""]);
}

#[test]
fn ndjson_drops_line_breaks_only() {
    check(
        &["{\"m\":[\n 1, 2 ],\"traceEvents\":[{ \"ts\" :\n\t2},{\"ts\":1 , \"a\":\"\\n \"\r\n}]}"],
        Some(Format::Ndjson),
        "{\"tracemill\":{\"m\":[1, 2 ]}}\n{\"ts\":1 , \"a\":\"\\n \"}\n{ \"ts\" :2}\n",
    );
    check(
        &["{\"tracemill\":{\"a\": 1}}\n{\"ts\":2}\n{\"ts\":1}\n"],
        None,
        "{\"tracemill\":{\"a\":1}}\n{\"ts\":1}\n{\"ts\":2}\n",
    );
}

#[test]
fn concatenated_documents_are_sources() {
    let notes = check(
        &["{\"traceEvents\":[{\"ts\":3}],\"a\":1}[{\"ts\":2}]\n{\"ts\":1}\n{\"ts\":0}", "[]"],
        None,
        "{\"traceEvents\":[\n{\"ts\":0},\n{\"ts\":1},\n{\"ts\":2},\n{\"ts\":3}\n],\n\"a\":1}\n",
    );
    assert_eq!(notes.sources, 4);
}

#[test]
fn unites_stack_frames_and_samples() {
    check(
        &[
            "{\"traceEvents\":[],\"stackFrames\":{ \"1\" : {\"a\":1} \n},\"samples\":[ ],\"x\":1}",
            "{\"traceEvents\":[],\"samples\":[{\"s\": 1}, 2],\"stackFrames\":{\"1\":{\"a\":1}, \"2\": []}}",
            "{\"traceEvents\":[],\"stackFrames\":{\"3\":0,\"2\":1},\"x\":1,\"samples\":[3]}",
            "{\"traceEvents\":[],\"stackFrames\":{\"\\u0033\":7}}",
        ],
        None,
        "{\"traceEvents\":[\n],\n\"stackFrames\":{ \"1\" : {\"a\":1},\"2\":[],\"\\u0033\":7},\n\
         \"samples\":[{\"s\": 1}, 2,3],\n\"x\":1,\n\
         \"tracemill\":{\"inputs\":[{\"index\":2,\"keys\":{\"stackFrames\":{\"3\":0,\"2\":1}}}]}}\n",
    );
}

#[test]
fn adds_missing_samples_and_gives_extra_keys_free_names() {
    check(
        &[
            "{\"traceEvents\":[],\"tracemill\":0,\"t\\u0072acemill.2\":0}",
            "{\"traceEvents\":[],\"s\\u0061mples\":[ 1 ],\"stackFrames\":5,\"tracemill\":0}",
            "{\"traceEvents\":[],\"samples\":[ 1 ],\"tracemill\":1}",
        ],
        None,
        "{\"traceEvents\":[\n],\n\"tracemill\":0,\n\"t\\u0072acemill.2\":0,\n\"s\\u0061mples\":[ 1,1],\n\
         \"tracemill.3\":{\"inputs\":[{\"index\":1,\"keys\":{\"stackFrames\":5}},\
         {\"index\":2,\"keys\":{\"tracemill\":1}}]}}\n",
    );
}

fn chunk(n: u32, ts: u32, nodes: &str, samples: &str) -> String {
    format!(
        "{{\"name\":\"ProfileChunk\",\"pid\":1,\"n\":{n},\"ts\":{ts},\"args\":{{\"data\":{{\
         \"cpuProfile\":{{\"nodes\":[{nodes}],\"samples\":[{samples}]}}}}}}}}"
    )
}

#[test]
fn profile_chunks_out_of_file_order_go_by_time() {
    let (a, b) = (chunk(0, 1, "{\"id\":1}", "1"), chunk(1, 2, "{\"id\":2,\"parent\":1}", "1,2"));
    let notes = check(&[&format!("[{b},{a}]")], None, &format!("[\n{a},\n{b}\n]\n"));
    assert_eq!(notes.inconsistent_profiles, 0);
}

#[test]
fn profile_chunks_out_of_time_order_wait_for_their_predecessor() {
    let a = chunk(0, 5, "{\"id\":1}", "1");
    let b = chunk(1, 2, "{\"id\":2,\"parent\":1}", "1");
    let c = chunk(2, 7, "", "2");
    let d = chunk(3, 6, "", "2");
    let other = r#"{"ts":3,"name":"x"}"#;
    let late = r#"{"ts":6,"name":"y"}"#;
    let input = format!("[{a},{b},{other},{c},{d},{late}]");
    let notes =
        check(&[&input], None, &format!("[\n{other},\n{a},\n{b},\n{late},\n{c},\n{d}\n]\n"));
    assert_eq!(notes.inconsistent_profiles, 0);
}

#[test]
fn streams_differ_by_type_of_pid_and_inconsistent_ones_are_counted() {
    let (a, b) = (chunk(0, 5, "{\"id\":1}", "1"), chunk(1, 2, "", "1"));
    let other = b.replace("\"pid\":1", "\"pid\":\"1\"");
    check(&[&format!("[{a},{other}]")], None, &format!("[\n{other},\n{a}\n]\n"));
    let same = b.replace("\"pid\":1", "\"pid\":1.0");
    check(&[&format!("[{a},{same}]")], None, &format!("[\n{a},\n{same}\n]\n"));

    let bad = chunk(0, 5, "{\"id\":2,\"parent\":1}", "2");
    let notes = check(&[&format!("[{bad},{b}]")], None, &format!("[\n{b},\n{bad}\n]\n"));
    assert_eq!(notes.inconsistent_profiles, 1);
}

#[test]
fn events_have_spans_and_raw_values() {
    let input =
        "\u{feff}{\"x\":[{}],\"traceEvents\":[ {\"ts\" : 1.50,\"p\\u0068\":\"X\",\"ts\":\"2\"} ]}";
    let events = events(input.as_bytes()).unwrap();
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!(&input.as_bytes()[event.span.clone()], &event.bytes[..]);
    assert_eq!((event.ts.as_deref(), event.ph.as_deref()), (Some("\"2\""), Some("\"X\"")));
    assert_eq!(event.members[0], ("\"ts\"".into(), "1.50".into()));
}

#[test]
fn rejects_malformed_input() {
    for bad in [
        "[1]",
        "[{}",
        "{\"traceEvents\":{}}",
        "1",
        "[{},]",
        "{\"traceEvents\":[],\"traceEvents\":[]}",
    ] {
        assert!(merge(&[bad.as_bytes()], None).is_err(), "{bad}");
    }
}
