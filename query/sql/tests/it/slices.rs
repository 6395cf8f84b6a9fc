//! The table `slice`, compared with a second implementation and with laws.

use crate::reference::{Numbers, json_text, nanos, same, text};
use crate::support::{Knobs, rows, rows_with, sorted};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::reference::{RawEvent, events, members, string_content, time};
use tracemill_testkit::{Folder, Rng, seeds};

const COLUMNS: &str = "id, ts, dur, track_id, category, name, depth, parent_id, arg_set_id, thread_ts, thread_dur, \
                       utid, ph, self_dur, args";
const PER_KIND: i64 = 1 << 37;

/// A value that is equal only to values of the same type and content.
type Content = Option<Result<Vec<u8>, String>>;

fn value(raw: Option<&str>) -> Content {
    raw.map(|raw| string_content(raw).ok_or_else(|| raw.to_owned()))
}

fn content(raw: Option<&String>) -> Content {
    value(raw.map(String::as_str))
}

/// Returns the value of a member of `id2`.
fn id2(event: &RawEvent, name: &str) -> Content {
    let found = members(event.id2.as_deref()?)?;
    value(found.get(name.as_bytes()).map(String::as_str))
}

/// The events that may be pairs: those of a track, or of an async id.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Operation {
    Track(i64),
    Async { is_nestable: bool, cat: Content, scope: Content, is_local: bool, id: Vec<Content> },
}

impl Operation {
    fn of_id(event: &RawEvent, phase: &str) -> Self {
        let (global, local) = (id2(event, "global"), id2(event, "local"));
        let is_local = event.id.is_none() && global.is_none() && local.is_some();
        let id = match () {
            () if event.id.is_some() => vec![content(event.id.as_ref())],
            () if global.is_some() => vec![global],
            () if local.is_some() => vec![local, content(event.pid.as_ref())],
            () => vec![content(event.id2.as_ref())],
        };
        Operation::Async {
            is_nestable: matches!(phase, "b" | "e" | "n"),
            cat: content(event.cat.as_ref()),
            scope: content(event.scope.as_ref()),
            is_local,
            id,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Length {
    /// Ends at this time, as a nearest number of nanoseconds.
    Until(i64),
    Unended,
    Missing,
}

/// Returns the nearest number of nanoseconds.
fn nearest(attos: i128) -> i64 {
    let limit = i128::from(i64::MAX - 8);
    (attos + 500_000_000).div_euclid(1_000_000_000).clamp(-limit, limit) as i64
}

/// A slice of the second implementation.
struct Slice {
    event: usize,
    ts: i64,
    /// The nearest number of nanoseconds.
    start: i64,
    /// Duration as shown.
    dur: i64,
    length: Length,
    track: i64,
    thread_dur: Value,
    end: i64,
    parent: Option<usize>,
    depth: usize,
}

/// An event with a time.
struct Timed<'e> {
    number: usize,
    event: &'e RawEvent,
    ts: i64,
    start: i64,
    phase: String,
    track: i64,
}

fn timed<'e>(all: &'e [RawEvent], numbers: &[(Option<usize>, Option<usize>)]) -> Vec<Timed<'e>> {
    let mut timed = Vec::new();
    for (number, event) in all.iter().enumerate() {
        let Some(time) = event.ts.as_ref().and_then(|ts| time(ts)) else { continue };
        let (ts, start) = (time.nanos_floor(), nearest(time.attos()));
        let phase = event.ph.as_ref().and_then(|ph| string_content(ph)).unwrap_or_default();
        let phase = String::from_utf8_lossy(&phase).into_owned();
        let track = match numbers[number] {
            (Some(utid), _) => utid as i64,
            (None, Some(upid)) => upid as i64 + PER_KIND,
            (None, None) => 5 * PER_KIND,
        };
        timed.push(Timed { number, event, ts, start, phase, track });
    }
    // stable: file order at equal times
    timed.sort_by_key(|event| event.start);
    timed
}

impl Slice {
    fn unended(event: &RawEvent, number: usize, [ts, start, track]: [i64; 3]) -> Self {
        Slice {
            event: number,
            ts,
            start,
            dur: -1,
            length: Length::Unended,
            track,
            thread_dur: nanos(event.tdur.as_ref()),
            end: 0,
            parent: None,
            depth: 0,
        }
    }
}

/// Sets the length of an X event.
fn complete(slice: &mut Slice, event: &RawEvent) {
    slice.length = Length::Missing;
    if let Some(dur) = nanos(event.dur.as_ref()).as_i64().filter(|dur| *dur >= 0) {
        let attos = |raw: &Option<String>| time(raw.as_ref().unwrap()).unwrap().attos();
        let end = nearest(attos(&event.ts) + attos(&event.dur));
        (slice.dur, slice.length) = (dur, Length::Until(end));
    }
}

/// Returns the slices of a trace, without their parents.
fn slices(events: &[Timed<'_>]) -> Vec<Slice> {
    let mut slices: Vec<Slice> = Vec::new();
    let mut open: HashMap<Operation, Vec<(Content, usize)>> = HashMap::new();
    let mut tracks: HashMap<Operation, i64> = HashMap::new();
    for Timed { number, event, ts, start, phase, track } in events {
        let mut slice = |track| slices.push(Slice::unended(event, *number, [*ts, *start, track]));
        let operation = match &**phase {
            "X" => {
                slice(*track);
                complete(slices.last_mut().unwrap(), event);
                continue;
            }
            "B" | "E" => Operation::Track(*track),
            "b" | "e" | "n" | "S" | "F" => Operation::of_id(event, phase),
            _ => continue,
        };
        let begins_async = matches!(&**phase, "b" | "n" | "S");
        if begins_async {
            let Operation::Async { is_local, .. } = operation else { unreachable!() };
            let kind = if is_local { 3 } else { 2 };
            let new = *number as i64 + kind * PER_KIND;
            slice(*tracks.entry(operation.clone()).or_insert(new));
        }
        let name = content(event.name.as_ref());
        let is_unnamed = matches!(event.name.as_deref(), None | Some("null" | "\"\""));
        let open = open.entry(operation.clone()).or_default();
        match &**phase {
            "B" => {
                slice(*track);
                open.push((name.filter(|_| !is_unnamed), slices.len() - 1));
            }
            "b" | "S" => open.push((name, slices.len() - 1)),
            "n" => {
                let slice = slices.last_mut().unwrap();
                (slice.dur, slice.length) = (0, Length::Until(*start));
            }
            _ => {
                let is_pair = phase == "E";
                let compares = !is_pair || !is_unnamed;
                let same = open.iter().rposition(|open| compares && open.0 == name);
                let Some(at) = same.or(open.len().checked_sub(1).filter(|_| is_pair)) else {
                    continue;
                };
                let begin = open.remove(at).1;
                let slice = &mut slices[begin];
                (slice.dur, slice.length) = ((ts - slice.ts).max(0), Length::Until(*start));
                let begin = events.iter().find(|event| event.number == slice.event).unwrap();
                let times = [begin.event.tts.as_ref(), event.tts.as_ref()].map(nanos);
                if let [Some(start), Some(end)] = times.map(|time| time.as_i64()) {
                    slice.thread_dur = json!(end - start);
                }
            }
        }
    }
    slices
}

/// Finds the parent of each slice among all slices of its track.
fn nest(slices: &mut [Slice]) {
    slices.sort_by_key(|slice| {
        let length = match slice.length {
            Length::Until(end) => end - slice.start,
            Length::Unended => i64::MAX,
            Length::Missing => 0,
        };
        (slice.start, std::cmp::Reverse(length), slice.event)
    });
    for at in 0..slices.len() {
        let (before, rest) = slices.split_at_mut(at);
        let slice = &mut rest[0];
        let end = match slice.length {
            Length::Until(end) => Some(end),
            Length::Missing => Some(slice.start),
            Length::Unended => None,
        };
        let is_around = |other: &Slice| {
            other.track == slice.track
                && other.end > slice.start
                && end.is_none_or(|end| end <= other.end)
        };
        slice.parent = before.iter().rposition(is_around);
        slice.depth = slice.parent.map_or(0, |parent| before[parent].depth + 1);
        slice.end = end.or(slice.parent.map(|parent| before[parent].end)).unwrap_or(i64::MAX);
    }
}

/// Returns the time of a slice outside its children.
fn self_time(slices: &[Slice], number: usize) -> i64 {
    if slices[number].dur < 0 {
        return -1;
    }
    let (mut covered, mut until) = (0, i64::MIN);
    // children come by their start
    for child in slices.iter().filter(|child| child.parent == Some(number)) {
        covered += (child.end - child.start.max(until)).max(0);
        until = until.max(child.end);
    }
    (slices[number].dur - covered).max(0)
}

fn expected(bytes: &[u8]) -> Option<Vec<Vec<Value>>> {
    let all = events(bytes).ok()?;
    let (mut threads, mut processes) = (Numbers::default(), Numbers::default());
    let mut number = |event: &RawEvent| {
        let thread = event.tid.as_ref().map(|_| threads.number(&[&event.pid, &event.tid]));
        (thread, event.pid.as_ref().map(|_| processes.number(&[&event.pid])))
    };
    let numbers: Vec<_> = all.iter().map(&mut number).collect();
    let mut slices = slices(&timed(&all, &numbers));
    nest(&mut slices);
    let rows = slices.iter().enumerate().map(|(number, slice)| {
        let event = &all[slice.event];
        let has_args = !matches!(event.args.as_deref(), None | Some("null"))
            && serde_json::from_str(event.args.as_ref().unwrap()).ok() != Some(json!({}));
        vec![
            json!(slice.event),
            json!(slice.ts),
            json!(slice.dur),
            json!(slice.track),
            text(event.cat.as_ref()),
            text(event.name.as_ref()),
            json!(slice.depth),
            json!(slice.parent.map(|parent| slices[parent].event)),
            if has_args { json!(slice.event) } else { Value::Null },
            nanos(event.tts.as_ref()),
            slice.thread_dur.clone(),
            json!(numbers[slice.event].0),
            text(event.ph.as_ref()),
            json!(self_time(&slices, number)),
            json_text(event.args.as_ref()),
        ]
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|row| row[0].as_i64());
    Some(rows)
}

/// Decimals of times, some of them those of doubles.
const DIGITS: [&str; 7] = ["", "", "", ".25", ".0004", ".0006", ".99999999999998"];

/// A trace of few threads, names and times, so that slices nest, overlap and share times.
fn dense(seed: u64, events: usize) -> String {
    let mut rng = Rng::new(seed);
    let mut event = || {
        let ph = rng.pick(&["X", "X", "X", "B", "B", "E", "E", "b", "e", "n", "S", "F", "i", "C"]);
        let mut text = format!("{{\"ph\":\"{ph}\",\"ts\":{}{}", rng.below(60), rng.pick(&DIGITS));
        if rng.chance(90) {
            text += &format!(",\"pid\":{},\"tid\":{}", rng.below(2), rng.below(2));
        }
        if rng.chance(90) {
            text += &format!(",\"name\":\"{}\"", rng.pick(&["a", "b", "c", ""]));
        }
        if rng.chance(95) && ph == "X" {
            text += &format!(",\"dur\":{}{}", rng.below(30) as i64 - 1, rng.pick(&DIGITS));
        }
        match rng.below(6) {
            0 => {
                text +=
                    &format!(",\"id2\":{{\"{}\":{}}}", rng.pick(&["local", "global"]), rng.below(2))
            }
            1 => text += ",\"id\":\"1\",\"scope\":\"s\"",
            _ => text += &format!(",\"id\":{}", rng.below(2)),
        }
        match rng.below(4) {
            0 => text += &format!(",\"tts\":{}", rng.below(9)),
            1 => {
                text += rng.pick(&[
                    ",\"args\":{ }",
                    ",\"args\":null",
                    ",\"args\":{\"a\":1,\"b\":\"2\"}",
                ])
            }
            _ => {}
        }
        text + "}"
    };
    let all: Vec<String> = (0..events).map(|_| event()).collect();
    format!("[{}]", all.join(",\n"))
}

fn random_trace(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    match rng.below(3) {
        0 => trace(seed, &TraceShape::arbitrary(&mut rng)),
        1 => trace(seed, &TraceShape { odd: 5, equal_ts: 20, ..TraceShape::plain(200) }),
        _ => dense(seed, 5 + rng.index(120)).into_bytes(),
    }
}

#[test]
fn slices_are_those_of_a_second_implementation() {
    let (mut compared, mut children) = (0, 0);
    for seed in seeds(0, 150) {
        let bytes = random_trace(seed);
        let Some(theirs) = expected(&bytes) else { continue };
        let folder = Folder::new();
        let file = folder.file("a.json", &bytes);
        let ours = rows(&file, &format!("SELECT {COLUMNS} FROM slice"));
        assert_eq!(ours.len(), theirs.len(), "seed {seed}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            for ((our, their), column) in ours.iter().zip(theirs).zip(COLUMNS.split(", ")) {
                assert!(
                    same(our, their),
                    "seed {seed}, {}: {column}: {our} is not {their}",
                    ours[0]
                );
            }
            children += usize::from(!ours[7].is_null());
        }
        compared += ours.len();
    }
    assert!(compared > 3000 && children > 800, "only {compared} slices, {children} children");
}

#[test]
fn conditions_and_columns_do_not_change_slices() {
    let mut found = 0;
    for seed in seeds(500, 10) {
        let folder = Folder::new();
        let file = folder.file("a.json", dense(seed, 150));
        let all = rows(&file, &format!("SELECT {COLUMNS} FROM slice"));
        let mut rng = Rng::new(seed);
        for (number, column) in COLUMNS.split(", ").enumerate() {
            let alone = rows(&file, &format!("SELECT {column} FROM slice"));
            assert!(
                alone.iter().map(|row| &row[0]).eq(all.iter().map(|row| &row[number])),
                "{seed} {column}"
            );
        }
        assert_eq!(rows(&file, "SELECT count(*) FROM slice"), [[json!(all.len())]]);
        let limit = rng.index(9);
        let first = rows(&file, &format!("SELECT {COLUMNS} FROM slices LIMIT {limit}"));
        assert_eq!(first[..], all[..limit.min(all.len())]);
        for condition in [
            "name = 'a'",
            "ts BETWEEN 5000 AND 30000",
            "ph IN ('X', 'b')",
            "category LIKE 'a%'",
            "file = 'a.json'",
        ] {
            let pushed = rows(&file, &format!("SELECT {COLUMNS} FROM slice WHERE {condition}"));
            // the scan does not know CASE
            let sql = format!(
                "SELECT {COLUMNS} FROM slice WHERE CASE WHEN {condition} THEN true ELSE false END"
            );
            assert_eq!(pushed, rows(&file, &sql), "seed {seed}: {condition}");
            found += pushed.len();
        }
    }
    assert!(found > 500, "only {found} slices were selected");
}

#[test]
fn slices_do_not_depend_on_threads_or_memory() {
    let folder = Folder::new();
    let files = [
        folder.file("a.json", dense(1, 30_000)),
        folder.file("b.json", dense(2, 3000)),
        folder.file("c.json", trace(3, &TraceShape::plain(3000))),
    ];
    for sql in [
        format!("SELECT {COLUMNS} FROM slice"),
        "SELECT depth, count(*), sum(self_dur), sum(dur) FROM slice GROUP BY 1 ORDER BY 1"
            .to_owned(),
        "SELECT id, name, tid, pid, depth, self_dur FROM thread_slice".to_owned(),
        "SELECT * FROM track".to_owned(),
    ] {
        let usual = rows_with(&files, &sql, Knobs::default());
        for (threads, memory) in [(1, 32), (2, 32), (7, 32), (1, 256), (7, 256)] {
            let knobs = Knobs { threads, memory: memory << 20 };
            let other = rows_with(&files, &sql, knobs);
            match sql.contains("thread_slice") || sql.contains("track") {
                true => assert_eq!(sorted(usual.clone()), sorted(other), "{knobs:?}: {sql}"),
                false => assert!(usual == other, "{knobs:?}: {sql}"),
            }
        }
    }
}

#[test]
fn depth_is_that_of_the_parent_plus_one_and_time_is_counted_once() {
    for seed in seeds(900, 20) {
        let folder = Folder::new();
        let file = folder.file("a.json", random_trace(seed));
        let sql = "SELECT count(*) FROM slice c JOIN slice p ON c.parent_id = p.id \
                   WHERE c.depth <> p.depth + 1 OR c.track_id <> p.track_id OR c.ts < p.ts - 1 \
                   OR (p.dur >= 0 AND c.dur >= 0 AND c.ts + c.dur > p.ts + p.dur + 2)";
        assert_eq!(rows(&file, sql), [[json!(0)]], "seed {seed}");
        let sql = "SELECT count(*) FROM slice WHERE self_dur < -1 OR self_dur > dur \
                   OR (depth = 0) <> (parent_id IS NULL)";
        assert_eq!(rows(&file, sql), [[json!(0)]], "seed {seed}");
        let count =
            "count(*) FROM events WHERE ph IN ('X', 'B', 'b', 'n', 'S') AND ts_ns IS NOT NULL";
        let sql = "SELECT count(*) FROM slice";
        assert_eq!(rows(&file, sql), rows(&file, &format!("SELECT {count}")), "seed {seed}");
    }
}

#[test]
fn tracks_of_slices_are_in_their_tables() {
    for seed in seeds(950, 20) {
        let folder = Folder::new();
        let file: PathBuf = folder.file("a.json", random_trace(seed));
        let all = rows(&file, "SELECT id, ts, dur FROM slice ORDER BY id");
        let joined =
            "SELECT s.id, s.ts, s.dur FROM slice s JOIN track t ON s.track_id = t.id ORDER BY s.id";
        assert_eq!(rows(&file, joined), all, "seed {seed}");
        let sql = "SELECT count(*), count(DISTINCT id) FROM track";
        let counts = rows(&file, sql).remove(0);
        assert_eq!(counts[0], counts[1], "seed {seed}");
        let threads = rows(&file, "SELECT id, ts, dur FROM thread_slice ORDER BY id");
        let sql = "SELECT id, ts, dur FROM slice WHERE track_id = utid ORDER BY id";
        assert_eq!(threads, rows(&file, sql), "seed {seed}");
        let processes = rows(&file, "SELECT id FROM process_slice ORDER BY id");
        let sql = format!("SELECT id FROM slice WHERE track_id / {PER_KIND} IN (1, 3) ORDER BY id");
        assert_eq!(processes, rows(&file, &sql), "seed {seed}");
    }
}

#[test]
fn views_have_the_slices_of_their_tables() {
    let folder = Folder::new();
    let file = folder.file("a.json", dense(7, 300));
    let columns = "id, ts, name, upid, depth, parent_id";
    let all = rows(&file, &format!("SELECT {columns} FROM thread_or_process_slice ORDER BY id"));
    let sql = "SELECT {columns} FROM thread_slice UNION ALL SELECT {columns} FROM process_slice";
    let both = sql.replace("{columns}", columns);
    assert_eq!(all, rows(&file, &format!("SELECT * FROM ({both}) AS both_kinds ORDER BY id")));
    assert!(all.len() > 50);
    let sql = "INCLUDE PERFETTO MODULE slices.self_dur; SELECT * FROM slice_self_dur";
    assert_eq!(rows(&file, sql), rows(&file, "SELECT id, self_dur FROM slice"));
}
