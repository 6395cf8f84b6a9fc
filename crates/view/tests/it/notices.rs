//! Messages of the page about how the inputs were read.

use crate::indexed::mixed;
use crate::packed::padded;
use crate::support::{Opened, config, named, open_all, unread};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tracemill_join::config::{Config, IndexUse};
use tracemill_testkit::Rng;

/// Size of a trace that is worth an index, in bytes.
const LARGE: usize = 33 << 20;

fn notices(opened: &Opened) -> (Vec<String>, Option<String>) {
    let trace = opened.json("api/trace");
    let warnings = trace["warnings"].as_array().unwrap().iter();
    let warnings = warnings.map(|text| text.as_str().unwrap().to_owned()).collect();
    (warnings, trace["whole"].as_str().map(ToOwned::to_owned))
}

#[test]
fn unsaved_index_is_used_and_reported() {
    let text = padded(&mixed(&mut Rng::new(3)), LARGE);
    let opened = named("a.json", text.as_bytes(), Config { index: IndexUse::Auto, ..config() });
    let beside = opened.path.with_file_name("a.json.tmi");
    for is_file in [true, false] {
        // files of others are not replaced
        match is_file {
            true => std::fs::write(&beside, "notes").unwrap(),
            false => {
                std::fs::remove_file(&beside).and_then(|()| std::fs::create_dir(&beside)).unwrap()
            }
        }
        opened.site.read().unwrap();
        let (warnings, whole) = notices(&opened);
        assert_eq!((opened.json("api/trace")["by_index"].as_bool(), whole), (Some(true), None));
        assert!(
            warnings.len() == 1 && warnings[0].contains("cannot save the index"),
            "{warnings:?}"
        );
        assert!(warnings[0].contains("a.json.tmi exists already"), "{warnings:?}");
    }
    std::fs::remove_dir(&beside).unwrap();
    opened.site.read().unwrap();
    assert_eq!(notices(&opened), (Vec::new(), None));
    assert!(beside.is_file(), "it is kept where it can be");
}

#[test]
fn complete_reads_are_reported_with_their_reason() {
    let text = padded(&mixed(&mut Rng::new(4)), LARGE);
    let never = named("a.json", text.as_bytes(), Config { index: IndexUse::Never, ..config() });
    never.site.read().unwrap();
    assert_eq!(notices(&never).1.unwrap(), "no index was to be asked");
    let packed = tracemill_testkit::packing::zst(text.as_bytes(), usize::MAX);
    let one = named("a.json.zst", &packed, Config { index: IndexUse::Auto, ..config() });
    one.site.read().unwrap();
    assert!(
        notices(&one).1.is_some_and(|why| why.contains("compressed as one block")),
        "{:?}",
        notices(&one)
    );
    // small traces are read without an index
    let small = unread(b"[{\"ph\":\"i\",\"ts\":1}]");
    small.site.read().unwrap();
    assert_eq!(notices(&small), (Vec::new(), None));
}

#[test]
fn complete_read_of_several_inputs_is_reported() {
    let texts = [5, 6].map(|seed| padded(&mixed(&mut Rng::new(seed)), LARGE / 2));
    let opened = open_all(&[&*texts[0], &*texts[1]]);
    let (_, whole) = notices(&opened);
    assert_eq!(
        whole.unwrap(),
        "there are several inputs, and an event that begins in one may end in another"
    );
}

/// Counts, by a pass over all events, how many events of each process begin in each of `parts`
/// equal time ranges.
fn begins(text: &str, parts: usize) -> (u64, Vec<Vec<u64>>) {
    let events: Vec<Value> = serde_json::from_str(text).unwrap();
    let number = |event: &Value, key: &str| event[key].as_f64();
    let timed = events.iter().filter(|event| event["ph"] != "M");
    let times = timed.clone().filter_map(|event| {
        let ts = number(event, "ts")?;
        Some((ts, ts + number(event, "dur").unwrap_or_default()))
    });
    let (start, end) =
        times.fold((f64::MAX, f64::MIN), |all, times| (all.0.min(times.0), all.1.max(times.1)));
    let (mut count, mut processes) = (0, BTreeMap::new());
    let drawn = timed.filter(|event| "XiRIBbSn".contains(event["ph"].as_str().unwrap()));
    // these events are stored separately in the index
    for event in drawn.filter(|event| event["name"] != "CommitLoad") {
        let all = processes.entry(event["pid"].as_u64().unwrap()).or_insert_with(|| vec![0; parts]);
        let at = (number(event, "ts").unwrap() - start) / (end - start) * parts as f64;
        all[(at as usize).min(parts - 1)] += 1;
        count += 1;
    }
    (count, processes.into_values().collect())
}

#[test]
fn events_read_so_far_are_shown_while_the_index_is_built() {
    const PARTS: usize = 16;
    let events = mixed(&mut Rng::new(7));
    let text = padded(&events, LARGE);
    let opened = named("a.json", text.as_bytes(), Config { index: IndexUse::Auto, ..config() });
    let route = format!("api/seen?px={PARTS}");
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| opened.site.read().unwrap());
        let mut before = 0;
        while !reader.is_finished() {
            let now = opened.json(&route)["events"].as_u64().unwrap_or_default();
            assert!(before <= now, "{before} {now}");
            before = now;
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    let (count, mut expected) = begins(&text, PARTS);
    let seen = opened.json(&route);
    assert_eq!(seen["events"], count);
    let trace = opened.json("api/trace");
    assert_eq!((&seen["start"], &seen["duration"]), (&trace["start"], &trace["duration"]));
    // processes come in order of appearance, as fractions of the maximum
    let most = expected.iter().flatten().max().copied().unwrap() as f64;
    let shares = seen["processes"].as_array().unwrap().iter().map(|all| {
        let all = all.as_array().unwrap().iter();
        all.map(|share| share.as_f64().unwrap() / 255.0 * most).collect::<Vec<f64>>()
    });
    let shares: Vec<Vec<f64>> = shares.collect();
    assert_eq!(shares.len(), expected.len());
    for shares_of_one in shares {
        // blocks do not end at the same times as parts
        let is_like = |all: &Vec<u64>| {
            all.iter().zip(&shares_of_one).all(|(a, b)| (*a as f64 - b).abs() < most / 20.0 + 2.0)
        };
        let found = expected.iter().position(is_like);
        expected
            .remove(found.unwrap_or_else(|| panic!("{shares_of_one:?} is none of {expected:?}")));
    }
}
