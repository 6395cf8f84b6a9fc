//! Compares every part of a split with the naive reference, whatever the knobs. Also tests the laws
//! of splitting.

use crate::extract::extract;
use crate::run::{Folder, Knobs, PLAIN, config, knobs, over, read, run};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tracemill_pipeline::{SplitBy, SplitConfig, SplitPart, SplitReport, split};
use tracemill_testkit::generate::{ProfileShape, TraceShape, chrome_like, profile_trace, trace};
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::Error;
use tracemill_trace::output::target::{Compression, Format};

/// Returns options with numbered parts, so that names never collide.
pub(crate) fn settings(by: SplitBy, max_size: Option<u64>, format: Option<Format>) -> SplitConfig {
    SplitConfig {
        by,
        max_size,
        dir: PathBuf::new(),
        template: Some("{part}".into()),
        replace: false,
        reserved: Vec::new(),
        format,
        compression: Compression::None,
        dry_run: false,
    }
}

fn run_split(
    inputs: &[&[u8]],
    settings: &SplitConfig,
    knobs: Knobs,
) -> Result<(Vec<Vec<u8>>, SplitReport), Error> {
    let folder = Folder::new();
    let settings = SplitConfig { dir: folder.path("parts"), ..settings.clone() };
    let config = config(knobs);
    let report = over(inputs, knobs, |sources| split(sources, &settings, &config))?;
    let parts = report.parts.iter().map(|part| read(&part.file)).collect();
    let files = std::fs::read_dir(&settings.dir).expect("it was made").count();
    assert_eq!(files, report.parts.len());
    Ok((parts, report))
}

fn expected(inputs: &[&[u8]], settings: &SplitConfig) -> Result<Vec<reference::SplitPart>, String> {
    let by = match settings.by {
        SplitBy::Pid => reference::SplitBy::Pid,
        SplitBy::Tid => reference::SplitBy::Tid,
        SplitBy::Cat => reference::SplitBy::Cat,
        SplitBy::Time(length) => reference::SplitBy::Time(length.into()),
        SplitBy::Size(most) => reference::SplitBy::Size(most),
        SplitBy::Events(most) => reference::SplitBy::Events(most),
    };
    let format = settings.format.map(|format| match format {
        Format::Object => reference::Format::Object,
        Format::Array => reference::Format::Array,
        Format::Ndjson => reference::Format::Ndjson,
    });
    reference::split(inputs, by, settings.max_size, format)
}

#[track_caller]
pub(crate) fn check(
    seed: u64,
    inputs: &[&[u8]],
    settings: &SplitConfig,
    knobs: Knobs,
) -> Vec<Vec<u8>> {
    let expected = expected(inputs, settings).expect("the generator writes sound traces");
    let (got, report) =
        run_split(inputs, settings, knobs).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let context = || format!("seed {seed}, {settings:?}, {knobs:?}");
    for (number, (part, expected)) in got.iter().zip(&expected).enumerate() {
        if *part != expected.bytes {
            let file = std::env::temp_dir().join("tracemill-failed-split");
            std::fs::write(file, inputs.concat()).expect("writable");
            let (a, b) = (show(&expected.bytes), show(part));
            let at = a.bytes().zip(b.bytes()).position(|(a, b)| a != b).unwrap_or(0);
            let near = |text: &str| {
                let bytes = &text.as_bytes()[at.saturating_sub(300)..text.len().min(at + 300)];
                show(bytes)
            };
            panic!(
                "{}: part {number} differs at {at}\n--- expected\n{}\n--- got\n{}",
                context(),
                near(&a),
                near(&b)
            );
        }
        let part_report = &report.parts[number];
        assert_eq!(
            (part_report.events, part_report.metadata, part_report.copies),
            (expected.events as u64, expected.metadata as u64, expected.copies as u64),
            "{}",
            context()
        );
        assert_eq!(part_report.bytes, part.len() as u64, "{}", context());
    }
    assert_eq!(got.len(), expected.len(), "{}", context());
    got
}

fn ways(rng: &mut Rng) -> SplitConfig {
    let (by, max_size) = match rng.index(10) {
        0 => (SplitBy::Pid, None),
        1 | 2 => (SplitBy::Tid, None),
        3 => (SplitBy::Cat, None),
        4 => (SplitBy::Time(rng.range(1, 300) as i64 * 1000), None),
        5 => (SplitBy::Events(rng.range(1, 40)), None),
        6 | 7 => (SplitBy::Size(rng.range(500, 9000)), None),
        8 => (SplitBy::Pid, Some(rng.range(500, 9000))),
        _ => (SplitBy::Tid, Some(rng.range(500, 9000))),
    };
    let format =
        [None, None, Some(Format::Object), Some(Format::Array), Some(Format::Ndjson)][rng.index(5)];
    settings(by, max_size, format)
}

#[test]
fn parts_match_the_reference_on_random_traces() {
    let (mut copies, mut parts) = (0, 0);
    for seed in seeds(0, 30) {
        let mut rng = Rng::new(seed);
        let inputs: Vec<Vec<u8>> = (0..1 + rng.index(2))
            .map(|i| trace(seed * 10 + i as u64, &TraceShape::arbitrary(&mut rng)))
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let settings = ways(&mut rng);
        parts += check(seed, &inputs, &settings, PLAIN).len();
        copies +=
            expected(&inputs, &settings).expect("sound").iter().map(|p| p.copies).sum::<usize>();
        for number in 0..2 {
            let knobs = knobs(seed as usize * 2 + number);
            check(seed, &inputs, &settings, knobs);
        }
    }
    assert!(copies > 20 && parts > 140, "{copies} copies in {parts} parts");
}

/// Covers many buckets, cuts inside them, parts written by all threads, and spilled partitions.
#[test]
fn parts_match_the_reference_on_large_traces() {
    let mut input = Vec::new();
    chrome_like(7, 8 << 20, &mut input).expect("memory takes bytes");
    let count = reference::events(&input).expect("sound").len() as u64;
    let small = Knobs { threads: 7, budget: Some(1 << 18), chunk: 300_000, ..PLAIN };
    for (by, max_size) in [
        (SplitBy::Tid, None),
        (SplitBy::Pid, Some(1 << 20)),
        (SplitBy::Size(2 << 20), None),
        (SplitBy::Events(3000), None),
        (SplitBy::Cat, None),
    ] {
        let settings = settings(by, max_size, None);
        let (parts, report) = run_split(&[&input], &settings, PLAIN).expect("sound");
        let once = |part: &SplitPart| part.events - part.metadata - part.copies;
        let metadata = multiset(&input, true).values().sum::<i64>() as u64;
        assert_eq!(report.parts.iter().map(once).sum::<u64>() + metadata, count, "{by:?}");
        assert!(parts.len() > 3, "{by:?}: {}", parts.len());
        for part in &parts {
            let (sorted, _) = run(&[part], None, PLAIN).expect("a part is a trace");
            assert!(sorted == *part, "{by:?}: a part is in order");
        }
        for corner in
            [Knobs { threads: 2, ..PLAIN }, small, Knobs { read_size: Some(1 << 16), ..small }]
        {
            let (again, other) = run_split(&[&input], &settings, corner).expect("sound");
            assert!(parts == again, "{by:?} {corner:?}");
            assert_eq!(other.spills > 0, corner.budget.is_some(), "{by:?} {corner:?}");
        }
    }
}

/// Counts the events of a trace by their text.
pub(crate) fn multiset(trace: &[u8], metadata: bool) -> BTreeMap<Vec<u8>, i64> {
    let mut counts = BTreeMap::new();
    for event in reference::events(trace).expect("sound") {
        let is_metadata = event.ph.as_deref() == Some("\"M\"");
        if is_metadata == metadata {
            *counts.entry(event.bytes).or_insert(0) += 1;
        }
    }
    counts
}

/// The end of a repeated event.
const MARK: &[u8] = b",\"tracemill.repeated\":true}";

fn marked(part: &[u8]) -> usize {
    part.windows(MARK.len()).filter(|end| *end == MARK).count()
}

/// Generates a valid trace with everything that `split` must keep together.
fn tidy(rng: &mut Rng, seed: u64) -> Vec<u8> {
    let mut shape = TraceShape::arbitrary(rng);
    (shape.odd, shape.documents, shape.bom) = (0, 1, false);
    trace(seed, &shape)
}

#[test]
fn times_finer_than_a_nanosecond_keep_their_order() {
    let input = r#"[{"ph":"i","ts":22,"pid":1},{"ph":"X","ts":22.0001,"dur":-1,"pid":1},{"ph":"E","ts":22,"dur":-1,"pid":1}]"#;
    for by in [SplitBy::Size(1 << 20), SplitBy::Events(2), SplitBy::Time(1000), SplitBy::Tid] {
        for corner in [PLAIN, knobs(1), knobs(2)] {
            check(0, &[input.as_bytes()], &settings(by, None, None), corner);
        }
    }
}

/// Each event would be a part of a third of a MiB.
#[test]
fn parts_that_are_mostly_metadata_are_refused() {
    let name = "n".repeat(300_000);
    let mut events = vec![format!(
        r#"{{"name":"process_name","ph":"M","pid":1,"tid":1,"args":{{"name":"{name}"}}}}"#
    )];
    events.extend((0..4000).map(|ts| format!(r#"{{"ph":"X","ts":{ts},"pid":1,"tid":1}}"#)));
    let input = format!("[{}]", events.join(","));
    let parts = |by, dry_run| {
        let folder = Folder::new();
        let dir = folder.path("parts");
        let settings = SplitConfig { dir, dry_run, ..settings(by, None, None) };
        over(&[input.as_bytes()], PLAIN, |sources| split(sources, &settings, &config(PLAIN)))
    };
    let refused = parts(SplitBy::Size(1000), false).expect_err("1.2 GB");
    assert!(refused.to_string().contains("the 4000 parts would take 12"), "{refused}");
    assert_eq!(parts(SplitBy::Size(1000), true).expect("nothing is written").parts.len(), 4000);
    assert_eq!(parts(SplitBy::Events(400), false).expect("few parts").parts.len(), 10);
}

#[test]
fn parts_that_are_mostly_repeated_begins_are_refused() {
    let begin = |i| format!(r#"{{"ph":"B","name":"n{i}","ts":{i},"pid":1,"tid":1}}"#);
    let slice = |i| format!(r#"{{"ph":"X","name":"x","ts":{},"dur":1,"pid":1,"tid":1}}"#, 1024 + i);
    let events: Vec<String> = (0..1024).map(begin).chain((0..1200).map(slice)).collect();
    let input = format!("[{}]", events.join(","));
    let folder = Folder::new();
    let dir = folder.path("parts");
    let settings = SplitConfig { dir: dir.clone(), ..settings(SplitBy::Events(1), None, None) };
    let parts =
        over(&[input.as_bytes()], PLAIN, |sources| split(sources, &settings, &config(PLAIN)));
    let refused = parts.expect_err("80 MB of 110 KB");
    assert!(refused.to_string().contains("as much as what was read"), "{refused}");
    assert!(!dir.exists());
}

/// All frames of the trace exceed a part, but those of its events do not.
#[test]
fn sizes_of_parts_count_only_their_stack_frames() {
    const MOST: u64 = 20_000;
    let event = |i| format!(r#"{{"ph":"X","ts":{i},"dur":1,"pid":1,"tid":1,"sf":{i}}}"#);
    let frame = |i| format!(r#""{i}":{{"name":"f{i}","category":"c"}}"#);
    let (events, frames): (Vec<_>, Vec<_>) = (0..1000).map(|i| (event(i), frame(i))).unzip();
    let input = format!(
        r#"{{"traceEvents":[{}],"stackFrames":{{{}}}}}"#,
        events.join(","),
        frames.join(",")
    );
    let folder = Folder::new();
    let settings =
        SplitConfig { dir: folder.path("parts"), ..settings(SplitBy::Size(MOST), None, None) };
    let parts =
        over(&[input.as_bytes()], PLAIN, |sources| split(sources, &settings, &config(PLAIN)));
    let sizes: Vec<u64> = parts.expect("sound").parts.iter().map(|part| part.bytes).collect();
    let (last, full) = sizes.split_last().expect("parts");
    assert!(
        *last <= MOST && full.iter().all(|size| (MOST - 200..=MOST).contains(size)),
        "{sizes:?}"
    );
}

#[test]
fn parts_have_each_event_once() {
    for seed in seeds(2000, 100) {
        let mut rng = Rng::new(seed);
        let input = tidy(&mut rng, seed);
        let settings = SplitConfig { format: Some(Format::Object), ..ways(&mut rng) };
        let (parts, _) = run_split(&[&input], &settings, knobs(seed as usize)).expect("sound");
        let mut left = multiset(&input, false);
        for part in &parts {
            let (sorted, _) = run(&[part], None, PLAIN).expect("a part is a trace");
            assert!(sorted == *part, "seed {seed}: a part is in order");
            for (event, count) in multiset(part, false) {
                match event.strip_suffix(MARK) {
                    None => *left.get_mut(&event).expect("an event of the trace") -= count,
                    Some(event) => assert!(left.contains_key(&[event, b"}"].concat())),
                }
            }
        }
        assert!(left.values().all(|&count| count == 0), "seed {seed}: {settings:?}");
    }
}

/// Merges all parts at once, in several steps, and concatenated in one input.
#[test]
fn split_then_merge_keeps_every_event() {
    let mut taken = 0;
    for seed in seeds(3000, 200) {
        let mut rng = Rng::new(seed);
        let input = tidy(&mut rng, seed);
        let format = [Format::Object, Format::Ndjson][rng.index(2)];
        let settings = SplitConfig { format: Some(format), ..ways(&mut rng) };
        let (parts, report) = run_split(&[&input], &settings, PLAIN).expect("sound");
        let copies = report.parts.iter().map(|part| part.copies).sum::<u64>();
        taken += copies;
        let all: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let knobs = knobs(seed as usize);
        let (merged, merge) = run(&all, None, knobs).expect("parts are traces");
        assert!(reference::merge(&all, None).expect("sound") == merged, "seed {seed}, {knobs:?}");
        assert_eq!(merge.copies, if parts.len() > 1 { copies } else { 0 }, "seed {seed}");
        // in NDJSON parts events have no raw line breaks
        let (whole, _) = run(&[&input], Some(format), PLAIN).expect("sound");
        let check = |merged: &[u8], how: &str| {
            for metadata in [false, true] {
                let (merged, whole) = (multiset(merged, metadata), multiset(&whole, metadata));
                assert!(merged == whole, "seed {seed}, {how}");
            }
            let (sorted, _) = run(&[merged], None, PLAIN).expect("sound");
            assert!(sorted == merged, "seed {seed}, {how}: in order");
        };
        check(&merged, "all at once");
        if format == Format::Object {
            let joined = all.concat();
            check(&run(&[&joined], None, knobs).expect("parts are traces").0, "in one input");
        }
        let (early, late) = all.split_at(rng.index(all.len() + 1));
        let late =
            (!late.is_empty()).then(|| run(late, Some(format), PLAIN).expect("parts are traces").0);
        let in_turn: Vec<&[u8]> = early.iter().copied().chain(late.as_deref()).collect();
        check(&run(&in_turn, None, knobs).expect("traces").0, "one after the other");
    }
    assert!(taken > 150, "{taken} copies");
}

#[test]
fn merging_later_parts_keeps_one_copy_of_repeated_events() {
    let mut kept = 0;
    for seed in seeds(3200, 60) {
        let mut rng = Rng::new(seed);
        let input = tidy(&mut rng, seed);
        let way = SplitBy::Events(rng.range(1, 20));
        let settings = settings(way, None, Some(Format::Object));
        let (parts, _) = run_split(&[&input], &settings, PLAIN).expect("sound");
        let late: Vec<&[u8]> = parts.iter().skip(parts.len() / 2).map(Vec::as_slice).collect();
        let (merged, report) = run(&late, None, knobs(seed as usize)).expect("parts are traces");
        let expected = reference::merge_with_notes(&late, None).expect("sound");
        assert!(expected.0 == merged, "seed {seed}");
        assert_eq!(expected.1.copies as u64, report.copies, "seed {seed}");
        kept += marked(&merged);
    }
    assert!(kept > 20, "{kept} kept");
}

#[test]
fn profiles_of_parts_equal_those_of_the_whole() {
    let mut found = 0;
    for seed in seeds(0, 60) {
        let mut rng = Rng::new(seed);
        let input = profile_trace(seed, &ProfileShape::arbitrary(&mut rng));
        let by = [
            SplitBy::Tid,
            SplitBy::Pid,
            SplitBy::Cat,
            SplitBy::Events(5),
            SplitBy::Size(2000),
            SplitBy::Time(50_000),
        ][seed as usize % 6];
        let Ok(whole) = extract(&[&input], PLAIN) else { continue };
        let (parts, _) =
            run_split(&[&input], &settings(by, None, None), knobs(seed as usize)).expect("sound");
        let mut got: Vec<Vec<u8>> = Vec::new();
        for part in &parts {
            // parts without profiles have nothing to extract
            let of_part = extract(&[part], PLAIN).unwrap_or_default();
            got.extend(of_part.into_iter().map(|profile| profile.bytes));
        }
        let mut expected: Vec<Vec<u8>> = whole.into_iter().map(|profile| profile.bytes).collect();
        got.sort();
        expected.sort();
        found += got.len();
        assert!(got == expected, "seed {seed}, {by:?}: {} and {}", got.len(), expected.len());
    }
    assert!(found > 60, "{found} profiles");
}

/// Names of processes without events are in the first part.
#[test]
fn metadata_without_a_process_counts_in_the_first_part() {
    let name = |pid: u64| {
        format!(
            r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":"process {pid}"}}}}"#
        )
    };
    let slice = |ts: u64| {
        format!(
            r#"{{"ph":"X","name":"e","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":5,"args":{{}}}}"#
        )
    };
    let events: Vec<String> = (1..9).map(name).chain((0..20).map(|n| slice(n * 10))).collect();
    let input = format!("{{\"traceEvents\":[{}]}}", events.join(","));
    let most = 1500;
    let settings = settings(SplitBy::Size(most), None, None);
    let parts = check(0, &[input.as_bytes()], &settings, PLAIN);
    assert!(parts.len() > 1 && parts.iter().all(|part| part.len() as u64 <= most), "{parts:?}");
}

/// DevTools hides some threads in browser traces, so parts of only such threads must not look like
/// one.
#[test]
fn parts_of_hidden_threads_get_no_browser_start() {
    let named = |tid: u64, name: &str| {
        format!(
            r#"{{"ph":"M","name":"thread_name","pid":1,"tid":{tid},"ts":0,"args":{{"name":"{name}"}}}}"#
        )
    };
    let slice = |pid: u64, tid: u64| {
        format!(
            r#"{{"ph":"X","name":"e","cat":"c","pid":{pid},"tid":{tid},"ts":9,"dur":5,"args":{{}}}}"#
        )
    };
    let start = r#"{"ph":"I","name":"TracingStartedInBrowser","cat":"c","pid":2,"tid":1,"ts":1,"args":{"data":{"frames":[{"frame":"F","url":"http://a.test/","processId":1}]}}}"#;
    let events = [
        named(1, "CrRendererMain"),
        named(2, "Compositor"),
        start.to_owned(),
        slice(1, 1),
        slice(1, 2),
        slice(2, 3),
    ];
    let input = format!("[{}]", events.join(","));
    let settings = settings(SplitBy::Tid, None, None);
    let parts = check(0, &[input.as_bytes()], &settings, PLAIN);
    let has_start = |part: &Vec<u8>| String::from_utf8_lossy(part).contains("InBrowser");
    let starts: Vec<bool> = parts.iter().map(has_start).collect();
    // the thread of the start event, the main thread of the page, its compositor, a thread without
    // a page
    assert_eq!(starts, [true, true, false, false]);
}
