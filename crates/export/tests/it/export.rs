//! Reads exported call trees with independent readers, and compares them with a count of open
//! events.

use crate::common::random::{Stacks, config, generate, read};
use crate::common::tables::parts;
use crate::protobuf::{Field, fields, numbers};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use tracemill_analysis::{Part, Per, Trace};
use tracemill_export::{ExportForm, Exported};
use tracemill_testkit::{Rng, seeds};

/// Nanoseconds of each stack, outermost frame first.
type Sums = BTreeMap<Vec<String>, u64>;

fn export(trace: &Trace, parts: &[Part], form: ExportForm, depth: usize) -> (Vec<u8>, Exported) {
    let mut out = Vec::new();
    let trees = tracemill_export::export(trace, parts, form, depth).expect("room");
    trees.write(&mut out).expect("memory takes it");
    (out, trees.exported())
}

/// Reads folded stacks; with `titled`, the first frame names the thread.
fn folded(bytes: &[u8], titled: bool) -> Sums {
    let mut sums = Sums::new();
    for line in std::str::from_utf8(bytes).expect("UTF-8").lines() {
        let (stack, nanos) = line.rsplit_once(' ').expect("a number at the end");
        let frames = stack.split(';').skip(usize::from(titled)).map(str::to_owned).collect();
        *sums.entry(frames).or_default() += nanos.parse::<u64>().expect("a number");
    }
    sums
}

/// Reads the profiles of speedscope's JSON.
fn speedscope(bytes: &[u8]) -> Sums {
    let file: Value = serde_json::from_slice(bytes).expect("JSON");
    let name = |frame: u64| file["shared"]["frames"][frame as usize]["name"].as_str();
    let mut sums = Sums::new();
    for profile in file["profiles"].as_array().expect("profiles") {
        assert_eq!(
            (&profile["type"], &profile["unit"]),
            (&"evented".into(), &"nanoseconds".into())
        );
        let (mut open, mut before): (Vec<u64>, u64) = (Vec::new(), 0);
        for event in profile["events"].as_array().expect("events") {
            let number = |key: &str| event[key].as_u64().expect("a number");
            let (at, frame) = (number("at"), number("frame"));
            assert!(at >= before, "events are in order of time");
            if at > before {
                let stack = open.iter().map(|&id| name(id).expect("a frame").to_owned());
                *sums.entry(stack.collect()).or_default() += at - before;
            }
            before = at;
            match event["type"].as_str() {
                Some("O") => open.push(frame),
                Some("C") => assert_eq!(open.pop(), Some(frame), "what closes is the innermost"),
                other => panic!("no kind of event: {other:?}"),
            }
        }
        assert!(open.is_empty() && profile["endValue"].as_u64() == Some(before));
    }
    sums
}

/// Reads a `profile.proto`: nanoseconds and events of each stack.
fn pprof(bytes: &[u8]) -> (Sums, BTreeMap<Vec<String>, u64>) {
    let all = fields(bytes);
    let of = |wanted: u64| {
        all.iter().filter(move |(number, _)| *number == wanted).map(|(_, field)| match field {
            Field::Bytes(bytes) => *bytes,
            _ => panic!("a message is bytes"),
        })
    };
    let one = |message: &[u8], wanted: u64| {
        let found = fields(message).into_iter().find(|(number, _)| *number == wanted);
        found.map(|(_, field)| numbers(&field)).unwrap_or_default()
    };
    let text: Vec<&str> = of(6).map(|text| std::str::from_utf8(text).expect("UTF-8")).collect();
    assert_eq!(text[0], "");
    let kinds: Vec<(&str, &str)> = of(1)
        .map(|kind| (text[one(kind, 1)[0] as usize], text[one(kind, 2)[0] as usize]))
        .collect();
    assert_eq!(kinds, [("events", "count"), ("time", "nanoseconds")]);
    let functions: BTreeMap<u64, &str> =
        of(5).map(|function| (one(function, 1)[0], text[one(function, 2)[0] as usize])).collect();
    let locations: BTreeMap<u64, &str> = of(4)
        .map(|location| {
            let lines = fields(location).into_iter().find(|(number, _)| *number == 4);
            let Some((_, Field::Bytes(line))) = lines else { panic!("a location has a line") };
            (one(location, 1)[0], functions[&one(line, 1)[0]])
        })
        .collect();
    let (mut sums, mut counts) = (Sums::new(), BTreeMap::new());
    for sample in of(2) {
        let stack: Vec<String> =
            one(sample, 1).iter().rev().map(|at| locations[at].to_owned()).collect();
        let values = one(sample, 2);
        *counts.entry(stack.clone()).or_default() += values[0];
        if values[1] > 0 {
            *sums.entry(stack).or_default() += values[1];
        }
    }
    (sums, counts)
}

/// Returns the nanoseconds of each stack of all threads, cut at a depth.
fn expected(all: &[Stacks], depth: usize) -> Sums {
    let mut sums = Sums::new();
    for open in all.iter().flatten().filter(|open| !open.is_empty()) {
        let stack = open.iter().take(depth).map(|name| (*name).to_owned()).collect();
        *sums.entry(stack).or_default() += 1000;
    }
    sums
}

#[test]
fn every_format_matches_open_stacks() {
    for seed in seeds(3000, 200) {
        let mut rng = Rng::new(seed);
        let (text, all) = generate(&mut rng);
        let trace = read(&text, &config());
        let depth = if seed % 2 == 0 { usize::MAX } else { 1 + rng.index(5) };
        for per in [Per::Thread, Per::All] {
            let parts = parts(&trace, per);
            let expected = expected(&all, depth);
            let exports = ExportForm::ALL.map(|form| export(&trace, &parts, form, depth));
            let [(text, exported), (json, _), (proto, _)] = &exports;
            assert_eq!(folded(text, parts.len() > 1), expected, "seed {seed}");
            assert_eq!(speedscope(json), expected, "seed {seed}");
            let (sums, counts) = pprof(proto);
            assert_eq!(sums, expected, "seed {seed}");
            // The sums equal those of the tree.
            let rows = || parts.iter().flat_map(|part| &part.table.rows);
            let self_time: f64 = rows().map(|row| row.own).sum();
            assert!((self_time * 1e6 - exported.nanos as f64).abs() < 1.0, "seed {seed}");
            assert_eq!(exported.nanos, expected.values().sum::<u64>() as i64, "seed {seed}");
            if depth == usize::MAX {
                let events: u64 = rows().map(|row| row.count).sum();
                assert_eq!(counts.values().sum::<u64>(), events, "seed {seed}");
            }
            assert_eq!(exported.too_deep > 0, rows().any(|row| row.depth as usize >= depth));
            for (form, (bytes, _)) in ExportForm::ALL.into_iter().zip(&exports) {
                assert_eq!(*bytes, export(&trace, &parts, form, depth).0, "seed {seed}");
            }
        }
    }
}

#[test]
fn inferno_draws_folded_stacks() {
    let (text, all) = generate(&mut Rng::new(7));
    let trace = read(&text, &config());
    let (stacks, _) = export(&trace, &parts(&trace, Per::All), ExportForm::Folded, usize::MAX);
    let stacks = String::from_utf8(stacks).expect("UTF-8");
    let mut options = inferno::flamegraph::Options::default();
    options.min_width = 0.0;
    let mut picture = Vec::new();
    inferno::flamegraph::from_lines(&mut options, stacks.lines(), &mut picture).expect("stacks");
    let picture = String::from_utf8(picture).expect("UTF-8");
    let mut totals = Sums::new();
    for (stack, self_time) in expected(&all, usize::MAX) {
        (1..=stack.len())
            .for_each(|at| *totals.entry(stack[..at].to_vec()).or_default() += self_time);
    }
    let grouped = |number: u64| match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    };
    let mut wanted: Vec<String> = totals
        .iter()
        .map(|(stack, total)| format!("{} ({} samples", stack[stack.len() - 1], grouped(*total)))
        .collect();
    wanted.push(format!("all ({} samples", grouped(expected(&all, 99).values().sum())));
    let titles = picture.split("<title>").skip(1).filter_map(|rest| rest.split_once("</title>"));
    let mut drawn: Vec<String> = titles
        .filter_map(|(title, _)| title.rsplit_once(", ").map(|(title, _)| title.to_owned()))
        .collect();
    wanted.sort();
    drawn.sort();
    assert_eq!(drawn, wanted);
}

#[test]
fn texts_survive_export() {
    let name = r#"a;b \"c\"\n\u0001é"#;
    let text = format!(
        r#"[{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":1,"dur":2}},
        {{"ph":"X","name":"","cat":"c","pid":1,"tid":1,"ts":9,"dur":0.0015}}]"#
    );
    let trace = read(&text, &config());
    let parts = parts(&trace, Per::All);
    let (stacks, _) = export(&trace, &parts, ExportForm::Folded, 9);
    let stacks = String::from_utf8(stacks).expect("UTF-8");
    assert!(stacks.starts_with("a:b \"c\"  é 2000\n"), "{stacks}");
    let (json, _) = export(&trace, &parts, ExportForm::Speedscope, 9);
    assert!(speedscope(&json).contains_key(&vec!["a;b \"c\"\n\u{1}é".to_owned()]));
    let (proto, _) = export(&trace, &parts, ExportForm::Pprof, 9);
    assert!(pprof(&proto).0.contains_key(&vec!["a;b \"c\"\n\u{1}é".to_owned()]));
}

/// In DevTools, a call that ends after its caller gives it a negative self time. pprof can
/// represent it; folded stacks cannot.
#[test]
fn negative_times_are_kept_or_counted() {
    let text = r#"[{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1,"dur":5},{"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":9,"dur":1}]"#;
    let trace = read(text, &config());
    let mut parts = parts(&trace, Per::All);
    let mut rows: Vec<_> = parts[0].table.rows.iter().map(Cow::into_owned).collect();
    rows[0].own = -2.0;
    parts[0].table.rows = rows.into();
    let (stacks, exported) = export(&trace, &parts, ExportForm::Folded, 9);
    assert_eq!((&*stacks, exported.untold, exported.nanos), (&b"b 1000\n"[..], 1, 1000));
    let (proto, exported) = export(&trace, &parts, ExportForm::Pprof, 9);
    assert_eq!((exported.untold, exported.nanos), (0, -1_999_000));
    assert_eq!(pprof(&proto).0[&vec!["a".to_owned()]] as i64, -2_000_000);
}
