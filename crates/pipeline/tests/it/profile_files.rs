//! Merges `.cpuprofile` inputs into the events that V8 would have streamed. Extracting them again
//! gives the same files.

use crate::extract::{check_rules, extract, extract_sources, kinds};
use crate::profiles::{has_profiles, real_traces};
use crate::run::{Folder, Knobs, PLAIN, config, knobs, read, run_files, run_sources};
use crate::trace::{Output, assert_same, contains, text_of};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tracemill_join::config::{CheckFor, Config, IdentityRules, PidPolicy, ViewerRules};
use tracemill_testkit::generate::{Arrangement, ProfileShape, profile_trace};
use tracemill_testkit::reference::{self, CpuProfile};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;
use tracemill_trace::run::flaws::FlawKind;

/// Maximum number of samples in a chunk; DevTools fails on longer ones.
const MOST: usize = 10_000;

/// Merges files with several knobs and asserts equal results without losses. Returns the output.
#[track_caller]
fn merge_files(files: &[&Path], number: usize) -> Vec<u8> {
    let (output, report) = run_files(files, None, PLAIN).expect("profiles");
    assert_eq!(report.run.lost(), 0, "{files:?}: {report:#?}");
    for corner in (0..3).map(|corner| knobs(number * 3 + corner)) {
        // reading large files byte by byte is slow
        let least = if output.len() > 50_000 { 4096 } else { 1 };
        let corner = Knobs { read_size: corner.read_size.map(|size| size.max(least)), ..corner };
        let (again, _) = run_files(files, None, corner).expect("profiles");
        assert_same(&format!("{files:?} {corner:?}"), &output, &again);
    }
    check_events(&output);
    output
}

/// Asserts that a trace of converted profiles is sorted and has no long chunks.
#[track_caller]
pub(crate) fn check_events(trace: &[u8]) {
    let merged = reference::merge(&[trace], None).expect("well-formed");
    assert_same("it is sorted", &merged, trace);
    let events = reference::events(trace).expect("well-formed");
    let is = |value: &Option<String>, name: &str| value.as_deref() == Some(name);
    let mut known: HashSet<(Option<String>, Option<String>, u64)> = HashSet::new();
    let mut begun = BTreeSet::new();
    for event in &events {
        let key = (event.pid.clone(), event.id.clone());
        let args: Value =
            serde_json::from_str(event.args.as_deref().unwrap_or("{}")).expect("JSON");
        if is(&event.name, "\"Profile\"") {
            assert!(begun.insert(key.clone()), "two profiles of one key");
        }
        if !is(&event.name, "\"ProfileChunk\"") {
            continue;
        }
        assert!(begun.contains(&key), "a chunk comes before its Profile");
        let profile = &args["data"]["cpuProfile"];
        let list = |key: &str| profile[key].as_array().cloned().unwrap_or_default();
        let (nodes, samples) = (list("nodes"), list("samples"));
        assert!(nodes.len() <= MOST && samples.len() <= MOST, "{} {}", nodes.len(), samples.len());
        let mut is_known = |id: &Value, new: bool| {
            let key = (key.0.clone(), key.1.clone(), id.as_u64().expect("an id"));
            if new { known.insert(key) } else { known.contains(&key) }
        };
        for node in &nodes {
            assert!(node.get("parent").is_none_or(|parent| is_known(parent, false)), "{node}");
            assert!(is_known(&node["id"], true), "{node} comes twice");
        }
        assert!(samples.iter().all(|id| is_known(id, false)), "a sample comes before its node");
    }
    for process in begun.iter().map(|(pid, _)| pid).collect::<BTreeSet<_>>() {
        let of =
            |name: &str| events.iter().filter(|e| e.pid == *process && is(&e.name, name)).count();
        assert!(of("\"process_name\"") > 0 && of("\"thread_name\"") > 0);
        assert_eq!(of("\"CpuProfiler::StartProfiling\""), of("\"CpuProfiler::StopProfiling\""));
    }
}

#[test]
fn extracted_profiles_survive_merge_and_extract() {
    for seed in seeds(500, 12) {
        let mut rng = Rng::new(seed);
        let mut shape = ProfileShape::arbitrary(&mut rng);
        if shape.arrangement == Arrangement::Lost {
            // chunks cannot represent nodes before their parents
            shape.arrangement = Arrangement::Shuffled;
        }
        let trace = profile_trace(seed, &shape);
        let extracted = extract(&[&trace], PLAIN).expect("sound");
        let folder = Folder::new();
        let files: Vec<PathBuf> = (0..)
            .zip(&extracted)
            .map(|(i, profile)| {
                folder.file(&format!("CPU.20260101.000000.{i}.0.001.cpuprofile"), &profile.bytes)
            })
            .collect();
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        for (file, profile) in files.iter().zip(&extracted) {
            let merged = merge_files(&[file], seed as usize);
            let [again] = &extract(&[&merged], PLAIN).expect("profiles")[..] else {
                panic!("seed {seed}: one profile went in")
            };
            assert_same(&format!("seed {seed}"), &profile.bytes, &again.bytes);
            assert!(again.info.flaws.is_empty(), "seed {seed}: {:?}", again.info.flaws);
        }
        let merged = merge_files(&files, seed as usize + 1);
        let again = extract(&[&merged], knobs(seed as usize)).expect("profiles");
        let bytes = |all: &[crate::extract::Extracted]| {
            let mut bytes: Vec<Vec<u8>> = all.iter().map(|profile| profile.bytes.clone()).collect();
            bytes.sort();
            bytes
        };
        assert!(bytes(&extracted) == bytes(&again), "seed {seed}: all at once");
    }
}

#[test]
fn profiles_of_real_traces_survive_merge_and_extract() {
    let mut count = 0;
    for (number, file) in real_traces().iter().enumerate() {
        let text = text_of(file);
        if !has_profiles(&text) {
            continue;
        }
        // some have known problems, but extracted ones are valid
        for profile in extract(&[&text], PLAIN).unwrap_or_default() {
            let folder = Folder::new();
            let merged = merge_files(&[&folder.file("p.cpuprofile", &profile.bytes)], number);
            let again = extract(&[&merged], PLAIN).expect("a profile");
            assert_same(&file.display().to_string(), &profile.bytes, &again[0].bytes);
            count += 1;
        }
    }
    assert!(count >= 4, "{count}");
}

/// Returns `.cpuprofile` files in the new format from real producers, some of them compressed.
fn real_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    let mut folders = vec![root.join("testdata/node"), root.join("../shared/corpus")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.trim_end_matches(".gz").ends_with(".cpuprofile") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() >= 2);
    files
}

fn list<'t>(text: &'t [u8], key: &str) -> Option<&'t [u8]> {
    let open = format!("\"{key}\":[").into_bytes();
    let start = text.windows(open.len()).position(|window| window == open)? + open.len();
    let end = text[start..].iter().position(|&b| b == b']')?;
    Some(&text[start..start + end])
}

#[test]
fn profiles_of_real_producers_survive_merge_and_extract() {
    for (number, file) in real_files().iter().enumerate() {
        let name = file.display();
        let text = text_of(file);
        if !contains(&text, b"\"nodes\"") {
            continue;
        }
        let merged = merge_files(&[file], number);
        let [again] = &extract(&[&merged], knobs(number)).expect("profiles")[..] else {
            panic!("{name}: one profile")
        };
        let expected = CpuProfile::read(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let got = CpuProfile::read(&again.bytes).expect("checked by the helper");
        assert_eq!(got, expected, "{name}");
        assert_eq!(kinds(&again.info.flaws), [], "{name}");
        let compact = !text.trim_ascii().contains(&b'\n');
        for key in ["samples", "timeDeltas"] {
            let (ours, theirs) = (list(&again.bytes, key), list(&text, key));
            assert!(!compact || ours == theirs, "{name}: {key}");
        }
        let direct = extract_sources(&[Source::Path(file.clone())], &config(PLAIN));
        let [direct] = &direct.expect("profiles")[..] else { panic!("{name}: one profile") };
        assert_same(&format!("{name}"), &direct.bytes, &again.bytes);
    }
}

#[test]
fn files_of_node_keep_every_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/node");
    for name in ["CPU.20261121.044053.5418.0.001", "CPU.20261121.044054.5418.1.002"] {
        let file = folder.join(format!("{name}.cpuprofile"));
        let merged = merge_files(&[&file], 7);
        let [again] = &extract(&[&merged], PLAIN).expect("a profile")[..] else {
            panic!("{name}: one profile")
        };
        assert_same(name, read(&file).trim_ascii_end(), again.bytes.trim_ascii_end());
        assert_eq!((again.info.pid.as_str(), again.info.tid.as_str()), ("5418", &name[25..26]));
    }
}

#[test]
fn the_fractional_start_of_bun_survives() {
    let folder = Folder::new();
    let text = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":1}],"startTime":1795226383502128.8,"endTime":1795226383502140,"samples":[1],"timeDeltas":[11]}"#;
    let file = folder.file("CPU.20261121.015945.2803.0.001.cpuprofile", text.as_bytes());
    let merged = merge_files(&[&file], 3);
    assert!(
        contains(&merged, b"\"ts\":1795226383502128.8}"),
        "{}",
        String::from_utf8_lossy(&merged)
    );
    let again = extract(&[&merged], PLAIN).expect("a profile");
    assert_same("bun", text.as_bytes(), again[0].bytes.trim_ascii_end());
}

/// Generates a profile in the new format and in the old one, which has absolute times and counts
/// lines from 1.
fn both_forms(rng: &mut Rng) -> (String, String) {
    let count = 1 + rng.index(30);
    let mut open = vec![0_usize];
    let (mut new, mut old) = (Vec::new(), String::new());
    for id in 1..=count {
        let name = ["f", "größe", "a\\\"b", "(idle)", ""][rng.index(5)];
        let (line, column) = (rng.below(99) as i64 - 1, rng.below(99) as i64 - 1);
        while open.len() > 1 && rng.chance(40) && id > 1 {
            open.pop();
            old.push_str("]}");
        }
        let parent =
            if id == 1 { String::new() } else { format!(",\"parent\":{}", open[open.len() - 1]) };
        new.push(format!(
            "{{\"id\":{id},\"callFrame\":{{\"functionName\":\"{name}\",\"scriptId\":\"{id}\",\"url\":\"u\",\"lineNumber\":{line},\"columnNumber\":{column}}},\"hitCount\":0{parent},\"callUID\":{id}}}"
        ));
        let comma = if old.ends_with('}') { "," } else { "" };
        let ahead = format!("\"functionName\":\"{name}\",\"scriptId\":\"{id}\",\"url\":\"u\"");
        let _ = write!(
            old,
            "{comma}{{{ahead},\"lineNumber\":{},\"columnNumber\":{},\"hitCount\":0,\"id\":{id},\"callUID\":{id},\"children\":[",
            line + 1,
            column + 1
        );
        if id == 1 {
            open[0] = 1;
        } else {
            open.push(id);
        }
    }
    old.push_str(&"]}".repeat(open.len()));
    let start = 1_500_000;
    let mut time = start;
    let samples: Vec<String> = (0..10).map(|_| (1 + rng.index(count)).to_string()).collect();
    let deltas: Vec<i64> =
        (0..10).map(|i| if i == 0 { 0 } else { rng.below(90) as i64 - 9 }).collect();
    let times: Vec<String> = deltas
        .iter()
        .map(|delta| {
            time += delta;
            time.to_string()
        })
        .collect();
    let end = times.iter().map(|time| time.parse::<i64>().expect("made above")).max();
    let (samples, times) = (samples.join(","), times.join(","));
    let deltas = deltas.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let new = format!(
        "{{\"nodes\":[{}],\"startTime\":{start},\"endTime\":{},\"samples\":[{samples}],\"timeDeltas\":[{deltas}]}}",
        new.join(","),
        end.expect("ten of them")
    );
    let old = format!(
        "{{\"head\":{old},\"startTime\":1.5,\"endTime\":2,\"samples\":[{samples}],\"timestamps\":[{times}]}}"
    );
    (new, old)
}

#[test]
fn old_and_new_formats_are_equivalent() {
    for seed in seeds(0, 12) {
        let (new, old) = both_forms(&mut Rng::new(seed));
        let folder = Folder::new();
        let merged = [("a", &new), ("b", &old)].map(|(name, text)| {
            std::fs::create_dir(folder.path(name)).expect("a folder");
            // both have the same name, which the events contain
            let file = folder.file(&format!("{name}/p.cpuprofile"), text.as_bytes());
            let merged = merge_files(&[&file], seed as usize);
            extract(&[&merged], PLAIN).expect("a profile").remove(0).bytes
        });
        assert_same(&format!("seed {seed}\n{old}\n"), &merged[0], &merged[1]);
        let in_trace = format!(
            "[{{\"ph\":\"X\",\"name\":\"CpuProfile\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":{{\"data\":{{\"cpuProfile\":{old}}}}}}}]"
        );
        let of_trace = extract(&[in_trace.as_bytes()], knobs(seed as usize)).expect("a profile");
        assert_same(&format!("seed {seed}, in a trace\n{old}\n"), &merged[0], &of_trace[0].bytes);
    }
}

#[test]
fn long_profiles_become_chunks_of_10_000_samples() {
    let (nodes, samples) = (25_000, 31_000);
    let mut rng = Rng::new(1);
    let mut text = String::from("{\"nodes\":[{\"id\":1,\"callFrame\":{}}");
    (2..=nodes).for_each(|id| {
        let _ = write!(
            text,
            ",{{\"id\":{id},\"callFrame\":{{}},\"parent\":{}}}",
            1 + rng.index(id - 1)
        );
    });
    // the first samples need the last nodes
    let ids: Vec<String> = (0..samples).map(|i| (nodes - i % nodes).to_string()).collect();
    let steps = vec!["7"; samples].join(",");
    let _ = write!(
        text,
        "],\"startTime\":10,\"endTime\":20,\"samples\":[{}],\"timeDeltas\":[{steps}]}}",
        ids.join(",")
    );
    let folder = Folder::new();
    let file = folder.file("long.cpuprofile", text.as_bytes());
    let merged = merge_files(&[&file], 11);
    let events = reference::events(&merged).expect("well-formed");
    let chunks = events.iter().filter(|e| e.name.as_deref() == Some("\"ProfileChunk\"")).count();
    assert!(chunks >= 6, "{chunks}");
    let again = extract(&[&merged], knobs(5)).expect("a profile");
    let expected = CpuProfile::read(text.as_bytes()).expect("made above");
    assert_eq!(CpuProfile::read(&again[0].bytes), Ok(expected));
}

#[test]
fn profiles_and_traces_merge_into_one_trace() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/node");
    let profile = root.join("CPU.20261121.044053.5418.0.001.cpuprofile");
    let trace = root.join("trace.json");
    let (alone, _) = run_files(&[&trace], None, PLAIN).expect("a trace");
    let (merged, report) = run_files(&[&trace, &profile], None, PLAIN).expect("a trace");
    assert_eq!(report.run.inputs.iter().map(|input| input.profiles).collect::<Vec<_>>(), [0, 1]);
    let (alone, merged) =
        (Output::parse(report.run.format, &alone), Output::parse(report.run.format, &merged));
    assert!(crate::trace::missing(alone.events.iter().copied(), &merged.events).is_none());
    assert!(merged.events.len() > alone.events.len() + 5);
    let viewer = ViewerRules { viewer: Some(CheckFor::Devtools), ..ViewerRules::default() };
    let identity = IdentityRules { pid: PidPolicy::One, ..IdentityRules::default() };
    let config = Config { viewer, identity, ..config(PLAIN) };
    let (output, _) = run_sources(&[Source::Path(profile)], None, &config).expect("a profile");
    check_events(&output);
    assert!(contains(&output, b"\"TracingStartedInBrowser\""));
}

#[test]
fn profiles_of_one_thread_get_separate_threads() {
    let folder = Folder::new();
    let text = br#"{"nodes":[{"id":1,"callFrame":{}}],"startTime":5,"endTime":9,"samples":[1],"timeDeltas":[2]}"#;
    let files = ["001", "002", "003"]
        .map(|seq| folder.file(&format!("CPU.20260101.000000.4.2.{seq}.cpuprofile"), text));
    let merged = merge_files(&[&files[0], &files[1], &files[2]], 2);
    let extracted = extract(&[&merged], PLAIN).expect("profiles");
    let lanes: HashSet<(&str, &str)> = extracted
        .iter()
        .map(|profile| (profile.info.pid.as_str(), profile.info.tid.as_str()))
        .collect();
    assert_eq!((extracted.len(), lanes.len()), (3, 3), "{extracted:#?}");
    assert!(lanes.contains(&("4", "2")));
    assert!(extracted.iter().all(|profile| profile.bytes == extracted[0].bytes));
}

#[test]
fn unknown_keys_survive() {
    let folder = Folder::new();
    let text = br#"{"nodes":[{"id":1,"callFrame":{}}],"startTime":5,"endTime":9,"samples":[1],"timeDeltas":[2],"title":"x","$vscode":{"locations":[1.50]},"profile":{"source":1}}"#;
    let file = folder.file("keys.cpuprofile", text);
    let merged = merge_files(&[&file], 2);
    let extracted = extract(&[&merged], PLAIN).expect("profiles");
    let profile = check_rules(&extracted[0].bytes);
    for (key, value) in
        [("title", "\"x\""), ("$vscode", "{\"locations\":[1.50]}"), ("profile", "{\"source\":1}")]
    {
        assert_eq!(profile.get(key).map(Value::to_string).as_deref(), Some(value), "{key}");
    }
    assert!(kinds(&extracted[0].info.flaws).iter().all(|flaw| flaw.0 != FlawKind::Key));
}

#[test]
fn a_source_key_survives() {
    let text = r#"{"nodes":[{"id":1}],"startTime":5,"endTime":9,"samples":[1],"timeDeltas":[2],"source":"Inspector"}"#;
    let folder = Folder::new();
    let merged = merge_files(&[&folder.file("p.cpuprofile", text.as_bytes())], 2);
    let extracted = extract(&[&merged], PLAIN).expect("profiles");
    let keys = |text: &[u8]| serde_json::from_slice::<serde_json::Map<String, Value>>(text);
    let (before, after) =
        (keys(text.as_bytes()).expect("JSON"), keys(&extracted[0].bytes).expect("JSON"));
    assert!(before.keys().eq(after.keys()), "{after:?}");
}
