//! The tables `thread`, `process`, `instant` and `counter`, compared with a second implementation.

use crate::reference::{Numbers, nanos, same, text};
use crate::support::{Knobs, answer, rows, rows_with, sorted};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tracemill::engine::TableFormat;
use tracemill_sql::tables::views::VIEWS;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::reference::{RawEvent, events, members, string_content, time};
use tracemill_testkit::{Folder, Rng, seeds};

const PER_KIND: i64 = 1 << 37;

fn random_trace(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let counters = (0..rng.below(40)).map(|n| {
        let id = rng.pick(&["", ",\"id\":1", ",\"id\":\"x\\u0079\"", ",\"id2\":{\"local\":2}"]);
        let value = rng.pick(&["1", "-2.5", "\"3\"", "1e3", "null", "\"a\"", "{}", "true", "[1]", "\"\\u0034\""]);
        let (pid, name) = (rng.below(3), rng.pick(&["a", "b\\n"]));
        format!(
            "{{\"ph\":\"C\",\"ts\":{n},\"pid\":{pid}{id},\"name\":\"{name}\",\"args\":{{\"x\":{value},\"y\":{n}}}}}"
        )
    });
    let mut all: Vec<String> = counters.collect();
    let shape = TraceShape { odd: 5, ..TraceShape::plain(60) };
    let others = events(&trace(seed, &shape)).unwrap();
    all.extend(others.into_iter().map(|event| String::from_utf8(event.bytes).unwrap()));
    for (kind, name) in [("thread_name", "t"), ("process_name", "p")] {
        for number in 0..rng.below(4) {
            all.push(format!(
                "{{\"ph\":\"M\",\"name\":\"{kind}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{name}\\u0031{number}\"}}}}",
                1 + rng.below(3),
                1 + rng.below(3),
            ));
        }
    }
    rng.shuffle(&mut all);
    format!("[{}]", all.join(",\n")).into_bytes()
}

fn phase(event: &RawEvent) -> String {
    let phase = event.ph.as_ref().and_then(|ph| string_content(ph)).unwrap_or_default();
    String::from_utf8_lossy(&phase).into_owned()
}

/// Threads and processes of events, numbered in file order.
fn numbered(all: &[RawEvent]) -> Vec<[Option<usize>; 2]> {
    let (mut threads, mut processes) = (Numbers::default(), Numbers::default());
    let number = |event: &RawEvent| {
        let thread = event.tid.as_ref().map(|_| threads.number(&[&event.pid, &event.tid]));
        [thread, event.pid.as_ref().map(|_| processes.number(&[&event.pid]))]
    };
    all.iter().map(number).collect()
}

/// Returns the rows of `thread` or `process`: number, name, times, events and bytes.
fn totals(all: &[RawEvent], of: usize) -> Vec<Vec<Value>> {
    let numbers = numbered(all);
    let kind = ["thread_name", "process_name"][of];
    let mut rows: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for (event, numbers) in all.iter().zip(&numbers) {
        let Some(number) = numbers[of] else { continue };
        let null =
            || vec![json!(number), Value::Null, Value::Null, Value::Null, json!(0), json!(0)];
        let row = rows.entry(number).or_insert_with(null);
        row[4] = json!(row[4].as_u64().unwrap() + 1);
        row[5] = json!(row[5].as_u64().unwrap() + event.bytes.len() as u64);
        let is_metadata = phase(event) == "M";
        if is_metadata && text(event.name.as_ref()) == kind {
            let args: Option<Value> =
                event.args.as_ref().and_then(|args| serde_json::from_str(args).ok());
            if let Some(name) = args.as_ref().and_then(|args| args.get("name")) {
                row[1] = name.clone();
            }
        }
        let Some(start) = nanos(event.ts.as_ref()).as_i64().filter(|_| !is_metadata) else {
            continue;
        };
        let end = start + nanos(event.dur.as_ref()).as_i64().unwrap_or(0).max(0);
        row[2] = json!(row[2].as_i64().map_or(start, |known| known.min(start)));
        row[3] = json!(row[3].as_i64().map_or(end, |known| known.max(end)));
    }
    rows.into_values().collect()
}

#[test]
fn threads_and_processes_are_those_of_a_second_implementation() {
    for seed in seeds(0, 60) {
        let bytes = random_trace(seed);
        let all = events(&bytes).unwrap();
        let folder = Folder::new();
        let file = folder.file("a.json", &bytes);
        for (of, table, id) in [(0, "thread", "utid"), (1, "process", "upid")] {
            let sql = format!("SELECT {id}, name, start_ts, end_ts, events, bytes FROM {table}");
            let (ours, theirs) = (rows(&file, &sql), totals(&all, of));
            assert_eq!(ours.len(), theirs.len(), "seed {seed}: {table}");
            for (our, their) in ours.iter().flatten().zip(theirs.iter().flatten()) {
                assert!(same(our, their), "seed {seed}, {table}: {our} is not {their}");
            }
        }
        // ids join those of events
        for (id, table, text) in [("utid", "thread", "tid_text"), ("upid", "process", "pid_text")] {
            let sql = format!(
                "SELECT count(*) FROM events e LEFT JOIN {table} t ON e.{id} = t.{id} \
                 WHERE e.{id} IS NOT NULL AND coalesce(e.{text}, '') <> coalesce(t.{text}, '-')"
            );
            let nulls =
                format!("SELECT count(*) FROM events WHERE {id} IS NOT NULL AND {text} IS NULL");
            assert_eq!(rows(&file, &sql), rows(&file, &nulls), "seed {seed}: {table}");
        }
        let sql =
            "SELECT count(*) FROM events e JOIN thread t ON e.utid = t.utid WHERE e.upid <> t.upid";
        assert_eq!(rows(&file, sql), [[json!(0)]], "seed {seed}");
    }
}

#[test]
fn instants_are_those_of_a_second_implementation() {
    let mut compared = 0;
    for seed in seeds(100, 60) {
        let bytes = random_trace(seed);
        let all = events(&bytes).unwrap();
        let mut theirs = Vec::new();
        for (number, (event, [thread, process])) in all.iter().zip(numbered(&all)).enumerate() {
            let ts = nanos(event.ts.as_ref());
            if ts.is_null() || !matches!(&*phase(event), "i" | "I" | "R") {
                continue;
            }
            let process = process.map(|process| process as i64 + PER_KIND);
            let track = match text(event.s.as_ref()).as_str() {
                Some("g") => None,
                Some("p") => process,
                _ => thread.map(|thread| thread as i64).or(process),
            };
            let name = text(event.name.as_ref());
            theirs.push(vec![
                json!(number),
                ts,
                json!(track.unwrap_or(5 * PER_KIND)),
                name,
                json!(thread),
            ]);
        }
        let folder = Folder::new();
        let file = folder.file("a.json", &bytes);
        let ours = rows(&file, "SELECT id, ts, track_id, name, utid FROM instant");
        assert_eq!(ours.len(), theirs.len(), "seed {seed}");
        for (our, their) in ours.iter().flatten().zip(theirs.iter().flatten()) {
            assert!(same(our, their), "seed {seed}: {our} is not {their}");
        }
        let joined = "SELECT count(*) FROM instant i JOIN track t ON i.track_id = t.id";
        assert_eq!(rows(&file, joined), [[json!(ours.len())]], "seed {seed}");
        compared += ours.len();
    }
    assert!(compared > 200, "only {compared} instants were compared");
}

#[test]
fn counters_are_those_of_a_second_implementation() {
    let mut compared = 0;
    for seed in seeds(200, 60) {
        let bytes = random_trace(seed);
        let all = events(&bytes).unwrap();
        let mut theirs = Vec::new();
        for (number, event) in all.iter().enumerate() {
            let ts = nanos(event.ts.as_ref());
            if ts.is_null() || phase(event) != "C" {
                continue;
            }
            let content = |raw: Option<&String>| text(raw).as_str().unwrap_or("null").to_owned();
            let mut name = event.name.as_ref().map_or(String::new(), |name| content(Some(name)));
            if let Some(id) = event.id.as_ref().or(event.id2.as_ref()) {
                name += &format!(" id: {}", content(Some(id)));
            }
            let args = event.args.as_deref().unwrap_or("null");
            for (key, value) in members(args).unwrap_or_default() {
                let Some(_) = time(&value) else { continue };
                let key = String::from_utf8_lossy(&key).into_owned();
                let value = string_content(&value).unwrap_or(value.into());
                let value: f64 = String::from_utf8(value).unwrap().parse().unwrap();
                theirs.push(vec![
                    json!(number),
                    ts.clone(),
                    json!(format!("{name} {key}")),
                    json!(value),
                    text(event.pid.as_ref()),
                ]);
            }
        }
        let folder = Folder::new();
        let file = folder.file("a.json", &bytes);
        let sql = "SELECT c.id, c.ts, t.name, c.value, p.pid_text FROM counter_track t \
                   LEFT JOIN process p ON p.upid = t.upid JOIN counter c ON c.track_id = t.id";
        let (ours, theirs) = (sorted(rows(&file, sql)), sorted(theirs));
        assert_eq!(ours.len(), theirs.len(), "seed {seed}");
        for (our, their) in ours.iter().flatten().zip(theirs.iter().flatten()) {
            assert!(same(our, their), "seed {seed}: {our} is not {their}");
        }
        compared += ours.len();
    }
    assert!(compared > 500, "only {compared} values were compared");
}

#[test]
fn views_have_the_columns_of_their_descriptions() {
    let folder = Folder::new();
    let file = folder.file("a.json", random_trace(1));
    for view in VIEWS {
        let description = view.description();
        let sql = format!("SELECT * FROM {}", description.name);
        let csv =
            answer(std::slice::from_ref(&file), &sql, TableFormat::Csv, Knobs::default()).unwrap();
        let header = String::from_utf8(csv).unwrap().lines().next().unwrap().to_owned();
        let names: Vec<_> = description.columns.iter().map(|column| &*column.name).collect();
        assert_eq!(header, names.join(","), "{}", description.name);
    }
}

#[test]
fn threads_of_several_inputs_are_named_by_all_of_them() {
    let folder = Folder::new();
    let name = r#"{"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"worker"}}"#;
    let slice = |ts: i64| format!(r#"{{"ph":"X","ts":{ts},"dur":1,"pid":1,"tid":7,"name":"x"}}"#);
    let files = [
        folder.file("a.json", format!("[{name},{}]", slice(1))),
        folder.file("b.json", format!("[{},{}]", slice(5), slice(9))),
    ];
    let sql = "SELECT file, name, events, start_ts FROM thread";
    let ours = rows_with(&files, sql, Knobs::default());
    assert_eq!(ours.len(), 2);
    let sql = "SELECT file, thread_name, count(*) FROM thread_slice GROUP BY 1, 2 ORDER BY 1";
    let slices = rows_with(&files, sql, Knobs::default());
    assert_eq!([&slices[0][2], &slices[1][2]], [&json!(1), &json!(2)]);
}
