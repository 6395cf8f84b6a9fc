//! Damaged `.cpuprofile` inputs, and very deep call trees.

use crate::extract::{check_rules, extract_sources, kinds};
use crate::profile_files::check_events;
use crate::run::{Folder, Knobs, PLAIN, config, knobs, run_files, run_sources};
use crate::trace::assert_same;
use serde_json::Value;
use std::fmt::Write as _;
use tracemill_testkit::generate::{Arrangement, ProfileShape, profile_trace};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::flaws::FlawKind::{self, *};

/// The kinds of problems, their counts, and the text at the first one.
type Expected<'e> = &'e [(FlawKind, u64, &'e str)];

/// Merges a profile with several knobs and asserts its problems. Returns the extracted profile.
#[track_caller]
fn check(text: &str, expected: Expected<'_>) -> Value {
    let folder = Folder::new();
    let file = folder.file("p.cpuprofile", text.as_bytes());
    let (merged, report) =
        run_files(&[&file], None, PLAIN).unwrap_or_else(|e| panic!("{text}: {e}"));
    check_events(&merged);
    let flaws = kinds(&report.run.inputs[0].flaws);
    assert_eq!(flaws.len(), expected.len(), "{text}: {flaws:?}");
    for (&(kind, count, offset), &(wanted, times, place)) in flaws.iter().zip(expected) {
        assert_eq!((kind, count), (wanted, times), "{text}: {flaws:?}");
        let at = text.find(place).unwrap_or_else(|| panic!("{place} is not in {text}"));
        assert!(offset < text.len() as u64, "{text}: {flaws:?}");
        assert!(place.is_empty() || offset == at as u64, "{text}: {flaws:?}, not {at}");
    }
    for corner in [1, 9, 28, 53, 64].map(knobs) {
        let (again, report) = run_files(&[&file], None, corner).expect("as before");
        assert_same(&format!("{text} {corner:?}"), &merged, &again);
        assert_eq!(kinds(&report.run.inputs[0].flaws), flaws, "{text} {corner:?}");
    }
    let trace = folder.file("trace.json", &merged);
    let direct = extract_sources(&[Source::Path(file)], &config(PLAIN)).expect("a profile");
    let again = extract_sources(&[Source::Path(trace)], &config(PLAIN)).expect("a profile");
    assert_same(text, &direct[0].bytes, &again[0].bytes);
    check_rules(&again[0].bytes)
}

/// Like [`check`], also asserting nodes, samples and time steps.
#[track_caller]
fn check_saved(text: &str, expected: Expected<'_>, saved: (usize, &str, &str)) {
    let profile = check(text, expected);
    let list = |key: &str| profile[key].to_string();
    let nodes = profile["nodes"].as_array().map_or(0, Vec::len);
    assert_eq!((nodes, &*list("samples"), &*list("timeDeltas")), saved, "{text}");
}

#[test]
fn invalid_samples_and_steps_are_repaired() {
    let with = |samples: &str, steps: &str| {
        format!(
            r#"{{"nodes":[{{"id":1,"callFrame":{{}},"children":[2]}},{{"id":2,"callFrame":{{}}}}],"startTime":5,"endTime":90,"samples":[{samples}],"timeDeltas":[{steps}]}}"#
        )
    };
    check_saved(&with("1,2", "3,-4"), &[], (2, "[1,2]", "[3,-4]"));
    check_saved(&with("\"1\",2", "\"3\",1.5"), &[], (2, "[1,2]", "[3,1.5]"));
    for odd in ["77", "null", "\"x\"", "2.5", "-1", "{}", "NaN"] {
        let text = with(&format!("1,{odd},2"), "1,2,4");
        check_saved(&text, &[(Sample, 1, &format!("{odd},2]"))], (2, "[1,2]", "[1,6]"));
    }
    for odd in ["NaN", "null", "1e400", "\"x\"", "{}", "true"] {
        let text = with("1,1,2", &format!("1,{odd},4"));
        check_saved(&text, &[(Delta, 1, &format!("{odd},4]"))], (2, "[1,1,2]", "[1,0,4]"));
    }
    check_saved(&with("1,2", "1,0.0004"), &[(Rounded, 1, "0.0004")], (2, "[1,2]", "[1,0]"));
    check_saved(&with("1,2,1,1", "1,2"), &[(Unpaired, 2, "")], (2, "[1,2]", "[1,2]"));
    check_saved(&with("1,2", "1,2,3"), &[(Unpaired, 1, "")], (2, "[1,2]", "[1,2]"));
    check_saved(&with("1,2", ""), &[(Unpaired, 2, "")], (2, "[]", "[]"));
    check_saved(&with("", ""), &[], (2, "[]", "[]"));
    let nodes = r#""nodes":[{"id":1},{"id":2,"parent":1}]"#;
    let far = format!(
        r#"{{{nodes},"startTime":0,"samples":[1,2],"timestamps":[-9000000000000000,9000000000000000]}}"#
    );
    check_saved(&far, &[(Delta, 1, "9000000000000000]")], (2, "[1,2]", "[0,0]"));
}

#[test]
fn invalid_trees_are_repaired() {
    let with = |nodes: &str| {
        format!(
            r#"{{"nodes":[{nodes}],"startTime":5,"endTime":90,"samples":[1],"timeDeltas":[1]}}"#
        )
    };
    let saved = |count| (count, "[1]", "[1]");
    check_saved(&with(r#"7,{"id":1},"x",{"noid":1}"#), &[(Node, 3, "7,{")], saved(1));
    let cycle = with(r#"{"id":1},{"id":2,"parent":3},{"id":3,"parent":2},{"id":4,"parent":4}"#);
    check_saved(&cycle, &[(Cycle, 2, "{\"id\":2")], saved(4));
    let lists = with(r#"{"id":1,"children":[]},{"id":2,"children":[3]},{"id":3,"children":[2]}"#);
    check_saved(&lists, &[(Cycle, 1, "{\"id\":2")], saved(3));
    let two_lists = with(r#"{"id":1,"children":[2,3]},{"id":2,"children":[3]},{"id":3}"#);
    check_saved(&two_lists, &[(Child, 1, "{\"id\":2")], saved(3));
    let missing = with(r#"{"id":1,"children":[2,77,1]},{"id":2}"#);
    check_saved(&missing, &[(Child, 2, "{\"id\":1")], saved(2));
    let orphan = with(r#"{"id":1},{"id":2,"parent":77},{"id":3}"#);
    check_saved(&orphan, &[(Orphan, 2, "{\"id\":2")], saved(3));
    check_saved(&with(r#"{"id":1},{"id":2,"parent":1},{"id":2,"parent":1}"#), &[], saved(2));
    let twice = with(r#"{"id":1},{"id":2,"parent":1},{"id":2,"x":1,"parent":1}"#);
    check_saved(
        &twice,
        &[(Repeated, 1, "{\"id\":2,\"x\""), (Renumbered, 1, "{\"id\":1}")],
        saved(3),
    );
    let late = with(r#"{"id":3,"parent":2},{"id":2,"parent":1},{"id":1}"#);
    check_saved(&late, &[], saved(3));
}

#[test]
fn missing_bounds_and_times_are_guessed() {
    let nodes = r#""nodes":[{"id":1},{"id":2,"parent":1}]"#;
    let samples = r#""samples":[1,2],"timeDeltas":[10,5]"#;
    let start = |text: &str, expected: Expected<'_>| check(text, expected)["startTime"].to_string();
    assert_eq!(start(&format!("{{{nodes},{samples}}}"), &[(NoStart, 1, "")]), "1");
    assert_eq!(
        start(&format!("{{{nodes},\"endTime\":90,{samples}}}"), &[(NoStart, 1, "90")]),
        "75"
    );
    assert_eq!(
        start(&format!("{{{nodes},\"startTime\":null,{samples}}}"), &[(NoStart, 1, "null")]),
        "1"
    );
    assert_eq!(start(&format!("{{{nodes},\"startTime\":\"8.5\",{samples}}}"), &[]), "8.5");
    let untimed = format!(r#"{{{nodes},"startTime":100,"endTime":300,"samples":[1,2,1,2]}}"#);
    check_saved(&untimed, &[(Untimed, 1, "1,2,1,2]")], (2, "[1,2,1,2]", "[0,50,50,50]"));
    let endless = format!(r#"{{{nodes},"startTime":100,"samples":[1,2,1,2]}}"#);
    check_saved(&endless, &[(Unpaired, 4, "1,2,1,2]")], (2, "[]", "[]"));
    let ids = format!(r#"{{{nodes},"startTime":100,{samples},"trace_ids":{{"a":2,"b":77}}}}"#);
    assert_eq!(check(&ids, &[(TraceId, 1, "\"b\"")])["trace_ids"].to_string(), r#"{"a":2}"#);
    let lines = format!(r#"{{{nodes},"startTime":100,{samples},"lines":[4,null],"columns":7}}"#);
    let profile = check(&lines, &[(Shape, 1, "7}"), (Lines, 1, "null")]);
    assert_eq!((profile["lines"].to_string(), profile.get("columns")), ("[4,0]".to_owned(), None));
}

#[test]
fn invalid_text_is_repaired() {
    for odd in ["a\u{1}b", "c:\\dir", "\n"] {
        let text = format!(
            r#"{{"nodes":[{{"id":1}},{{"id":2,"callFrame":{{"functionName":"{odd}"}},"parent":1}}],"startTime":100,"samples":[2],"timeDeltas":[1]}}"#
        );
        let profile = check(&text, &[(Text, 1, "{\"id\":2")]);
        assert_eq!(profile["nodes"][1]["callFrame"]["functionName"].as_str(), Some(odd));
    }
    let nan = r#"{"nodes":[{"id":1,"own":[NaN]}],"startTime":1,"samples":[1],"timeDeltas":[1],"more":[1,NaN]}"#;
    let folder = Folder::new();
    let file = folder.file("p.cpuprofile", nan.as_bytes());
    let (merged, report) = run_files(&[&file], None, PLAIN).expect("a profile");
    check_events(&merged);
    assert_eq!(
        kinds(&report.run.inputs[0].flaws),
        [(Text, 2, nan.find("{\"id\"").expect("in it") as u64)]
    );
}

#[test]
fn invalid_keys_are_repaired() {
    let with = |odd: &str| {
        format!(r#"{{"nodes":[{{"id":1}}],{odd},"startTime":1,"samples":[1],"timeDeltas":[1]}}"#)
    };
    for key in ["a\u{1}b", "a\\d"] {
        let text = with(&format!("\"own{key}\":5"));
        assert_eq!(check(&text, &[(Text, 1, "")])[format!("own{key}")].as_u64(), Some(5));
        let ids = with(&format!("\"trace_ids\":{{\"{key}\":1}}"));
        assert_eq!(check(&ids, &[(Text, 1, "")])["trace_ids"][key].as_u64(), Some(1));
    }
}

#[test]
fn a_damaged_profile_does_not_affect_others() {
    let good = r#"{"nodes":[{"id":1}],"startTime":5,"samples":[1],"timeDeltas":[1]}"#;
    let bad = r#"{"nodes":[{"id":1},7],"startTime":5,"samples":[1,9],"timeDeltas":[1,1]}"#;
    let folder = Folder::new();
    let files = [("a.cpuprofile", good), ("b.cpuprofile", bad), ("c.cpuprofile", good)]
        .map(|(name, text)| folder.file(name, text.as_bytes()));
    let (_, report) = run_files(&[&files[0], &files[1], &files[2]], None, PLAIN).expect("profiles");
    let flaws: Vec<_> = report.run.inputs.iter().map(|input| kinds(&input.flaws)).collect();
    let at = |text: &str| bad.find(text).expect("in it") as u64;
    assert_eq!(flaws, [vec![], vec![(Node, 1, at("7]")), (Sample, 1, at("9]"))], vec![]]);
    for (file, lossy) in [(&files[0], false), (&files[1], true)] {
        let strict = crate::run::strict(PLAIN);
        let result = run_sources(&[Source::Path(file.clone())], None, &strict);
        assert_eq!(result.err().map(|e| e.class()), lossy.then_some(ErrorClass::Input));
    }
}

#[test]
fn damaged_files_give_one_valid_result() {
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed);
        let shape = ProfileShape { arrangement: Arrangement::InOrder, ..ProfileShape::plain(1) };
        let sound = crate::extract::extract(&[&profile_trace(seed, &shape)], PLAIN).expect("sound");
        let mut text = sound[0].bytes.clone();
        if rng.chance(20) {
            text.truncate(rng.index(text.len()));
        }
        for _ in 0..1 + rng.below(4) {
            let at = rng.index(text.len().max(1));
            let byte = *b"\"{}[],:\\0-9eN\x00\xff\n"[..].get(rng.index(16)).expect("one of them");
            match rng.below(3) {
                _ if at >= text.len() => {}
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => drop(text.drain(at..(at + rng.index(9)).min(text.len()))),
            }
        }
        check_answer(&format!("seed {seed}"), &text, knobs(seed as usize));
    }
}

#[track_caller]
fn check_answer(what: &str, text: &[u8], corner: Knobs) {
    let folder = Folder::new();
    let file = folder.file("p.cpuprofile", text);
    let shown = String::from_utf8_lossy(text);
    let plain = run_files(&[&file], None, PLAIN);
    match (&plain, run_files(&[&file], None, corner)) {
        (Ok((plain, report)), Ok((again, twice))) => {
            assert_same(&format!("{what} {corner:?}"), plain, &again);
            let flaws = kinds(&report.run.inputs[0].flaws);
            assert_eq!(flaws, kinds(&twice.run.inputs[0].flaws), "{what} {corner:?}");
            if report.run.inputs[0].profiles > 0 && report.run.inputs[0].events == 7 {
                check_events(plain);
            }
        }
        (Err(plain), Err(again)) => assert_eq!(plain.class(), again.class(), "{what}"),
        (plain, again) => panic!("{what} {corner:?}: {plain:?}\n{again:?}\n{shown}"),
    }
    // asserts the rules; fails if there are no nodes
    let _ = extract_sources(&[Source::Path(file)], &config(corner));
}

const DEEP: usize = 400_000;

/// Returns a linear call tree in three formats.
fn deep_trees() -> [(&'static str, String); 3] {
    let (mut parents, mut lists, mut nested) = (String::new(), String::new(), String::new());
    for id in 1..=DEEP {
        let comma = if id == 1 { "" } else { "," };
        let parent = if id == 1 { String::new() } else { format!(",\"parent\":{}", id - 1) };
        let child = if id == DEEP { String::new() } else { (id + 1).to_string() };
        let _ = write!(parents, "{comma}{{\"id\":{id},\"callFrame\":{{}}{parent}}}");
        let _ = write!(lists, "{comma}{{\"id\":{id},\"callFrame\":{{}},\"children\":[{child}]}}");
        let _ = write!(nested, "{{\"functionName\":\"f\",\"id\":{id},\"children\":[");
    }
    nested.push_str(&"]}".repeat(DEEP));
    let times = format!("\"startTime\":5,\"samples\":[{DEEP}],\"timeDeltas\":[3]");
    [
        ("parents", format!("{{\"nodes\":[{parents}],{times}}}")),
        ("lists", format!("{{\"nodes\":[{lists}],{times}}}")),
        ("nested", format!("{{\"head\":{nested},\"samples\":[{DEEP}],\"timestamps\":[8]}}")),
    ]
}

/// Runs on a stack that is too small for a call per level.
fn on_small_stack(run: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 10);
        let joined = thread.spawn_scoped(scope, run).expect("a thread can be made").join();
        joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// Asserts that the only profile of an input has 400,000 levels.
#[track_caller]
fn check_deep(what: &str, name: &str, text: &str) {
    let folder = Folder::new();
    let sources = [Source::Path(folder.file(name, text.as_bytes()))];
    on_small_stack(|| {
        let all =
            extract_sources(&sources, &config(PLAIN)).unwrap_or_else(|e| panic!("{what}: {e}"));
        let [profile] = &all[..] else { panic!("{what}: one profile") };
        assert_eq!((profile.info.nodes, profile.info.samples), (DEEP as u64, 1), "{what}");
        assert!(profile.info.flaws.is_empty(), "{what}: {:?}", profile.info.flaws);
    });
}

#[test]
fn depth_of_profiles_in_files_is_unlimited() {
    for (what, text) in deep_trees() {
        check_deep(what, "p.cpuprofile", &text);
    }
}

#[test]
fn depth_of_profiles_in_traces_is_unlimited() {
    for (what, text) in deep_trees() {
        let trace = format!(
            "[{{\"ph\":\"X\",\"name\":\"CpuProfile\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":{{\"data\":{{\"cpuProfile\":{text}}}}}}}]"
        );
        check_deep(what, "trace.json", &trace);
    }
}
