//! Compares the rows of tracks with DevTools' engine (`scripts/devtools-tracks.mjs`).

use crate::common::engine::{engine, traces};
use crate::common::files::{files, shared};
use crate::insights::lines_of;
use crate::report::{read, report};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use tracemill_analysis::Trace;
use tracemill_report::{Track, TrackRow, track_rows, track_totals};
use tracemill_testkit::Rng;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns a row in which all numbers are doubles, as a text.
fn text(row: &Value) -> String {
    match row {
        Value::Number(number) => format!("{:?}", number.as_f64().expect("a double")),
        Value::Array(cells) => cells.iter().map(text).collect::<Vec<_>>().join("|"),
        other => other.to_string(),
    }
}

/// Returns the rows that the engine has, sorted; `None` if it refuses the trace.
fn theirs(engine: &Path, file: &Path) -> Option<Vec<String>> {
    let mut command = Command::new("node");
    command.arg(project("scripts/devtools-tracks.mjs")).arg("--engine").arg(engine).arg(file);
    lines_of(&mut command).map(|rows| sorted(&rows))
}

fn rows_of(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

fn sorted(rows: &[Value]) -> Vec<String> {
    let mut rows: Vec<String> = rows.iter().map(text).collect();
    rows.sort();
    rows
}

fn cells(trace: &Trace, track: Track, row: &TrackRow) -> Value {
    let text = |number: u32| (number != 0).then(|| trace.names().text(number));
    let more = match track {
        Track::Extension { name, group } => json!([text(name), text(group)]),
        _ => row.parts.map_or(json!(row.score), |parts| json!(parts)),
    };
    json!([track.key(), row.kind, row.name, row.ts, row.dur, row.key, more])
}

/// Returns our rows as a JSON line each, sorted.
fn ours(trace: &Trace) -> Vec<String> {
    let mut rows = Vec::new();
    track_rows(trace, &mut |track, row| {
        rows.push(text(&cells(trace, track, &row)));
        Ok(())
    })
    .expect("room");
    rows.sort();
    rows
}

#[track_caller]
fn compare(ours: &[String], theirs: &[String], file: &str) {
    let other = |a: &[String], b: &[String]| {
        let rows = a.iter().filter(|row| !b.contains(row)).take(5).cloned();
        rows.collect::<Vec<String>>().join("\n  ")
    };
    let (only_ours, only_theirs) = (other(ours, theirs), other(theirs, ours));
    assert!(ours == theirs, "{file}: only ours\n  {only_ours}\nonly theirs\n  {only_theirs}");
}

#[test]
fn rows_of_a_page_match_devtools() {
    let page = project("testdata/tracks/page.json");
    let kept = std::fs::read_to_string(project("testdata/tracks/rows.jsonl")).expect("rows");
    let trace = read(&page, 64 << 20);
    compare(&ours(&trace), &sorted(&rows_of(&kept)), "testdata/tracks");
    if let Some(engine) = engine() {
        assert_eq!(theirs(engine, &page), Some(sorted(&rows_of(&kept))));
    }
}

#[test]
fn rows_match_the_live_engine() {
    let Some(engine) = engine() else { return };
    let mut compared = 0;
    for file in traces().into_iter().chain(files(&shared().join("oracle/samples"))) {
        let Some(theirs) = theirs(engine, &file) else { continue };
        compare(&ours(&read(&file, 256 << 20)), &theirs, &file.display().to_string());
        compared += theirs.len();
    }
    assert!(compared > 0);
}

const DEVTOOLS: &str = "devtools.timeline,disabled-by-default-devtools.timeline";

/// Returns an event on a thread.
fn event(name: &str, cat: &str, ph: &str, args: Value) -> Value {
    json!({"name": name, "cat": cat, "ph": ph, "pid": 1, "tid": 1, "ts": 0, "args": args})
}

/// Returns an event with another member.
fn with(mut event: Value, key: &str, value: Value) -> Value {
    event[key] = value;
    event
}

/// Returns a random event of frames.
fn event_of_frames(rng: &mut Rng) -> Value {
    let (number, tree) = (rng.below(8), if rng.chance(8) { 2 } else { 1 });
    let frame = json!({"layerTreeId": tree, "frameSeqId": number});
    let of = |name: &str, args: Value| event(name, DEVTOOLS, "I", args);
    match rng.below(11) {
        0 | 1 => of("BeginFrame", frame),
        2 | 3 => of("DrawFrame", frame),
        4 => of("DroppedFrame", with(frame, "hasPartialUpdate", json!(rng.chance(50)))),
        5 => of("RequestMainThreadFrame", frame),
        6 => of("ActivateLayerTree", frame),
        7 => {
            let data = json!({"needsBeginFrame": rng.below(2)});
            of("NeedsBeginFrameChanged", with(frame, "data", data))
        }
        8 => with(event("Commit", DEVTOOLS, "X", frame), "dur", json!(number)),
        9 => of("BeginMainThreadFrame", with(frame, "data", json!({"frameId": number}))),
        _ => with(event("RunTask", DEVTOOLS, "X", json!({})), "dur", json!(rng.below(40))),
    }
}

/// Returns a random `console.timeStamp`.
fn time_stamp(rng: &mut Rng) -> Value {
    let mut data = json!({"message": rng.pick(&["a", "b", "c"])});
    for edge in ["start", "end"] {
        match rng.below(6) {
            0 => data[edge] = json!(1100 + rng.below(400)),
            1 => data[edge] = Value::Null,
            2 => {}
            _ => data[edge] = json!(rng.pick(&["a", "b", "none", ""])),
        }
    }
    if rng.chance(60) {
        data["track"] = json!(rng.pick(&["T", "S", ""]));
    }
    event("TimeStamp", DEVTOOLS, "I", json!({"data": data}))
}

/// Returns a random mark, or a part of a measure, of `console.time` or of an animation.
fn timing(rng: &mut Rng) -> Value {
    let detail = rng.pick(&[
        "",
        "{",
        r#"{"devtools":{"track":"T"}}"#,
        r#"{"devtools":{"track":"T","trackGroup":"G"}}"#,
        r#"{"devtools":{"dataType":"marker","color":"error"}}"#,
        r#"{"devtools":{"dataType":"track-entry","track":"U"},"more":1}"#,
        r#"{"devtools":{"url":"u","description":"d"}}"#,
        r#"{"devtools":{"track":"","dataType":"other"}}"#,
    ]);
    let (phase, user) = (rng.pick(&["b", "e", "b", "e", "n"]), "blink.user_timing");
    let id = json!(format!("0x{:x}", rng.below(3)));
    let of = |name: &str, cat: &str, args: Value| event(name, cat, phase, args);
    match rng.below(4) {
        0 => {
            let name = rng.pick(&["m", "load", "fetchStart"]);
            event(name, user, "I", json!({"data": {"detail": detail}}))
        }
        1 => with(
            of(rng.pick(&["m", "n"]), user, json!({"detail": detail})),
            "id2",
            json!({"local": id}),
        ),
        2 => with(of("t", "blink.console", json!({})), "id", id),
        _ => {
            let data = json!({"displayName": rng.pick(&["fade", ""]), "state": "running"});
            let cats = "blink.animations,devtools.timeline,benchmark,rail";
            with(of("Animation", cats, json!({"data": data})), "id2", json!({"local": id}))
        }
    }
}

/// Returns a random event of a track.
fn event_of_track(rng: &mut Rng) -> Value {
    let mut event = match rng.below(17) {
        0..=10 => event_of_frames(rng),
        11 => time_stamp(rng),
        12..=15 => timing(rng),
        _ => with(event("GPUTask", DEVTOOLS, "X", json!({})), "dur", json!(rng.below(9))),
    };
    let pid = match &event["name"] {
        name if name == "GPUTask" => 9,
        _ => 1 + u64::from(rng.chance(30)),
    };
    (event["pid"], event["ts"]) = (json!(pid), json!(1000 + rng.below(400)));
    event["tid"] = json!(if rng.chance(80) { 1 } else { 2 });
    event
}

/// Returns a random page, whose main frame moves to another process.
fn page(rng: &mut Rng) -> Vec<Value> {
    let named = |name: &str, pid: u64, tid: u64, value: &str| json!({"name": name, "cat": "__metadata", "ph": "M", "pid": pid, "tid": tid, "ts": 0, "args": {"name": value}});
    let of = |name: &str, ts: u64, data: Value| json!({"name": name, "cat": "disabled-by-default-devtools.timeline", "ph": "I", "pid": 1, "tid": 1, "ts": ts, "args": {"data": data}});
    let frame = json!({"frame": "F", "url": "http://a.test/", "processId": 1, "name": ""});
    let mut events = vec![
        named("thread_name", 1, 1, "CrRendererMain"),
        named("thread_name", 2, 1, "CrRendererMain"),
        named("process_name", 9, 0, "GPU Process"),
        named("thread_name", 9, 1, "CrGpuMain"),
        of("TracingStartedInBrowser", 1000, json!({"frames": [frame]})),
        of("SetLayerTreeId", 1000, json!({"frame": "F", "layerTreeId": 1})),
    ];
    if rng.below(2) == 0 {
        let data = json!({"frame": "F", "url": "http://b.test/", "processId": 2, "name": ""});
        events.push(of("FrameCommittedInBrowser", 1200, data));
    }
    events.extend((0..200).map(|_| event_of_track(rng)));
    events
}

#[test]
fn rows_of_random_pages_match_the_live_engine() {
    let Some(engine) = engine() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = Vec::new();
    for seed in 0..12 {
        let path = folder.path().join("page.json");
        std::fs::write(&path, json!(page(&mut Rng::new(seed))).to_string()).expect("a file");
        let theirs = theirs(engine, &path).expect("the engine takes it");
        let ours = ours(&read(&path, 64 << 20));
        compare(&ours, &theirs, &format!("seed {seed}"));
        all.extend(ours);
    }
    for kind in [
        "frame",
        "idle frame",
        "dropped frame",
        "partially presented frame",
        "animation",
        "marker",
        "entry",
    ] {
        assert!(all.iter().any(|row| row.contains(&format!("|\"{kind}\"|"))), "{kind}");
    }
}

#[test]
fn totals_are_sums_of_rows_and_other_names_list_the_tracks() {
    for seed in 0..20 {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.json");
        std::fs::write(&path, json!(page(&mut Rng::new(seed))).to_string()).expect("a file");
        let trace = read(&path, 64 << 20);
        let names = track_totals(&trace, "none", None).expect("room").expect_err("no such track");
        assert!(names.len() > 3, "{names:?}");
        for name in &names {
            let (mut count, mut total, mut most) = (0, 0.0, 0.0_f64);
            track_rows(&trace, &mut |track, row| {
                if track.is_named(&trace, name) {
                    (count, total, most) = (count + 1, total + row.dur, most.max(row.dur));
                }
                Ok(())
            })
            .expect("room");
            let totals = track_totals(&trace, name, None).expect("room").expect("the track");
            assert_eq!(totals.iter().map(|row| row.count).sum::<u64>(), count);
            assert!((totals.iter().map(|row| row.total).sum::<f64>() - total).abs() < 1e-6);
            assert_eq!(totals.iter().map(|row| row.longest.dur).fold(0.0, f64::max), most);
        }
    }
}

/// An event with counters.
struct Sample {
    pid: u64,
    ts: u64,
    heap: Option<u64>,
}

impl Sample {
    fn of(rng: &mut Rng) -> Self {
        let heap = (!rng.chance(5)).then(|| 1000 + rng.below(500));
        Sample { pid: 1 + rng.below(2), ts: 1 + rng.below(8_000_000), heap }
    }

    fn event(&self) -> Value {
        let mut data = json!({"nodes": 7, "documents": 1});
        if let Some(heap) = self.heap {
            data["jsHeapSizeUsed"] = json!(heap);
        }
        json!({
            "name": "UpdateCounters", "cat": "disabled-by-default-devtools.timeline", "ph": "I",
            "pid": self.pid, "tid": 1, "ts": self.ts, "args": {"data": data},
        })
    }
}

/// Returns by how much the heap grows most between two samples within a second.
fn worst_rise(samples: &[&Sample]) -> f64 {
    let mut worst = 0;
    for (at, first) in samples.iter().enumerate() {
        for later in samples[at..].iter().filter(|later| later.ts <= first.ts + 1_000_000) {
            let rise = later.heap.zip(first.heap).map_or(0, |(b, a)| b.saturating_sub(a));
            worst = worst.max(rise);
        }
    }
    worst as f64
}

#[test]
fn memory_has_the_changes_of_each_process_and_the_worst_second() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut samples: Vec<Sample> = (0..300).map(|_| Sample::of(&mut rng)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.json");
        let events = Value::from_iter(samples.iter().map(Sample::event));
        std::fs::write(&path, events.to_string()).expect("a file");
        let found = report(&read(&path, 64 << 20)).memory;
        assert_eq!(found.len(), 2);
        samples.sort_by_key(|sample| sample.ts);
        for page in found {
            let is_of_page = |sample: &&Sample| sample.pid.to_string().as_bytes() == &*page.pid;
            let values: Vec<&Sample> = samples.iter().filter(is_of_page).collect();
            let heaps: Vec<f64> =
                values.iter().filter_map(|sample| Some(sample.heap? as f64)).collect();
            assert_eq!(page.worst_rise, worst_rise(&values));
            assert_eq!(page.heap.count, heaps.len() as u64);
            assert_eq!(page.heap.first + page.heap.rise - page.heap.fall, page.heap.last);
            assert_eq!(page.heap.last, heaps[heaps.len() - 1]);
            assert_eq!(page.heap.most, heaps.iter().copied().fold(0.0, f64::max));
            assert_eq!(page.nodes.count, values.len() as u64);
            assert_eq!((page.nodes.rise, page.listeners.count), (0.0, 0));
        }
    }
}
