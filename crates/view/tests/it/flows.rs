//! Arrows and ancestors, compared with the flows from which random traces were generated.

use crate::support::{Opened, open, open_indexed};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use tracemill_testkit::{Rng, seeds};

/// A slice: thread, row, start and end in µs.
type Slice = (u64, u64, u64, u64);

/// Generates slices, some with one nested slice, spaced so that every slice has its own time.
fn slices(rng: &mut Rng) -> Vec<Slice> {
    let mut all = Vec::new();
    for tid in 1..=rng.range(1, 4) {
        let mut at = 10;
        for _ in 0..rng.range(1, 12) {
            let length = rng.range(40, 200);
            all.push((tid, 0, at, at + length));
            if rng.chance(60) {
                all.push((tid, 1, at + 10, at + length - 10));
            }
            at += length + rng.range(1, 50);
        }
    }
    all
}

fn lanes(opened: &Opened) -> BTreeMap<u64, u64> {
    let trace = opened.json("api/trace");
    let drawn = trace["processes"][0]["lanes"].as_array().unwrap();
    let tid = |lane: &Value| {
        lane["name"].as_str().unwrap().trim_start_matches("Thread ").parse().unwrap()
    };
    drawn.iter().map(|lane| (tid(lane), lane["id"].as_u64().unwrap())).collect()
}

#[test]
fn arrows_connect_the_slices_of_each_flow() {
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed);
        let all = slices(&mut rng);
        let mut lines: Vec<String> = all
            .iter()
            .map(|(tid, row, from, to)| {
                format!(r#"{{"ph":"X","name":"r{row} {from}","pid":1,"tid":{tid},"ts":{from},"dur":{}}}"#, to - from)
            })
            .collect();
        let mut wanted: BTreeSet<Arrow> = BTreeSet::new();
        // arrows of flows without steps
        let mut whole = wanted.clone();
        for id in 0..rng.range(0, 9) {
            let mut points: Vec<(u64, Slice)> = (0..rng.range(2, 5))
                .map(|at| {
                    let slice = all[rng.below(all.len() as u64) as usize];
                    // distinct times within a flow, where the row below is empty
                    (slice.2 + 1 + at, slice)
                })
                .collect();
            points.sort_unstable();
            points.dedup_by_key(|point| point.0);
            let last = points.len() - 1;
            for (at, (ts, (tid, ..))) in points.iter().enumerate() {
                let (phase, more) = match at {
                    0 => ("s", ""),
                    _ if at == last => ("f", r#","bp":"e""#),
                    _ if rng.chance(50) => ("t", r#","bp":"e""#),
                    _ => ("t", ""),
                };
                lines.push(format!(
                    r#"{{"ph":"{phase}","name":"flow","cat":"c","id":"{id:#x}","pid":1,"tid":{tid},"ts":{ts}{more}}}"#
                ));
            }
            let arrows = points.windows(2).map(|two| (two[0].1, two[0].0, two[1].1, two[1].0));
            if last == 1 {
                whole.extend(arrows.clone());
            }
            wanted.extend(arrows);
        }
        rng.shuffle(&mut lines);
        let text = format!("[{}]", lines.join(",\n"));
        let what = format!("seed {seed}");
        assert_eq!(arrows(&open(text.as_bytes()), &all, &what), wanted, "{what}");
        // an index lists begins and ends of flows at any distance
        let found = arrows(&open_indexed(text.as_bytes()), &all, &what);
        assert!(found.is_subset(&wanted) && whole.is_subset(&found), "{what}: {found:?}");
    }
}

/// An arrow between two slices, each with the time of its flow event.
type Arrow = (Slice, u64, Slice, u64);

/// Returns the arrows of all slices, and checks their ancestors.
fn arrows(opened: &Opened, all: &[Slice], what: &str) -> BTreeSet<Arrow> {
    let (lanes, start) = (lanes(opened), 10);
    let mut found = BTreeSet::new();
    for slice in all {
        let (lane, at) = (lanes[&slice.0], (slice.2 - start) * 1000);
        let around = opened.json(&format!("api/around?lane={lane}&row={}&start={at}", slice.1));
        let of = |end: &Value| -> Slice {
            let tid = *lanes.iter().find(|(_, lane)| end["lane"] == **lane).unwrap().0;
            let ns = |value: &Value| (value.as_f64().unwrap() / 1000.0) as u64;
            let from = ns(&end["start"]) + start;
            (tid, end["row"].as_u64().unwrap(), from, from + ns(&end["dur"]))
        };
        let above: Vec<Slice> = around["above"].as_array().unwrap().iter().map(of).collect();
        let holds = |other: &&Slice| {
            other.0 == slice.0 && other.1 < slice.1 && other.2 <= slice.2 && other.3 >= slice.3
        };
        let holding: Vec<Slice> = all.iter().filter(holds).copied().collect();
        assert_eq!(above, holding, "{what}: {slice:?}");
        for arrow in around["arrows"].as_array().unwrap() {
            let time = |key: &str| (arrow[key].as_f64().unwrap() / 1000.0) as u64 + start;
            let (from, to) = (of(&arrow["from"]), of(&arrow["to"]));
            assert!(from == *slice || to == *slice, "{what}");
            found.insert((from, time("from_time"), to, time("to_time")));
        }
    }
    found
}

/// Returns the names of the slices that each arrow of a slice connects.
fn arrow_texts(opened: &Opened, tid: u64, at: u64) -> Vec<String> {
    let lane = lanes(opened)[&tid];
    let around = opened.json(&format!("api/around?lane={lane}&row=0&start={at}"));
    let text = |arrow: &Value| format!("{}>{}", arrow["from"]["text"], arrow["to"]["text"]);
    around["arrows"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn steps_bind_to_the_slice_around_them_with_or_without_bp() {
    for bp in ["", r#","bp":"e""#] {
        let text = format!(
            r#"[{{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10}},
            {{"ph":"s","name":"n","cat":"c","id":1,"pid":1,"tid":1,"ts":5}},
            {{"ph":"X","name":"b","pid":1,"tid":2,"ts":20,"dur":10}},
            {{"ph":"t","name":"n","cat":"c","id":1,"pid":1,"tid":2,"ts":25{bp}}},
            {{"ph":"f","name":"n","cat":"c","id":1,"pid":1,"tid":2,"ts":35}},
            {{"ph":"X","name":"c","pid":1,"tid":2,"ts":40,"dur":10}}]"#
        );
        let opened = open(text.as_bytes());
        assert_eq!(arrow_texts(&opened, 1, 0), [r#""a">"b""#], "{bp}");
        assert_eq!(arrow_texts(&opened, 2, 20_000), [r#""a">"b""#, r#""b">"c""#], "{bp}");
        assert_eq!(arrow_texts(&opened, 2, 40_000), [r#""b">"c""#], "{bp}");
    }
}

#[test]
fn flows_bind_to_next_slice_or_by_bind_id() {
    let opened = open(
        br#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10,"bind_id":"0x5","flow_out":true},
        {"ph":"s","name":"n","cat":"c","id":1,"pid":1,"tid":1,"ts":5},
        {"ph":"f","name":"n","cat":"c","id":1,"pid":1,"tid":2,"ts":12},
        {"ph":"X","name":"b","pid":1,"tid":2,"ts":20,"dur":10},
        {"ph":"X","name":"c","pid":1,"tid":2,"ts":40,"dur":10,"bind_id":"0x5","flow_in":true},
        {"ph":"s","name":"alone","cat":"c","id":9,"pid":1,"tid":2,"ts":45}]"#,
    );
    let around = |tid: u64, at: u64| arrow_texts(&opened, tid, at);
    assert_eq!(around(1, 0), [r#""a">"c""#, r#""a">"b""#]);
    assert_eq!(around(2, 20_000), [r#""a">"b""#]);
    assert_eq!(around(2, 40_000), [r#""a">"c""#]);
    for wrong in ["lane=9&row=0&start=0", "lane=0&row=7&start=0", "lane=0&row=0&start=1"] {
        assert_eq!(opened.get(&format!("api/around?{wrong}")).status, 404, "{wrong}");
    }
}
