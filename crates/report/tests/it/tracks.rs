//! Compares the rows of tracks with DevTools' engine (`scripts/devtools-tracks.mjs`).

use crate::common::engine::{engine, traces};
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
    let output = command.output().expect("the engine runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 2)), "{command:?}: {stderr}");
    let lines = String::from_utf8(output.stdout).expect("text");
    (output.status.code() == Some(0)).then(|| sorted(&lines))
}

fn sorted(lines: &str) -> Vec<String> {
    let rows = lines.lines().map(|line| text(&serde_json::from_str(line).expect("a row")));
    let mut rows: Vec<String> = rows.collect();
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
fn compare(ours: &[String], theirs: &[String], what: &str) {
    let other = |a: &[String], b: &[String]| {
        let rows = a.iter().filter(|row| !b.contains(row)).take(5).cloned();
        rows.collect::<Vec<String>>().join("\n  ")
    };
    let (only_ours, only_theirs) = (other(ours, theirs), other(theirs, ours));
    assert!(ours == theirs, "{what}: only ours\n  {only_ours}\nonly theirs\n  {only_theirs}");
}

#[test]
fn rows_of_a_page_match_devtools() {
    let page = project("testdata/tracks/page.json");
    let kept = std::fs::read_to_string(project("testdata/tracks/rows.jsonl")).expect("rows");
    let trace = read(&page, 64 << 20);
    compare(&ours(&trace), &sorted(&kept), "testdata/tracks");
    if let Some(engine) = engine() {
        assert_eq!(theirs(engine, &page), Some(sorted(&kept)));
    }
}

#[test]
fn rows_match_the_live_engine() {
    let Some(engine) = engine() else { return };
    let mut compared = 0;
    for file in traces() {
        let Some(theirs) = theirs(engine, &file) else { continue };
        compare(&ours(&read(&file, 256 << 20)), &theirs, &file.display().to_string());
        compared += theirs.len();
    }
    assert!(compared > 0);
}

/// Returns a random event of a track of a page with two processes.
fn event(rng: &mut Rng) -> Value {
    let ts = 1000 + rng.below(400);
    let kind = rng.below(17);
    let is_of_main_thread = (8..=10).contains(&kind);
    let pid = if rng.chance(70) { 1 } else { 2 };
    let tid = if is_of_main_thread { 1 } else { 1 + rng.below(2) };
    let of = |name: &str, cat: &str, ph: &str, args: Value| json!({"name": name, "cat": cat, "ph": ph, "pid": pid, "tid": tid, "ts": ts, "args": args});
    let with = |mut event: Value, key: &str, value: Value| {
        event[key] = value;
        event
    };
    let devtools = "devtools.timeline,disabled-by-default-devtools.timeline";
    let number = rng.below(8);
    let tree = 1 + u64::from(rng.below(12) == 0);
    let frame = json!({"layerTreeId": tree, "frameSeqId": number});
    let of_frame = |name: &str| of(name, devtools, "I", frame.clone());
    let mut details = [
        "",
        "{",
        r#"{"devtools":{"track":"T"}}"#,
        r#"{"devtools":{"track":"T","trackGroup":"G"}}"#,
    ]
    .map(|text| json!(text))
    .to_vec();
    details.push(json!(r#"{"devtools":{"dataType":"marker","color":"error"}}"#));
    details.push(json!(r#"{"devtools":{"dataType":"track-entry","track":"U"},"more":1}"#));
    details.push(json!(r#"{"devtools":{"url":"u","description":"d"}}"#));
    details.push(json!(r#"{"devtools":{"track":"","dataType":"other"}}"#));
    let detail = details[rng.below(details.len() as u64) as usize].clone();
    let phase = rng.pick(&["b", "e", "b", "e", "n"]);
    let edges = [
        Value::Null,
        json!("a"),
        json!("b"),
        json!("none"),
        json!(1100 + rng.below(200)),
        json!(1250 + rng.below(200)),
        json!(""),
    ];
    let [start, end] = [0, 1].map(|_| edges[rng.below(7) as usize].clone());
    match kind {
        0 | 1 => of_frame("BeginFrame"),
        2 | 3 => of_frame("DrawFrame"),
        4 => {
            let partial = json!({"layerTreeId": tree, "frameSeqId": number, "hasPartialUpdate": number % 2 == 0});
            of("DroppedFrame", devtools, "I", partial)
        }
        5 => of_frame("RequestMainThreadFrame"),
        6 => of_frame("ActivateLayerTree"),
        7 => {
            let args = json!({"layerTreeId": tree, "data": {"needsBeginFrame": number % 2}});
            of("NeedsBeginFrameChanged", devtools, "I", args)
        }
        8 => with(of("Commit", devtools, "X", frame.clone()), "dur", json!(number)),
        9 => of(
            "BeginMainThreadFrame",
            devtools,
            "I",
            json!({"layerTreeId": tree, "data": {"frameId": number}}),
        ),
        10 => with(of("RunTask", devtools, "X", json!({})), "dur", json!(rng.below(40))),
        11 => of("TimeStamp", devtools, "I", {
            let track =
                [Value::Null, json!("T"), json!("S"), json!("")][rng.below(4) as usize].clone();
            let mut data = json!({"message": rng.pick(&["a", "b", "c"])});
            if rng.below(2) == 0 {
                (data["start"], data["end"]) = (start, end);
            }
            if !track.is_null() {
                data["track"] = track;
            }
            json!({"data": data})
        }),
        12 => of(
            rng.pick(&["m", "load", "fetchStart"]),
            "blink.user_timing",
            "I",
            json!({"data": {"detail": detail}}),
        ),
        13 => {
            let event =
                of(rng.pick(&["m", "n"]), "blink.user_timing", phase, json!({"detail": detail}));
            with(event, "id2", json!({"local": format!("0x{:x}", number % 3)}))
        }
        14 => with(
            of("t", "blink.console", phase, json!({})),
            "id",
            json!(format!("0x{:x}", number % 3)),
        ),
        15 => {
            let data = json!({"data": {"id": "1", "displayName": if number < 4 { "fade" } else { "" }, "state": "running"}});
            let event =
                of("Animation", "blink.animations,devtools.timeline,benchmark,rail", phase, data);
            with(event, "id2", json!({"local": format!("0x{:x}", number % 3)}))
        }
        _ => {
            json!({"name": "GPUTask", "cat": devtools, "ph": "X", "pid": 9, "tid": 1 + number % 2, "ts": ts, "dur": number, "args": {"data": {}}})
        }
    }
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
    events.extend((0..200).map(|_| event(rng)));
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
            let is_own = |sample: &&Sample| sample.pid.to_string().as_bytes() == &*page.pid;
            let own: Vec<&Sample> = samples.iter().filter(is_own).collect();
            let heaps: Vec<f64> =
                own.iter().filter_map(|sample| Some(sample.heap? as f64)).collect();
            assert_eq!(page.worst_rise, worst_rise(&own));
            assert_eq!(page.heap.count, heaps.len() as u64);
            assert_eq!(page.heap.first + page.heap.rise - page.heap.fall, page.heap.last);
            assert_eq!(page.heap.last, heaps[heaps.len() - 1]);
            assert_eq!(page.heap.most, heaps.iter().copied().fold(0.0, f64::max));
            assert_eq!(page.nodes.count, own.len() as u64);
            assert_eq!((page.nodes.rise, page.listeners.count), (0.0, 0));
        }
    }
}
