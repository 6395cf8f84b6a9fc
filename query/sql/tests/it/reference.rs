//! Columns of `events`, compared with a second implementation on random traces.

use crate::support::rows;
use serde_json::{Value, json};
use std::collections::HashMap;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::reference::{RawEvent, events, string_content, time};
use tracemill_testkit::{Folder, Rng, seeds};

/// Returns the text of a value: the content of a string, or any other value as written.
pub(crate) fn text(raw: Option<&String>) -> Value {
    match raw.map(String::as_str) {
        None | Some("null") => Value::Null,
        Some(raw) => match string_content(raw) {
            // lone surrogates have no UTF-8; both sides must replace them
            Some(bytes) => json!(String::from_utf8_lossy(&bytes)),
            None => json!(raw),
        },
    }
}

pub(crate) fn integer(raw: Option<&String>) -> Value {
    let text = text(raw);
    let parsed = text.as_str().and_then(|text| text.parse::<i64>().ok());
    // `+5` is a number for Rust, but not in JSON
    parsed.filter(|_| !text.as_str().unwrap().starts_with('+')).map_or(Value::Null, |n| json!(n))
}

pub(crate) fn nanos(raw: Option<&String>) -> Value {
    raw.and_then(|raw| time(raw)).map_or(Value::Null, |time| json!(time.nanos_floor()))
}

pub(crate) fn json_text(raw: Option<&String>) -> Value {
    raw.filter(|raw| *raw != "null").map_or(Value::Null, |raw| json!(raw))
}

/// Numbers of the threads and processes of an input, in order of their first events.
#[derive(Default)]
pub(crate) struct Numbers(HashMap<Vec<Option<String>>, usize>);

impl Numbers {
    pub(crate) fn number(&mut self, key: &[&Option<String>]) -> usize {
        let (next, key) = (self.0.len(), key.iter().map(|id| (*id).clone()).collect());
        *self.0.entry(key).or_insert(next)
    }
}

const COLUMNS: &str = "number, byte_offset, ph, cat, name, pid, tid, pid_text, tid_text, utid, upid, ts_ns, \
                       dur_ns, tts_ns, tdur_ns, ts_text, id, scope, bind_id, args, event";

/// Returns whether our text of a lone surrogate equals that of the second implementation: any
/// number of replacement characters.
pub(crate) fn same(ours: &Value, theirs: &Value) -> bool {
    let plain = |value: &Value| value.as_str().map(|text| text.replace('\u{fffd}', ""));
    ours == theirs || plain(ours).is_some() && plain(ours) == plain(theirs)
}

fn expected(
    number: usize,
    event: &RawEvent,
    threads: &mut Numbers,
    upids: &mut Numbers,
) -> Vec<Value> {
    let utid = event.tid.as_ref().map(|_| threads.number(&[&event.pid, &event.tid]));
    let upid = event.pid.as_ref().map(|_| upids.number(&[&event.pid]));
    vec![
        json!(number),
        json!(event.span.start),
        text(event.ph.as_ref()),
        text(event.cat.as_ref()),
        text(event.name.as_ref()),
        integer(event.pid.as_ref()),
        integer(event.tid.as_ref()),
        text(event.pid.as_ref()),
        text(event.tid.as_ref()),
        json!(utid),
        json!(upid),
        nanos(event.ts.as_ref()),
        nanos(event.dur.as_ref()),
        nanos(event.tts.as_ref()),
        nanos(event.tdur.as_ref()),
        text(event.ts.as_ref()),
        text(event.id.as_ref().or(event.id2.as_ref())),
        text(event.scope.as_ref()),
        text(event.bind_id.as_ref()),
        json_text(event.args.as_ref()),
        json!(String::from_utf8_lossy(&event.bytes)),
    ]
}

#[test]
fn events_are_those_of_a_second_implementation() {
    let mut compared = 0;
    for seed in seeds(0, 120) {
        let mut rng = Rng::new(seed);
        let shape = TraceShape::arbitrary(&mut rng);
        let bytes = trace(seed, &shape);
        let Ok(all) = events(&bytes) else { continue };
        let folder = Folder::new();
        let file = folder.file("a.json", &bytes);
        let ours = rows(&file, &format!("SELECT {COLUMNS} FROM events"));
        let (mut threads, mut processes) = (Numbers::default(), Numbers::default());
        let theirs: Vec<Vec<Value>> = all
            .iter()
            .enumerate()
            .map(|(number, event)| expected(number, event, &mut threads, &mut processes))
            .collect();
        assert_eq!(ours.len(), theirs.len(), "seed {seed}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            for ((ours, theirs), column) in ours.iter().zip(theirs).zip(COLUMNS.split(", ")) {
                assert!(same(ours, theirs), "seed {seed}, {column}: {ours} is not {theirs}");
            }
        }
        compared += ours.len();
    }
    assert!(compared > 1000, "only {compared} events were compared");
}

#[test]
fn groups_are_those_of_a_second_implementation() {
    for seed in seeds(1000, 20) {
        let bytes = trace(seed, &TraceShape::plain(300));
        let mut sums: HashMap<Value, (i64, i64)> = HashMap::new();
        for event in events(&bytes).unwrap() {
            let entry = sums.entry(text(event.name.as_ref())).or_default();
            entry.0 += 1;
            entry.1 += nanos(event.dur.as_ref()).as_i64().unwrap_or(0);
        }
        let folder = Folder::new();
        let file = folder.file("a.json", &bytes);
        let sql = "SELECT name, count(*), coalesce(sum(dur_ns), 0) FROM events GROUP BY name";
        let ours = rows(&file, sql);
        assert_eq!(ours.len(), sums.len(), "seed {seed}");
        for row in ours {
            let (count, sum) = sums[&row[0]];
            assert_eq!(row[1..], [json!(count), json!(sum)], "seed {seed}: {}", row[0]);
        }
    }
}
