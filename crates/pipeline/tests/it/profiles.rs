//! Extracts valid CPU profiles from traces, and compares them with the naive reference, whatever
//! the knobs.

use crate::extract::{extract, extract_sources, kinds, list};
use crate::run::{Folder, Knobs, PLAIN, config, knobs};
use crate::trace::{assert_same, contains, text_of};
use std::path::{Path, PathBuf};
use tracemill_index::extract_profiles;
use tracemill_join::report::warning::Warning;
use tracemill_pipeline::{ProfileChoice, ProfileInfo, ProfileTarget};
use tracemill_testkit::generate::{Arrangement, Layout, ProfileShape, profile_trace};
use tracemill_testkit::reference::{self, CpuProfile, Decimal, StreamProfile};
use tracemill_testkit::{Rng, seeds};
use tracemill_tokenizer::Tier;
use tracemill_trace::Source;
use tracemill_trace::run::flaws::FlawKind;

#[track_caller]
fn check_info(what: &str, expected: &StreamProfile, info: &ProfileInfo) {
    let profile = &expected.profile;
    assert_eq!(
        (&info.pid, &info.tid, &info.id),
        (&expected.pid, &expected.tid, &expected.id),
        "{what}"
    );
    assert_eq!(
        (info.order.name(), info.chunks),
        (expected.order, expected.chunks as u64),
        "{what}"
    );
    assert_eq!(
        (info.samples, info.nodes),
        (profile.samples.len() as u64, profile.nodes.len() as u64),
        "{what}"
    );
    let bounds = (i128::from(info.start_ns), i128::from(info.end_ns));
    assert_eq!(bounds, (expected.start, profile.end), "{what}");
    let unordered = if info.order.name() == "neither" { 1 } else { 0 };
    let flaws = kinds(&info.flaws);
    let count: u64 = flaws.iter().filter(|f| f.0 == FlawKind::Unordered).map(|f| f.1).sum();
    assert_eq!((flaws.len() as u64, count), (unordered, unordered), "{what}: {flaws:?}");
}

/// Asserts that extraction matches the reference, with the same bytes for all `corners`.
#[track_caller]
pub(crate) fn check(what: &str, inputs: &[&[u8]], corners: impl Iterator<Item = Knobs>) {
    let expected = reference::cpu_profiles(inputs).unwrap_or_else(|e| panic!("{what}: {e}"));
    let plain = extract(inputs, PLAIN).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(plain.len(), expected.len(), "{what}: {plain:#?}");
    for (number, (expected, got)) in expected.iter().zip(&plain).enumerate() {
        let what = format!("{what}, profile {number}");
        check_info(&what, expected, &got.info);
        let read = CpuProfile::read(&got.bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(read, expected.profile, "{what}");
    }
    for corner in corners {
        let again = extract(inputs, corner).unwrap_or_else(|e| panic!("{what} {corner:?}: {e}"));
        assert_eq!(again.len(), plain.len(), "{what} {corner:?}");
        let listed = list(inputs, corner).unwrap_or_else(|e| panic!("{what} {corner:?}: {e}"));
        // 16 bytes per chunk, in a quarter of the index
        let places = 16 * listed.profiles.iter().map(|profile| profile.chunks).sum::<u64>();
        let spills = corner.budget.is_some_and(|budget| places > budget / 4);
        assert_eq!(listed.spills > 0, spills, "{what} {corner:?}");
        for (number, (first, again)) in plain.iter().zip(&again).enumerate() {
            let what = format!("{what}, profile {number}, {corner:?}");
            assert_same(&what, &first.bytes, &again.bytes);
            check_info(&what, &expected[number], &again.info);
            let id = &expected[number].id;
            let listed = listed.profiles.iter().filter(|profile| profile.nodes > 0).nth(number);
            check_info(&what, &expected[number], listed.unwrap_or_else(|| panic!("{what}: {id}")));
            assert_eq!(
                again.info.file.as_ref().and_then(|file| file.file_name()),
                first.info.file.as_ref().and_then(|file| file.file_name()),
                "{what}"
            );
        }
    }
}

#[test]
fn random_profiles_match_the_reference() {
    for seed in seeds(0, 25) {
        let mut rng = Rng::new(seed);
        let inputs: Vec<Vec<u8>> = (0..1 + rng.index(2) as u64)
            .map(|i| profile_trace(seed * 10 + i, &ProfileShape::arbitrary(&mut rng)))
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let corners = (0..3).map(|number| {
            let corner = knobs(seed as usize * 3 + number);
            let long = inputs.iter().any(|input| input.len() > 100_000);
            // reading large files byte by byte is slow
            let least = if long { 63 } else { 1 };
            Knobs { read_size: corner.read_size.map(|size| size.max(least)), ..corner }
        });
        check(&format!("seed {seed}"), &inputs, corners);
    }
}

/// Returns traces of real producers, and those in `testdata/`.
pub(crate) fn real_traces() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut folders = vec![root.join("testdata"), root.join("../shared/corpus")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let name = path.display().to_string();
            let is_trace = name.ends_with(".json") || name.ends_with(".json.gz");
            if path.is_dir() {
                folders.push(path);
            } else if is_trace && !name.contains("golden") && !name.contains("truncated") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn has_profiles(text: &[u8]) -> bool {
    contains(text, b"\"ProfileChunk\"") || contains(text, b"\"CpuProfile\"")
}

#[test]
fn profiles_of_real_producers_match_the_reference() {
    let mut compared = 0;
    for (number, file) in real_traces().into_iter().enumerate() {
        let text = text_of(&file);
        if !has_profiles(&text) {
            continue;
        }
        match reference::cpu_profiles(&[&text]) {
            Ok(all) if !all.is_empty() => {
                let corner = knobs(number);
                let read_size = corner.read_size.map(|size| size.max(4096));
                let corner = Knobs { read_size, chunk: corner.chunk.max(5000), ..corner };
                check(&file.display().to_string(), &[&text], [corner].into_iter());
                compared += 1;
            }
            // orphans and samples of unknown nodes
            _ => {}
        }
    }
    assert!(compared >= 4, "{compared}");
}

#[test]
fn long_profiles_spill_to_disk() {
    let shape = ProfileShape {
        samples: 3000,
        nodes: 900,
        layout: Layout::Compact,
        ..ProfileShape::plain(2)
    };
    for (seed, arrangement) in (0..).zip(Arrangement::ALL) {
        let trace = profile_trace(seed, &ProfileShape { arrangement, ..shape.clone() });
        let corners = [1, 2, 7].into_iter().map(|threads| Knobs {
            threads,
            budget: Some(200),
            chunk: 5000,
            read_size: (threads == 2).then_some(4096),
            ..PLAIN
        });
        check(&format!("{arrangement:?}"), &[&trace], corners);
    }
}

#[test]
fn shuffled_chunks_give_the_same_profile() {
    let tier = Tier::best();
    let reads = [None, Some(1), Some(63), Some(64), Some(65), Some(4096)];
    for seed in 200..212 {
        let shape = ProfileShape { chunks: 9, others: 6, ..ProfileShape::plain(3) };
        let in_order = extract(&[&profile_trace(seed, &shape)], PLAIN).expect("sound");
        for arrangement in [Arrangement::Shuffled, Arrangement::EqualTimes] {
            let trace = profile_trace(seed, &ProfileShape { arrangement, ..shape.clone() });
            for (number, read_size) in reads.into_iter().enumerate() {
                let threads = [1, 2, 7][(seed as usize + number) % 3];
                let budget = (number % 2 == 1).then_some(200);
                let corner = Knobs { tier, read_size, threads, budget, chunk: 300 };
                let what = format!("seed {seed}, {arrangement:?}, {corner:?}");
                let got = extract(&[&trace], corner).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert_eq!(got.len(), in_order.len(), "{what}");
                for expected in &in_order {
                    let same = got.iter().find(|profile| {
                        (&profile.info.pid, &profile.info.id)
                            == (&expected.info.pid, &expected.info.id)
                    });
                    let same = same.unwrap_or_else(|| panic!("{what}: {expected:?} is missing"));
                    assert_same(&what, &expected.bytes, &same.bytes);
                    assert!(same.info.flaws.is_empty(), "{what}: {:?}", same.info.flaws);
                }
            }
        }
    }
}

/// Splits the events of a trace into several traces, like rotated logs.
fn rotated(trace: &[u8], files: usize) -> Vec<Vec<u8>> {
    let events = reference::events(trace).expect("well-formed");
    let pieces = events.chunks(events.len().div_ceil(files).max(1));
    let texts = pieces.map(|piece| {
        let events: Vec<&[u8]> = piece.iter().map(|event| event.bytes.as_slice()).collect();
        [&b"{\"traceEvents\":["[..], &events.join(&b",\n"[..]), b"]}"].concat()
    });
    texts.collect()
}

#[test]
fn streams_continue_in_rotated_logs() {
    for seed in 300..320 {
        let shape = ProfileShape { chunks: 12, ..ProfileShape::plain(1 + seed as usize % 4) };
        let trace = profile_trace(seed, &shape);
        let files = rotated(&trace, 2 + seed as usize % 3);
        let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
        let what = format!("seed {seed}");
        check(&what, &files, (0..3).map(|number| knobs(seed as usize * 3 + number)));
        let (whole, parts) = (extract(&[&trace], PLAIN), extract(&files, PLAIN));
        let (whole, parts) = (whole.expect("sound"), parts.expect("sound"));
        assert_eq!(whole.len(), parts.len(), "{what}");
        for (whole, part) in whole.iter().zip(&parts) {
            assert_same(&what, &whole.bytes, &part.bytes);
        }
    }
}

#[test]
fn equal_ids_in_two_files_are_two_profiles() {
    let shape = ProfileShape { arrangement: Arrangement::Shuffled, ..ProfileShape::plain(2) };
    for seed in 400..410 {
        let traces = [profile_trace(seed, &shape), profile_trace(seed + 50, &shape)];
        let inputs = [&traces[0][..], &traces[1]];
        let alone = inputs.map(|input| extract(&[input], PLAIN).expect("sound"));
        let together = extract(&inputs, knobs(seed as usize)).expect("sound");
        let sorted = |all: Vec<&crate::extract::Extracted>| {
            let mut bytes: Vec<Vec<u8>> =
                all.into_iter().map(|extracted| extracted.bytes.clone()).collect();
            bytes.sort();
            bytes
        };
        let alone = sorted(alone.iter().flatten().collect());
        assert!(alone == sorted(together.iter().collect()), "seed {seed}");
    }
}

#[test]
fn streams_without_nodes_give_a_warning_and_no_file() {
    let trace = br#"[{"name":"ProfileChunk","ph":"P","pid":1,"tid":1,"id":"0x0","ts":1,"args":{"data":{"endTime":1}}},
        {"name":"Profile","ph":"P","pid":1,"tid":1,"id":"0x1","ts":10,"args":{"data":{"startTime":10}}},
        {"name":"ProfileChunk","ph":"P","pid":1,"tid":2,"id":"0x1","ts":11,"args":{"data":{"cpuProfile":{"nodes":[
        {"id":1,"callFrame":{}}],"samples":[1]},"timeDeltas":[3]}}}]"#;
    let folder = Folder::new();
    let sources = [Source::Path(folder.file("in", trace))];
    let dir = folder.path("out");
    let target = ProfileTarget::Folder { dir, template: None, replace: false, reserved: None };
    let report = extract_profiles(&sources, &ProfileChoice::default(), &target, &config(PLAIN));
    let report = report.expect("one profile has nodes");
    let about = |warning: &&Warning| warning.to_string().contains("\u{30}x0");
    let warnings: Vec<&Warning> = report.warnings.iter().filter(about).collect();
    assert_eq!(warnings.len(), 1, "{:?}", report.warnings);
    let names: Vec<_> =
        report.profiles.iter().filter_map(|profile| profile.file.as_ref()).collect();
    assert_eq!(names, [&folder.path("out/CPU.19700101.000000.1.1.002.cpuprofile")], "{report:#?}");
    assert!(extract_sources(&sources, &config(PLAIN)).is_ok());
}

#[test]
fn start_times_keep_every_digit() {
    for start in ["1795226383502128.8", "5", "-3.25", "12.00", "1.5e3", "7.0000000000000000001"] {
        for written in [start.to_owned(), format!("\"{start}\"")] {
            let trace = format!(
                r#"[{{"name":"Profile","ph":"P","pid":1,"tid":1,"id":"0x1","ts":{written}}},
                {{"name":"ProfileChunk","ph":"P","pid":1,"tid":2,"id":"0x1","ts":9e20,
                "args":{{"data":{{"cpuProfile":{{"nodes":[{{"id":1}}]}}}}}}}}]"#
            );
            let [found] = &extract(&[trace.as_bytes()], PLAIN).expect(start)[..] else {
                panic!("one profile")
            };
            let text = String::from_utf8_lossy(&found.bytes);
            assert!(text.contains(&format!("\"startTime\":{start},\"endTime\":")), "{text}");
            let read = CpuProfile::read(&found.bytes);
            assert!(
                read.is_err() || Decimal::parse(start.as_bytes()) == read.ok().map(|p| p.start)
            );
        }
    }
}
