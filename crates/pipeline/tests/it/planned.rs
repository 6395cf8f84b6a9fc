//! Plans of a merge make the same decisions as the merge.

use crate::corpus::files_below;
use crate::indexed_slices::any_trace;
use crate::run::{Folder, PLAIN, config, output_to, run_sources};
use crate::split::settings;
use std::path::{Path, PathBuf};
use tracemill_join::config::{
    Align, CheckFor, ClockRules, Config, IdPolicy, IdentityRules, PidPolicy, StatedInput,
    ViewerRules,
};
use tracemill_join::report::MergeReport;
use tracemill_pipeline::{SplitBy, SplitConfig, plan_merge, split};
use tracemill_testkit::generate::{ProfileShape, TraceShape, chrome_like, profile_trace, trace};
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::{Error, Source};

/// Generates a browser trace of about `bytes` bytes.
fn chrome(seed: u64, bytes: u64) -> Vec<u8> {
    let mut text = Vec::new();
    chrome_like(seed, bytes, &mut text).expect("memory takes it");
    text
}

fn sources(files: &[PathBuf]) -> Vec<Source> {
    files.iter().cloned().map(Source::Path).collect()
}

fn planned(files: &[PathBuf], config: &Config) -> Result<MergeReport, Error> {
    let folder = Folder::new();
    let plan = plan_merge(&sources(files), &output_to(&folder.path("out"), None), config);
    assert!(folder.names().is_empty(), "a plan writes nothing");
    plan
}

#[track_caller]
fn check(what: &str, files: &[PathBuf], rules: &Config) {
    let merged = run_sources(&sources(files), None, rules);
    let (merged, plan) = match (merged, planned(files, rules)) {
        (Ok((_, merged)), Ok(plan)) => (merged, plan),
        (Err(merged), Err(plan)) => {
            return assert_eq!(plan.to_string(), merged.to_string(), "{what}");
        }
        (merged, plan) => panic!("{what}: {:?} {:?}", merged.err(), plan.err()),
    };
    let decided = (&plan.identity.inputs, &plan.identity.args_keys_absent, &plan.clocks);
    let of_merge = (&merged.identity.inputs, &merged.identity.args_keys_absent, &merged.clocks);
    // the merge also reports its changes for a viewer
    let is_given = |text: &String| !text.contains("--for devtools");
    if rules.viewer.viewer.is_none() {
        assert_eq!(format!("{decided:#?}"), format!("{of_merge:#?}"), "{what}");
        assert_eq!(plan.run.format, merged.run.format, "{what}");
    } else {
        assert_eq!(plan.identity.inputs.len(), merged.identity.inputs.len(), "{what}");
    }
    assert_eq!(format!("{:?}", plan.run.inputs), format!("{:?}", merged.run.inputs), "{what}");
    let all: Vec<String> =
        merged.run.warnings.iter().map(|warning| format!("{warning:?}")).collect();
    let planned = plan.run.warnings.iter().map(|warning| format!("{warning:?}")).filter(is_given);
    planned.for_each(|text| assert!(all.contains(&text), "{what}: {text} is not among {all:?}"));
}

/// Splits the events of a trace into consecutive files, like rotated logs.
fn rotated(text: &[u8], count: usize) -> Vec<Vec<u8>> {
    let events = reference::events(text).expect("well-formed");
    let texts: Vec<&[u8]> = events.iter().map(|event| &text[event.span.clone()]).collect();
    let log = |part: &[&[u8]]| [b"[", &*part.join(&b",\n"[..]), b"]"].concat();
    texts.chunks(texts.len().div_ceil(count).max(1)).map(log).collect()
}

fn parts(folder: &Folder, text: &[u8], by: SplitBy) -> Vec<Vec<u8>> {
    let whole = folder.file("whole.json", text);
    let wanted = SplitConfig { dir: folder.path("parts"), ..settings(by, None, None) };
    let report = split(&[Source::Path(whole)], &wanted, &config(PLAIN)).expect("it is sound");
    report.parts.iter().take(8).map(|part| std::fs::read(&part.file).expect("written")).collect()
}

/// Generates a few processes with similar pids and names, ids, clocks and stack frames.
fn small(rng: &mut Rng) -> Vec<u8> {
    let mut events = Vec::new();
    let from = rng.below(3) * 1_000_000;
    for _ in 0..rng.range(1, 3) {
        let pid = rng.pick(&["1", "2", "7.0", "\"7\"", "\"main\"", "-4", "10000001", "1e1", "10"]);
        if rng.chance(70) {
            let name = rng.pick(&["a", "b", "\\u0061"]);
            events.push(format!(
                r#"{{"ph":"M","name":"process_name","pid":{pid},"tid":0,"args":{{"name":"{name}"}}}}"#
            ));
        }
        if rng.chance(20) {
            events.push(format!(
                r#"{{"ph":"M","name":"process_labels","pid":{pid},"args":{{"labels":"GPU {}"}}}}"#,
                rng.below(2)
            ));
        }
        for _ in 0..rng.below(90) {
            let (ts, tid) = (from + rng.below(900_000), rng.below(3));
            let id = match rng.below(4) {
                0 => rng.below(5_000).to_string(),
                1 => format!("\"0x{:x}\"", rng.below(1 << 20)),
                2 => format!("\"op{}\"", rng.below(9)),
                _ => "\"x#7\"".to_owned(),
            };
            let tid = if rng.chance(90) { format!(",\"tid\":{tid}") } else { String::new() };
            let ph = rng.pick(&["X", "b", "s", "i", "B", "v", "P"]);
            let bind = if rng.chance(5) { r#","bind_id":"0x77""# } else { "" };
            let (sf, time) = (rng.below(3), if rng.chance(95) { "ts" } else { "tss" });
            events.push(format!(
                r#"{{"ph":"{ph}","cat":"c","name":"n","pid":{pid}{tid},"{time}":{ts},"id":{id},"sf":{sf}{bind}}}"#
            ));
        }
    }
    if rng.chance(10) {
        events
            .push(r#"{"ph":"c","name":"clock_sync","pid":1,"ts":5,"args":{"sync_id":"s"}}"#.into());
    }
    if rng.chance(10) {
        events.push(r#"{"ph":"I","name":"TracingStartedInBrowser","pid":1,"tid":1,"ts":9}"#.into());
    }
    let events = events.join(",\n");
    if rng.chance(30) {
        return format!("[{events}]").into_bytes();
    }
    let base = match rng.below(3) {
        0 => format!(r#""baseTimeNanoseconds":{},"#, rng.below(3) * 1_000_000_000),
        1 => format!(r#""metadata":{{"clock-domain":"{}"}},"#, rng.pick(&["MONO", "REAL"])),
        _ => String::new(),
    };
    let frame = |id: u64, rng: &mut Rng| format!(r#""{id}":{{"name":"f{}"}}"#, rng.below(2));
    let frames: Vec<String> = (0..rng.below(3)).map(|id| frame(id, rng)).collect();
    let behind = match frames.is_empty() {
        true => String::new(),
        false => format!(r#", "stackFrames" : {{{}}}, "samples":[]"#, frames.join(",")),
    };
    format!("{{{base}\"traceEvents\":[{events}]{behind}}}").into_bytes()
}

fn inputs(folder: &Folder, seed: u64, rng: &mut Rng) -> Vec<Vec<u8>> {
    let shape = TraceShape { documents: 1, odd: 0, big: false, ..TraceShape::arbitrary(rng) };
    let mut all = match seed % 6 {
        0 => (0..rng.range(2, 6)).map(|_| small(rng)).collect(),
        1 => rotated(&chrome(seed, 60000), 1 + rng.index(4)),
        2 => {
            let by = [SplitBy::Pid, SplitBy::Tid, SplitBy::Time(50_000), SplitBy::Events(60)];
            parts(folder, &trace(seed, &TraceShape { events: 200, ..shape }), by[rng.index(4)])
        }
        3 => {
            let profile = ProfileShape { samples: 20, others: 60, ..ProfileShape::arbitrary(rng) };
            let text = profile_trace(seed, &profile);
            vec![text.clone(), profile_trace(seed + 1, &profile), text]
        }
        4 => vec![any_trace(seed, rng), any_trace(seed / 2, rng)],
        _ => vec![trace(seed, &shape), trace(seed + 1, &shape), small(rng)],
    };
    if rng.chance(30) {
        all.push(all[0].clone());
    }
    all
}

fn any_rules(files: &[PathBuf], rng: &mut Rng) -> Config {
    let one = |rng: &mut Rng| files[rng.index(files.len())].clone();
    let pids = [PidPolicy::Auto, PidPolicy::Keep, PidPolicy::Offset, PidPolicy::One];
    let pid = if rng.chance(40) { PidPolicy::Auto } else { pids[rng.index(4)] };
    let ids = if rng.chance(80) { IdPolicy::Auto } else { IdPolicy::Keep };
    let mut identity = IdentityRules { pid, ids, ..IdentityRules::default() };
    if rng.chance(30) {
        identity.labels = vec![(one(rng), "a label".to_owned())];
    }
    identity.label_from_name = rng.chance(10).then(|| "in([0-9])".parse().expect("sound"));
    identity.provenance = rng.chance(20);
    identity.dedup_metadata = rng.chance(10);
    if rng.chance(10) {
        identity.args_keys = vec!["value".into()];
    }
    if rng.chance(10) {
        let pids = vec![("1".to_owned(), "77".to_owned())];
        identity.stated = vec![StatedInput { path: one(rng), pids, recording: Some(4) }];
    }
    let align = match rng.below(9) {
        0 | 1 => Align::None,
        2 => Align::Start,
        3 => Align::BaseTime,
        4 => Align::ClockSync,
        5 if rng.chance(40) => Align::Marker("n".to_owned()),
        _ => Align::Auto,
    };
    let mut clocks = ClockRules { align, ..ClockRules::default() };
    if rng.chance(15) {
        clocks.offsets = vec![(one(rng), rng.below(9_000) as i64 - 4_500)];
    }
    if rng.chance(10) {
        clocks.scales = vec![(one(rng), "1.5".parse().expect("sound"))];
    }
    let viewer = rng.chance(5).then_some(CheckFor::Perfetto);
    let viewer = ViewerRules { viewer, ..ViewerRules::default() };
    Config { identity, clocks, viewer, ..config(PLAIN) }
}

#[test]
fn plans_and_merges_make_the_same_decisions() {
    for seed in seeds(0, 60) {
        let rng = &mut Rng::new(seed);
        let folder = Folder::new();
        let texts = inputs(&folder, seed, rng);
        let write =
            |(number, text): (usize, &Vec<u8>)| folder.file(&format!("in{number}.json"), text);
        let files: Vec<PathBuf> = texts.iter().enumerate().map(write).collect();
        for number in 0..4 {
            let rules = any_rules(&files, rng);
            let what = format!("seed {seed}, {number}: {:?} {:?}", rules.identity, rules.clocks);
            check(&what, &files, &rules);
        }
    }
}

#[test]
fn plans_count_the_losses_of_the_merge() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut files = Vec::new();
    ["quirks", "chromium"].iter().for_each(|folder| files_below(&root.join(folder), &mut files));
    // some are damaged, not JSON, or compressed; the keys of a compressed one affect clocks
    files.retain(|file| file.extension().is_some_and(|kind| kind == "json" || kind == "gz"));
    assert!(files.iter().any(|file| file.extension().is_some_and(|kind| kind == "gz")));
    let identity = IdentityRules { pid: PidPolicy::Auto, ..IdentityRules::default() };
    let rules = Config { identity, ..config(PLAIN) };
    let mut lossy = 0;
    for file in files {
        let twice = [file.clone(), file.clone()];
        check(&file.display().to_string(), &twice, &rules);
        if let Ok(plan) = planned(&twice, &rules) {
            lossy += u64::from(plan.run.inputs.iter().any(|input| input.lost() > 0));
        }
    }
    assert!(lossy > 0, "some inputs lose events");
}
