//! Generates well-formed traces from a few bytes per event, so that changing a byte changes one
//! thing.
//!
//! Short lists of values make pairs, nesting and conflicts frequent.

use super::{below, pick};
use arbitrary::Unstructured;

const PHASES: &[&str] = &[
    "X", "B", "E", "X", "B", "E", "b", "e", "n", "s", "t", "f", "C", "M", "i", "I", "S", "T", "F",
    "N", "O", "D", "P", "v", "R", "c", "\\u0058", "",
];
const NAMES: &[&str] = &[
    r#""name":"a""#,
    r#""name":"b""#,
    r#""name":"thread_name""#,
    r#""name":"process_name""#,
    r#""name":"\u0061""#,
    r#""name":"FunctionCall""#,
    r#""name":"TracingStartedInBrowser""#,
    r#""name":"CommitLoad""#,
    r#""name":"a","name":"b""#,
    "",
];
const CATEGORIES: &[&str] = &[r#""cat":"c""#, r#""cat":"d""#, r#""cat":"c,d""#, r#""cat":"""#, ""];
const PROCESSES: &[&str] = &[
    r#""pid":1"#,
    r#""pid":2"#,
    r#""pid":"1""#,
    r#""pid":1.0"#,
    r#""pid":7000000000"#,
    r#""pid":"Spans""#,
    "",
];
const THREADS: &[&str] =
    &[r#""tid":1"#, r#""tid":2"#, r#""tid":"1""#, r#""tid":-1"#, r#""tid":139693758835584"#, ""];
const IDS: &[&str] = &[
    "",
    r#""id":"0x1""#,
    r#""id":1"#,
    r#""id":"0x2""#,
    r#""id2":{"local":"0x1"}"#,
    r#""id2":{"global":"0x1"}"#,
    r#""id":"0x1","scope":"s""#,
    r#""id":"1","bind_id":"0x1""#,
    r#""id":"0x1","id2":{"local":"0x2"}"#,
    r#""id":18446744073709551615"#,
];
const ARGS: &[&str] = &[
    r#""args":{}"#,
    "",
    r#""args":{"x":1,"y":[{}]}"#,
    r#""args":{"name":"main"}"#,
    r#""args":{"value":2,"other":3.50}"#,
    r#""args":{"data":{"frames":[]}}"#,
    r#""args":null"#,
    r#""args":{"s":"}],\"ts\":7"}"#,
];
const MORE: &[&str] = &[
    "",
    "",
    "",
    r#""tts":5"#,
    r#""s":"g""#,
    r#""sf":3"#,
    r#""bp":"e""#,
    r#""tdur":1"#,
    r#""stack":["f"]"#,
    r#""cname":"good""#,
];
const DURATIONS: &[&str] = &["0", "1", "3", "10", "2.5", "\"4\"", "0.0001", "-1", "1e1", "null"];
/// Forms of `ts`; `#` stands for the number.
const SPELLINGS: &[&str] = &["#", "#", "#", "#.5", "#.0001", "#e0", "\"#\"", "-#", "#.50"];

/// Generates a trace of up to `most` events.
pub(super) fn story(bytes: &mut Unstructured<'_>, most: usize) -> Vec<u8> {
    let form = below(bytes, 4);
    let count = below(bytes, most + 1);
    let mut time = 5;
    let mut events = Vec::new();
    for _ in 0..count {
        if bytes.is_empty() {
            break;
        }
        time += below(bytes, 9) as i64 - 2;
        events.push(event(bytes, time));
    }
    match form {
        0 => format!("[{}]", events.join(",")),
        1 => events.iter().flat_map(|event| [event, "\n"]).collect(),
        2 => format!("{{\"traceEvents\":[\n{}\n]}}", events.join(",\n")),
        _ => format!(
            "{{\"a\":1,\"traceEvents\":[{}],\"stackFrames\":{{\"3\":{{\"name\":\"f\"}}}}}}\n",
            events.join(", ")
        ),
    }
    .into_bytes()
}

fn event(bytes: &mut Unstructured<'_>, time: i64) -> String {
    let ph = pick(bytes, PHASES);
    let ts = match below(bytes, 16) {
        15 => None,
        spelling => Some(pick_spelling(spelling, time.abs())),
    };
    let has_dur = ph == "X" || below(bytes, 16) == 15;
    let dur = has_dur.then(|| format!("\"dur\":{}", pick(bytes, DURATIONS)));
    let members = [
        Some(format!("\"ph\":\"{ph}\"")),
        ts.map(|ts| format!("\"ts\":{ts}")),
        dur,
        Some(pick(bytes, NAMES).to_owned()),
        Some(pick(bytes, CATEGORIES).to_owned()),
        Some(pick(bytes, PROCESSES).to_owned()),
        Some(pick(bytes, THREADS).to_owned()),
        Some(pick(bytes, IDS).to_owned()),
        Some(pick(bytes, ARGS).to_owned()),
        Some(pick(bytes, MORE).to_owned()),
    ];
    let members: Vec<String> = members.into_iter().flatten().filter(|m| !m.is_empty()).collect();
    format!("{{{}}}", members.join(","))
}

fn pick_spelling(number: usize, time: i64) -> String {
    SPELLINGS[number % SPELLINGS.len()].replace('#', &time.to_string())
}
