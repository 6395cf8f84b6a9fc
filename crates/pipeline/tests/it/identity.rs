//! Compares merges of inputs that share pids and ids with a naive merge of naively renamed inputs,
//! whatever the knobs. New ids must keep separate recordings apart.

use crate::corpus::{corpus, files_below};
use crate::run::{Knobs, PLAIN, config, knobs, over, run, run_sources};
use crate::trace::{Output, assert_same, text_of, without_annotations};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tracemill_join::config::{Config, IdPolicy, IdentityRules, PidPolicy};
use tracemill_join::report::{InputIdentity, MergeReport};
use tracemill_testkit::generate::{TraceShape, chrome_like, trace};
use tracemill_testkit::reference::{self, RawEvent, Renames};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::output::target::Format;
use tracemill_trace::{Error, Source};

fn rules(pid: PidPolicy) -> IdentityRules {
    IdentityRules { pid, ids: IdPolicy::Auto, ..IdentityRules::default() }
}

fn merge_with(
    inputs: &[&[u8]],
    rules: &IdentityRules,
    knobs: Knobs,
) -> Result<(Vec<u8>, MergeReport), Error> {
    let config = Config { identity: rules.clone(), ..config(knobs) };
    over(inputs, knobs, |sources| run_sources(sources, None, &config))
}

fn renames(identity: &InputIdentity) -> Renames {
    Renames { pids: identity.pids.clone(), ids: identity.ids.clone() }
}

/// Asserts that merges with any knobs equal the naive merge. Returns the renamed inputs and the
/// report.
#[track_caller]
fn check(
    what: &str,
    inputs: &[&[u8]],
    rules: &IdentityRules,
    corners: &[Knobs],
) -> (Vec<Vec<u8>>, Vec<InputIdentity>) {
    let (output, report) =
        merge_with(inputs, rules, PLAIN).unwrap_or_else(|e| panic!("{what}: {e}"));
    let identities = report.identity.inputs;
    assert_eq!(identities.len(), inputs.len(), "{what}");
    let renamed: Vec<Vec<u8>> = inputs
        .iter()
        .zip(&identities)
        .map(|(input, identity)| reference::rename(input, &renames(identity)).expect("sound"))
        .collect();
    let texts: Vec<&[u8]> = renamed.iter().map(Vec::as_slice).collect();
    let expected = reference::merge(&texts, None).expect("sound");
    assert_same(&format!("{what}: {identities:#?}"), &expected, &without_annotations(&output));
    for &corner in corners {
        let (again, report) = merge_with(inputs, rules, corner).expect("sound");
        assert_same(&format!("{what} {corner:?}"), &output, &again);
        let again = report.identity.inputs.iter().map(|i| (i.recording, &i.pids, &i.ids));
        assert!(
            again.eq(identities.iter().map(|i| (i.recording, &i.pids, &i.ids))),
            "{what} {corner:?}"
        );
    }
    (renamed, identities)
}

/// Returns the ids that viewers share between processes; numbers in canonical form.
fn joined_ids(event: &RawEvent) -> Vec<String> {
    let ph: Option<String> = event.ph.as_deref().and_then(|ph| serde_json::from_str(ph).ok());
    let is_joined = ph.is_some_and(|ph| ph.len() == 1 && "bneSTpFstfvV".contains(&ph));
    let id2: Option<HashMap<String, Box<serde_json::value::RawValue>>> =
        event.id2.as_deref().and_then(|id2| serde_json::from_str(id2).ok());
    let id2 = id2.into_iter().flatten().map(|(_, id)| id.get().to_owned());
    let ids = event.id.clone().into_iter().chain(id2).filter(|_| is_joined);
    let plain = |id: String| match id.trim_matches('"').strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).map_or(id.clone(), |number| number.to_string()),
        None => id.trim_matches('"').to_owned(),
    };
    ids.chain(event.bind_id.clone()).map(plain).filter(|id| !id.is_empty()).collect()
}

/// Asserts that inputs of different recordings share neither pids nor ids.
#[track_caller]
fn assert_apart(what: &str, inputs: &[Vec<u8>], identities: &[InputIdentity]) -> (usize, usize) {
    let (mut pids, mut ids) = (BTreeMap::new(), BTreeMap::new());
    for (input, identity) in inputs.iter().zip(identities) {
        for event in reference::events(input).expect("sound") {
            if let Some(pid) = event.pid.clone().filter(|pid| pid.len() < 20) {
                let owner = *pids.entry(pid.clone()).or_insert(identity.recording);
                assert_eq!(owner, identity.recording, "{what}: pid {pid}");
            }
            for id in joined_ids(&event) {
                let owner = *ids.entry(id.clone()).or_insert(identity.recording);
                assert_eq!(owner, identity.recording, "{what}: id {id}");
            }
        }
    }
    (pids.len(), ids.len())
}

#[test]
fn random_merges_match_the_reference() {
    let (mut pids, mut ids, mut renamed) = (0, 0, 0);
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed);
        let mut shape = TraceShape::arbitrary(&mut rng);
        if rng.chance(60) {
            // values that are neither numbers nor strings cannot be distinguished
            shape.odd = 0;
        }
        let first = trace(seed * 10, &shape);
        let other =
            trace(seed * 10 + 1, &TraceShape { odd: shape.odd, ..TraceShape::arbitrary(&mut rng) });
        let inputs: Vec<&[u8]> = match rng.index(3) {
            0 => vec![&first, &first],
            1 => vec![&first, &other, &first],
            _ => vec![&first, &other],
        };
        let mut rules = rules([PidPolicy::Auto, PidPolicy::Offset][rng.index(2)]);
        if rng.chance(30) {
            rules.args_keys = vec!["value".into(), "data".into()];
        }
        let corners = [0, 1, 2].map(|number| knobs(seed as usize * 3 + number));
        let (after, identities) = check(&format!("seed {seed}"), &inputs, &rules, &corners);
        if shape.odd == 0 {
            let counts = assert_apart(&format!("seed {seed}"), &after, &identities);
            (pids, ids) = (pids + counts.0, ids + counts.1);
        }
        renamed += identities.iter().filter(|identity| !identity.ids.is_empty()).count();
    }
    assert!(pids > 100 && ids > 60 && renamed > 12, "{pids} pids, {ids} ids, {renamed} renamed");
}

/// Several batches are written in parallel, in turn, and from disk.
#[test]
fn a_large_trace_merges_with_itself() {
    let mut input = Vec::new();
    chrome_like(7, 6 << 20, &mut input).expect("memory takes bytes");
    let small = Knobs { threads: 7, budget: Some(1 << 18), chunk: 300_000, ..PLAIN };
    let corners =
        [Knobs { threads: 2, ..PLAIN }, small, Knobs { read_size: Some(1 << 16), ..small }];
    let (after, identities) = check("large", &[&input, &input], &rules(PidPolicy::Auto), &corners);
    let (pids, ids) = assert_apart("large", &after, &identities);
    assert!(pids >= 6 && ids > 1000, "{pids} pids, {ids} ids");
    assert_eq!(identities[1].pids.len() * 2, pids);
}

/// NDJSON output has a separate code path.
#[test]
fn ndjson_events_are_renamed() {
    let input =
        b"{\"ph\":\"b\",\"ts\":1,\"pid\":7,\"id\":\"0x1\"}\n{\"ph\":\"X\",\"ts\":2,\"pid\":7}\n";
    let (output, _) = merge_with(&[input, input], &rules(PidPolicy::Auto), PLAIN).expect("sound");
    let text = String::from_utf8(output).unwrap();
    assert!(text.contains("{\"ph\":\"b\",\"ts\":1,\"pid\":10000007,\"id\":\"0x11\"}\n"), "{text}");
    check("lines", &[input, input], &rules(PidPolicy::Auto), &[knobs(3), knobs(8)]);
}

#[test]
fn every_process_of_the_later_input_is_renamed() {
    for seed in seeds(300, 10) {
        let mut shape = TraceShape::arbitrary(&mut Rng::new(seed));
        shape.odd = 0;
        let input = trace(seed, &shape);
        let (_, identities) = check("twice", &[&input, &input], &rules(PidPolicy::Auto), &[]);
        let events = reference::events(&input).expect("sound");
        let pids: BTreeSet<&String> = events.iter().filter_map(|e| e.pid.as_ref()).collect();
        if identities[1].recording == 1 {
            assert_eq!(identities[1].pids.len(), pids.len(), "seed {seed}: {identities:#?}");
        }
        assert!(identities[0].pids.is_empty() && identities[0].ids.is_empty());
    }
}

#[test]
fn conflicting_stack_frames_get_new_ids() {
    let input = |name: &str| {
        format!(
            r#"{{"samples":[{{"sf":1,"pid":7}},{{"sf":"2"}}],"traceEvents":[{{"ph":"P","ts":1,"pid":7,"sf":2}},{{"esf":"1","pid":8,"ts":2}}],"stackFrames":{{"1":{{"name":"{name}"}},"2":{{"name":"b","parent":"1"}}}}}}"#
        )
    };
    let inputs = [input("a"), input("c"), input("d"), input("a")];
    let texts: Vec<&[u8]> = inputs.iter().map(String::as_bytes).collect();
    let (after, identities) =
        check("frames", &texts, &rules(PidPolicy::Auto), &[knobs(1), knobs(2)]);
    assert_eq!(identities[1].ids, [("stackFrames".to_owned(), "numbers + 10".to_owned())]);
    assert_eq!(identities[2].ids, [("stackFrames".to_owned(), "numbers + 20".to_owned())]);
    assert!(identities[3].ids.is_empty(), "equal frames are one");
    let second = String::from_utf8_lossy(&after[1]).into_owned();
    for part in [
        r#"{"sf":11,"pid":10000007}"#,
        r#""sf":12}"#,
        r#""esf":"11""#,
        r#""12":{"name":"b","parent":"11"}"#,
    ] {
        assert!(second.contains(part), "{part}: {second}");
    }
}

/// Renaming splits a value into pieces; the next value must still follow a comma.
#[test]
fn samples_of_all_inputs_become_one_list() {
    let input = |samples: &str, name: &str| {
        format!(
            r#"{{{samples}"traceEvents":[{{"ph":"P","ts":1,"sf":1}}],"stackFrames":{{"1":{{"name":"{name}"}}}}}}"#
        )
    };
    let one = r#""samples":[{"sf":1}],"#;
    let inputs = [input("", "a"), input(one, "b"), input(one, "c")];
    let texts: Vec<&[u8]> = inputs.iter().map(String::as_bytes).collect();
    check("samples", &texts, &rules(PidPolicy::Auto), &[knobs(1)]);
    let merged = merge_with(&texts, &rules(PidPolicy::Auto), PLAIN);
    let (output, _) = merged.expect("sound");
    let output: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
    assert_eq!(output["samples"], serde_json::json!([{"sf": 11}, {"sf": 21}]));
}

/// Returns a trace of the events at these positions.
fn part_of(events: &[RawEvent], range: std::ops::Range<usize>) -> Vec<u8> {
    let texts: Vec<&str> =
        events[range].iter().map(|e| std::str::from_utf8(&e.bytes).expect("JSON")).collect();
    format!("{{\"traceEvents\":[{}]}}", texts.join(",")).into_bytes()
}

#[test]
fn rotated_logs_are_one_recording() {
    let Some(folder) = corpus() else { return };
    let mut files = Vec::new();
    files_below(&folder.join("node20-trace-events"), &mut files);
    assert!(!files.is_empty());
    for file in files {
        let text = text_of(&file);
        let events = reference::events(&text).expect("sound");
        // Node repeats its metadata in each file
        let is_metadata = |event: &&RawEvent| event.ph.as_deref() == Some("\"M\"");
        let metadata: Vec<RawEvent> = events.iter().filter(is_metadata).cloned().collect();
        // a CPU profile that continues is evidence too, tested with the profiles
        let is_profile = |event: &RawEvent| {
            event.name.as_deref().is_some_and(|name| name.starts_with("\"Profile"))
        };
        let rest = events.iter().filter(|event| !is_metadata(event) && !is_profile(event));
        let rest: Vec<RawEvent> = rest.cloned().collect();
        let cut = |from: usize, to: usize| {
            let log_events =
                [&metadata[..], &rest[rest.len() * from / 4..rest.len() * to / 4]].concat();
            part_of(&log_events, 0..log_events.len())
        };
        let logs = [cut(0, 1), cut(1, 2), cut(2, 4)];
        let name = file.display().to_string();
        // logs are one recording only if their names say so
        for (names, recordings) in [("node_trace.{}.log", [0, 0, 0]), ("pod-{}.json", [0, 1, 2])] {
            let source = |(number, text): (usize, &Vec<u8>)| {
                Source::bytes(names.replace("{}", &number.to_string()), text.clone())
            };
            let sources: Vec<Source> = logs.iter().enumerate().map(source).collect();
            let config = Config { identity: rules(PidPolicy::Auto), ..config(PLAIN) };
            let (output, report) = run_sources(&sources, None, &config).expect("sound");
            let identities = report.identity.inputs;
            assert!(
                identities.iter().map(|identity| identity.recording).eq(recordings),
                "{name}: {identities:#?}"
            );
            let renamed: Vec<Vec<u8>> = (logs.iter().zip(&identities))
                .map(|(log, identity)| reference::rename(log, &renames(identity)).expect("sound"))
                .collect();
            let texts: Vec<&[u8]> = renamed.iter().map(Vec::as_slice).collect();
            assert_same(&name, &reference::merge(&texts, None).expect("sound"), &output);
        }
        // the whole trace and its copy are two recordings
        let (after, identities) = check(&name, &[&text, &text], &rules(PidPolicy::Auto), &[]);
        assert_eq!(identities[1].recording, 1, "{name}");
        assert_apart(&name, &after, &identities);
    }
}

#[test]
fn files_of_different_producers_share_no_ids() {
    let Some(folder) = corpus() else { return };
    let mut files = Vec::new();
    files_below(&folder, &mut files);
    files.sort();
    let sound: Vec<(String, Vec<u8>)> = files
        .iter()
        .filter(|file| std::fs::metadata(file).is_ok_and(|m| m.len() < 300_000))
        .map(|file| (file.display().to_string(), text_of(file)))
        .filter(|(_, text)| reference::events(text).is_ok_and(|events| events.len() > 2))
        .collect();
    assert!(sound.len() > 60, "{}", sound.len());
    let mut renamed = 0;
    for (number, (name, text)) in sound.iter().enumerate() {
        let (other_name, other) = &sound[(number * 7 + 3) % sound.len()];
        let what = format!("{name} and {other_name}");
        let (after, identities) = check(&what, &[text, other], &rules(PidPolicy::Auto), &[]);
        assert_apart(&what, &after, &identities);
        renamed += usize::from(identities.iter().any(|identity| !identity.pids.is_empty()));
    }
    assert!(renamed > 10, "{renamed}");
}

#[test]
fn keep_policy_changes_no_ids() {
    for seed in 500..520 {
        let mut rng = Rng::new(seed);
        let input = trace(seed, &TraceShape::arbitrary(&mut rng));
        let inputs: [&[u8]; 2] = [&input, &input];
        let (kept, report) = merge_with(&inputs, &rules(PidPolicy::Keep), PLAIN).expect("sound");
        let (plain, _) = run(&inputs, None::<Format>, PLAIN).expect("sound");
        assert_same("keep", &plain, &kept);
        assert!(
            report
                .identity
                .inputs
                .iter()
                .all(|identity| identity.pids.is_empty() && identity.ids.is_empty())
        );
    }
}

/// The phase, even if escaped, decides whether an id is shared between processes.
#[test]
fn ids_of_escaped_phases_are_renamed() {
    let recording = |pid: u64, begin: &str, end: &str| {
        format!(
            r#"[{{"name":"process_name","ph":"M","pid":{pid},"tid":1,"args":{{"name":"p{pid}"}}}},
{{"name":"a","cat":"c","ph":"{begin}","id":"0x1","ts":10,"pid":{pid},"tid":1}},
{{"name":"a","cat":"c","ph":"{end}","id":"0x1","ts":20,"pid":{pid},"tid":1}}]"#
        )
    };
    let merged = |[begin, end]: [&str; 2]| {
        let inputs = [recording(7, begin, end), recording(8, begin, end)];
        let inputs = [inputs[0].as_bytes(), inputs[1].as_bytes()];
        let (output, report) = merge_with(&inputs, &rules(PidPolicy::Auto), PLAIN).expect("sound");
        assert_eq!(report.identity.inputs[1].ids.len(), 1, "{begin} {end}");
        String::from_utf8(output).expect("text")
    };
    let plain = merged(["b", "e"]);
    assert_eq!(plain.matches(r#""id":"0x1""#).count(), 2, "{plain}");
    let escaped = merged([r"\u0062", r"\u0065"]);
    assert_eq!(escaped.replace(r"\u0062", "b").replace(r"\u0065", "e"), plain);
}

/// `dedup` drops exactly the events that equal an earlier one of the same time.
#[test]
fn equal_events_are_written_once() {
    let mut gone = 0;
    for seed in seeds(4000, 30) {
        let mut rng = Rng::new(seed);
        let input =
            trace(seed, &TraceShape { profile_streams: 0, ..TraceShape::arbitrary(&mut rng) });
        let keep = IdentityRules { pid: PidPolicy::Keep, ..IdentityRules::default() };
        let once = IdentityRules { dedup: true, dedup_metadata: true, ..keep.clone() };
        let inputs = [&input[..], &input[..]];
        let merge = |identity: &IdentityRules, knobs| {
            let config = Config { identity: identity.clone(), ..config(knobs) };
            over(&inputs, knobs, |sources| run_sources(sources, Some(Format::Object), &config))
                .expect("sound")
        };
        let (all, _) = merge(&keep, PLAIN);
        let (output, report) = merge(&once, PLAIN);
        let is_timed = |event: &[u8]| {
            let event = reference::events(event).expect("sound").remove(0);
            event.ts.as_deref().and_then(reference::time).is_some()
        };
        let mut seen = BTreeSet::new();
        let events = Output::parse(Format::Object, &all).events;
        let expected: Vec<&[u8]> = events
            .iter()
            .copied()
            .filter(|event| seen.insert(event.to_vec()) || !is_timed(event))
            .collect();
        let got = Output::parse(Format::Object, &output).events;
        let timed = |events: &[&[u8]]| -> Vec<Vec<u8>> {
            events.iter().filter(|event| is_timed(event)).map(|event| event.to_vec()).collect()
        };
        assert_eq!(timed(&got), timed(&expected), "seed {seed}");
        assert!(report.copies > 0 || events.len() < 3, "seed {seed}");
        gone += report.copies;
        let knobs = knobs(seed as usize);
        assert_same(&format!("seed {seed} {knobs:?}"), &output, &merge(&once, knobs).0);
    }
    assert!(gone > 100);
}
