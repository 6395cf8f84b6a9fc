//! A merge that is planned decides what the merge decides, and says the same whether traces are read or their indexes.

use crate::fuzzed::rewritten;
use crate::index::{made, of_files};
use crate::indexed_slices::any_trace;
use crate::run::{Folder, PLAIN, config, output_to, run_sources, strict};
use crate::split::settings;
use std::path::{Path, PathBuf};
use tracemill_index::{Index, id};
use tracemill_pipeline::{
    Align, CheckFor, ClockRules, Config, Error, ErrorClass, ErrorKind, IdPolicy, IdentityRules,
    IndexUse, MergePlan, PidPolicy, Source, SplitBy, SplitConfig, StatedInput, ViewerRules,
    plan_merge, split,
};
use tracemill_testkit::generate::{ProfileShape, TraceShape, chrome_like, profile_trace, trace};
use tracemill_testkit::reference;
use tracemill_testkit::{Rng, seeds};

/// The trace of a browser of about so many bytes.
fn chrome(seed: u64, bytes: u64) -> Vec<u8> {
    let mut text = Vec::new();
    chrome_like(seed, bytes, &mut text).expect("memory takes it");
    text
}

fn sources(files: &[PathBuf]) -> Vec<Source> {
    files.iter().cloned().map(Source::Path).collect()
}

/// Indexes are asked.
fn asks() -> Config {
    Config { index: IndexUse::Auto, ..config(PLAIN) }
}

fn planned(files: &[PathBuf], config: &Config) -> Result<MergePlan, Error> {
    let folder = Folder::new();
    let plan = plan_merge(&sources(files), &output_to(&folder.path("out"), None), config);
    assert!(folder.names().is_empty(), "a plan writes nothing");
    plan
}

/// What is decided, and all that is told of it but for what it cost.
fn decisions(plan: &MergePlan) -> String {
    let mut merge = plan.merge.clone();
    merge.run.spooled_bytes = 0;
    (merge.run.threads, merge.run.tier) = (0, tracemill_pipeline::Tier::Scalar);
    format!("{merge:#?}")
}

/// Asserts that a plan, with indexes and without, is what the merge did; how many inputs were not read, of how many.
#[track_caller]
fn check(what: &str, files: &[PathBuf], rules: &Config, number: usize) -> (u64, usize) {
    let never = Config { index: IndexUse::Never, ..rules.clone() };
    let (identity, clocks) = (rules.identity.clone(), rules.clocks.clone());
    let (viewer, index) = (rules.viewer, IndexUse::Auto);
    let auto = Config { identity, clocks, viewer, index, ..config(of_files(number)) };
    let merged = run_sources(&sources(files), None, rules);
    let (read, asked) = (planned(files, &never), planned(files, &auto));
    let (merged, read, asked) = match (merged, read, asked) {
        (Ok((_, merged)), Ok(read), Ok(asked)) => (merged, read, asked),
        (merged, Err(read), Err(asked)) => {
            let merged = merged.expect_err(what).to_string();
            assert_eq!((read.to_string(), asked.to_string()), (merged.clone(), merged), "{what}");
            return (0, 0);
        }
        (merged, read, asked) => {
            panic!("{what}: {:?} {:?} {:?}", merged.err(), read.err(), asked.err())
        }
    };
    assert_eq!(decisions(&asked), decisions(&read), "{what}");
    let plan = &read.merge;
    let own = (&plan.identity.inputs, &plan.identity.args_keys_absent, &plan.clocks);
    let of_merge = (&merged.identity.inputs, &merged.identity.args_keys_absent, &merged.clocks);
    // of what a merge makes for a viewer it tells too
    let is_given = |text: &String| !text.contains("--for devtools");
    if rules.viewer.viewer.is_none() {
        assert_eq!(format!("{own:#?}"), format!("{of_merge:#?}"), "{what}");
        assert_eq!(plan.run.format, merged.run.format, "{what}");
    } else {
        assert_eq!(plan.identity.inputs.len(), merged.identity.inputs.len(), "{what}");
    }
    assert_eq!(format!("{:?}", plan.run.inputs), format!("{:?}", merged.run.inputs), "{what}");
    let all: Vec<String> = merged.run.warnings.iter().map(|own| format!("{own:?}")).collect();
    let told = plan.run.warnings.iter().map(|own| format!("{own:?}")).filter(is_given);
    told.for_each(|own| assert!(all.contains(&own), "{what}: {own} is not among {all:?}"));
    (asked.indexed, files.len())
}

/// Events of a trace in several files, each behind the one before, as logs are rotated.
fn rotated(text: &[u8], count: usize) -> Vec<Vec<u8>> {
    let events = reference::events(text).expect("well-formed");
    let texts: Vec<&[u8]> = events.iter().map(|event| &text[event.span.clone()]).collect();
    let log = |part: &[&[u8]]| [b"[", &*part.join(&b",\n"[..]), b"]"].concat();
    texts.chunks(texts.len().div_ceil(count).max(1)).map(log).collect()
}

/// Parts of a trace, as `split` writes them.
fn parts(folder: &Folder, text: &[u8], by: SplitBy) -> Vec<Vec<u8>> {
    let whole = folder.file("whole.json", text);
    let wanted = SplitConfig { dir: folder.path("parts"), ..settings(by, None, None) };
    let report = split(&[Source::Path(whole)], &wanted, &config(PLAIN)).expect("it is sound");
    report.parts.iter().take(8).map(|part| std::fs::read(&part.file).expect("written")).collect()
}

/// Processes of few pids and names, at some times, with ids in ranges and of texts, clocks, and frames beside the events.
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

/// Inputs that have something to do with each other, or not.
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

/// Rules about these files.
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
fn plans_by_indexes_are_those_without_and_what_merges_do() {
    let (mut indexed, mut all) = (0, 0);
    for seed in seeds(0, 60) {
        let rng = &mut Rng::new(seed);
        let folder = Folder::new();
        let texts = inputs(&folder, seed, rng);
        let write =
            |(number, text): (usize, &Vec<u8>)| folder.file(&format!("in{number}.json"), text);
        let files: Vec<PathBuf> = texts.iter().enumerate().map(write).collect();
        for (number, file) in files.iter().enumerate() {
            if rng.chance(85) {
                made(file, of_files(seed as usize + number));
            }
        }
        for number in 0..4 {
            let rules = any_rules(&files, rng);
            let what = format!("seed {seed}, {number}: {:?} {:?}", rules.identity, rules.clocks);
            let (own, of) = check(&what, &files, &rules, seed as usize * 4 + number);
            (indexed, all) = (indexed + own, all + of);
        }
    }
    assert!(indexed * 2 > all as u64, "{indexed} of {all} inputs were planned by their indexes");
}

/// Two traces of one process each, with indexes.
fn two(folder: &Folder) -> Vec<PathBuf> {
    let texts = [chrome(1, 45000), chrome(1, 45000)];
    let write = |(number, text): (usize, &Vec<u8>)| folder.file(&format!("{number}.json"), text);
    let files: Vec<PathBuf> = texts.iter().enumerate().map(write).collect();
    files.iter().for_each(|file| _ = made(file, PLAIN));
    files
}

fn beside(file: &Path) -> PathBuf {
    tracemill_pipeline::index_path(file)
}

/// The plan by what stands beside the first file, and what was said of that.
#[track_caller]
fn refused(files: &[PathBuf], index: &[u8]) -> String {
    let without = Config { index: IndexUse::Never, ..config(PLAIN) };
    let expected = planned(files, &without).expect("sound");
    std::fs::write(beside(&files[0]), index).expect("written");
    let mut plan = planned(files, &asks()).expect("it is read");
    assert_eq!(plan.indexed, 1);
    let warnings: Vec<String> =
        plan.merge.run.warnings.drain(..).map(|own| own.to_string()).collect();
    assert_eq!(decisions(&plan), decisions(&expected));
    warnings.join("; ")
}

#[test]
fn what_is_not_right_is_read() {
    let folder = Folder::new();
    let files = two(&folder);
    let good = made(&files[0], PLAIN);
    assert_eq!(planned(&files, &asks()).expect("sound").indexed, 2);
    let cut = refused(&files, &good[..good.len() - 9]);
    assert!(cut.contains("0.json.tmi"), "{cut}");
    let mut flipped = good.clone();
    let index = Index::open(&good, &id::ALL).expect("sound");
    let page = &index.section(id::CENSUS).expect("it has one").pages[0];
    flipped[page.offset as usize + 5] ^= 4;
    assert!(refused(&files, &flipped).contains("0.json.tmi"));
    let census = index.sections().iter().position(|own| own.id == id::CENSUS).expect("there");
    let keys = index.sections().iter().position(|own| own.id == id::KEYS).expect("there");
    // another kind of row, lengths beyond the texts, ranges that end before they begin, keys where there are none
    for (section, column, value) in
        [(census, 0, 9), (census, 0, 2), (census, 4, 1 << 40), (census, 3, u64::MAX), (keys, 1, 3)]
    {
        let mut at = None;
        let forged = rewritten(&good, |number, _, numbers| {
            if let (true, Some(numbers)) = (number == section, numbers) {
                let own = at.map_or(0, |at: usize| at + 1);
                at = Some(own);
                if own == column {
                    numbers.iter_mut().skip(1).for_each(|number| *number = value);
                    if section == keys {
                        numbers.fill(value);
                    }
                }
            }
        });
        if forged != good {
            let said = refused(&files, &forged);
            assert!(said.contains("0.json.tmi"), "{section} {column} {value}: {said}");
        }
    }
    std::fs::write(&files[0], chrome(2, 45000)).expect("written");
    assert!(refused(&files, &good).contains("changed"));
}

#[test]
fn an_index_that_is_named_is_that_of_the_one_input() {
    let folder = Folder::new();
    let files = two(&folder);
    let named = |index: &Path| Config {
        index: IndexUse::File(index.to_owned()),
        identity: IdentityRules { provenance: true, ..IdentityRules::default() },
        ..config(PLAIN)
    };
    let both = planned(&files, &named(&beside(&files[0]))).expect_err("of two");
    assert_eq!(both.class(), ErrorClass::Usage);
    let one = planned(&files[..1], &named(&beside(&files[0]))).expect("of one");
    assert_eq!((one.indexed, one.merge.identity.inputs.len()), (1, 1));
    std::fs::write(folder.path("other"), chrome(2, 7500)).expect("written");
    let other = planned(&files[..1], &named(&folder.path("other"))).expect_err("no index");
    assert!(matches!(other.kind(), ErrorKind::NotATrace { .. }), "{other}");
    let strict = Config { index: IndexUse::Auto, ..strict(PLAIN) };
    assert_eq!(planned(&files, &strict).expect("sound").indexed, 0);
}

#[test]
fn traces_of_too_many_threads_and_damaged_ones_are_read() {
    let folder = Folder::new();
    let event =
        |tid: u64| format!(r#"{{"ph":"X","pid":{},"tid":{tid},"ts":{tid},"dur":1}}"#, tid % 9);
    let many: Vec<String> = (0..17_000).map(event).collect();
    let many = folder.file("many.json", format!("[{}]", many.join(",\n")).as_bytes());
    let damaged = folder
        .file("damaged.json", br#"[{"ph":"X","pid":1,"ts":1},{"ph":],{"ph":"X","pid":1,"ts":2}]"#);
    let files = [many, damaged];
    for file in &files {
        let bytes = made(file, PLAIN);
        let index = Index::open(&bytes, &id::ALL).expect("sound");
        assert!(index.section(id::CENSUS).is_none());
    }
    assert_eq!(check("too many", &files, &config(PLAIN), 3).0, 0);
}
