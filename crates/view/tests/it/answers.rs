//! Answers about names, calls and selections, compared with naive computations.

use crate::support::{Opened, named, open, open_indexed};
use crate::tiles::generate;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use tracemill_testkit::Rng;

fn lanes(opened: &Opened) -> Vec<Value> {
    let trace = opened.json("api/trace");
    let processes = trace["processes"].as_array().unwrap().iter();
    processes.flat_map(|process| process["lanes"].as_array().unwrap().clone()).collect()
}

/// Finds all events with a name, one after the other.
fn found(opened: &Opened, name: &str, at: i64, dir: &str) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    let mut route = format!("api/find?name={name}&at={at}{dir}");
    loop {
        let next = opened.json(&route);
        if next.is_null() {
            return all;
        }
        assert!(!all.contains(&next), "{route}");
        let [start, place, lane, row] = ["start", "place", "lane", "row"].map(|key| &next[key]);
        let start = start.as_f64().unwrap();
        let place = place.as_f64().unwrap();
        route = format!("api/find?name={name}&at={start}&after={place}&lane={lane}&row={row}{dir}");
        all.push(next);
    }
}

#[test]
fn busy_time_is_that_of_outermost_events_with_an_end() {
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let (mut events, mut busy, mut at) = (Vec::new(), 0, 0);
        for _ in 0..rng.range(1, 40) {
            at += rng.below(20);
            if rng.chance(20) {
                events.push(format!(r#"{{"ph":"B","name":"open","pid":1,"tid":1,"ts":{at}}}"#));
                continue;
            }
            let dur = rng.range(2, 30);
            let event = |ts: u64, dur: u64| {
                format!(r#"{{"ph":"X","name":"x","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
            };
            events.extend([event(at, dur), event(at + 1, dur - 1)]);
            busy += dur * 1000;
            at += dur + 1;
        }
        events.push(format!(r#"{{"ph":"b","name":"y","cat":"c","id":1,"pid":1,"ts":{at}}}"#));
        events.push(r#"{"ph":"e","name":"y","cat":"c","id":1,"pid":1,"ts":9999}"#.to_owned());
        let opened = open(format!("[{}]", events.join(",")).as_bytes());
        let thread = lanes(&opened).into_iter().find(|lane| lane["kind"] == "thread");
        assert_eq!(thread.map_or(0, |lane| lane["busy"].as_u64().unwrap()), busy, "{seed}");
    }
}

#[test]
fn matches_are_numbered_in_the_order_of_the_search() {
    let (text, _) = generate(&mut Rng::new(5), 1500);
    let opened = open(text.as_bytes());
    let end: f64 = opened.json("api/trace")["duration"].as_str().unwrap().parse().unwrap();
    for name in ["n1", "n7", "nowhere"] {
        let forwards = found(&opened, name, 0, "");
        let mut backwards = found(&opened, name, end as i64 + 1, "&dir=back");
        backwards.reverse();
        assert_eq!(forwards, backwards, "{name}");
        let all = opened.json(&format!("api/matches?q={name}&px=50"));
        assert_eq!(all["count"], forwards.len(), "{name}");
        assert!(all["rank"].is_null());
        let column = |event: &Value| (event["start"].as_f64().unwrap() / (end / 50.0)) as u64;
        let mut columns: Vec<u64> = forwards.iter().map(|event| column(event).min(49)).collect();
        columns.dedup();
        assert_eq!(all["columns"], Value::from(columns), "{name}");
        for (at, event) in forwards.iter().enumerate().step_by(17) {
            let [start, place] = ["start", "place"].map(|key| event[key].as_f64().unwrap());
            let (lane, row) = (&event["lane"], &event["row"]);
            let current = format!("&at={start}&after={place}&lane={lane}&row={row}");
            let ranked = opened.json(&format!("api/matches?q={name}&px=50{current}"));
            assert_eq!(ranked["rank"], at + 1, "{name} {event}");
        }
    }
}

#[test]
fn an_index_counts_all_matches_and_marks_where_they_are() {
    let (text, _) = generate(&mut Rng::new(6), 4000);
    let [exact, by_index] = [open(text.as_bytes()), open_indexed(text.as_bytes())]
        .map(|opened| opened.json("api/matches?q=n3&px=64"));
    assert_eq!(exact["count"], by_index["count"]);
    let columns = by_index["columns"].as_array().unwrap();
    assert!(exact["columns"].as_array().unwrap().iter().all(|column| columns.contains(column)));
}

/// Functions f and g; g is called by f for one of three samples.
const PROFILE: &str = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2]},
{"id":2,"callFrame":{"functionName":"f","scriptId":"1","url":"file:///a/app.mjs","lineNumber":4,"columnNumber":20},"children":[3]},
{"id":3,"callFrame":{"functionName":"g","scriptId":"1","url":"file:///a/app.mjs","lineNumber":9,"columnNumber":2}}],
"startTime":1000,"endTime":5000,"samples":[2,3,2],"timeDeltas":[1000,1000,1000]}"#;

#[test]
fn calls_have_a_location_and_a_self_time() {
    let opened = named("a.cpuprofile", PROFILE.as_bytes(), crate::support::config());
    opened.site.read().unwrap();
    let all = found(&opened, "", 0, "");
    let of = |name: &str| all.iter().find(|call| call["text"] == name).unwrap();
    for (name, place) in [("f", "file:///a/app.mjs:5:21"), ("g", "file:///a/app.mjs:10:3")] {
        let number = -2.0 - of(name)["place"].as_f64().unwrap();
        let names = opened.json(&format!("api/names?ids={number}"));
        assert_eq!(names["names"][0]["name"], place);
    }
    let around = |call: &Value| {
        let (lane, row, start) = (&call["lane"], &call["row"], call["start"].as_f64().unwrap());
        opened.json(&format!("api/around?lane={lane}&row={row}&start={start}"))
    };
    let [f, g] = ["f", "g"].map(|name| around(of(name)));
    let dur = |call: &Value| call["event"]["dur"].as_i64().unwrap();
    assert_eq!(f["self"].as_i64().unwrap(), dur(&f) - dur(&g), "{f} {g}");
    assert_eq!(g["self"].as_i64().unwrap(), dur(&g));
    assert_eq!(f["event"], *of("f"));
    // locations are not names of events
    assert_eq!(opened.json("api/names?q=app.mjs")["count"], 0);
}

/// Returns the rows of a tree in a window of some lanes: self and total time in ns, by name.
fn tree(opened: &Opened, query: &str) -> BTreeMap<String, (i64, i64)> {
    let tree = opened.json(&format!("api/tree?{query}"));
    assert_eq!(tree["state"], "ready", "{tree}");
    let rows = tree["rows"].as_array().unwrap().iter().filter(|row| row["depth"] == 0);
    let nanos = |row: &Value, key: &str| (row[key].as_f64().unwrap() * 1e6).round() as i64;
    rows.map(|row| {
        (row["name"].as_str().unwrap().to_owned(), (nanos(row, "self"), nanos(row, "total")))
    })
    .collect()
}

#[test]
fn trees_have_the_times_of_the_statistics() {
    let mut events = Vec::new();
    let mut rng = Rng::new(8);
    for tid in 0..3 {
        for at in 0..60 {
            let (ts, dur) = (at * 100, rng.range(40, 90));
            for (ts, dur) in [(ts, dur), (ts + 5, dur - 10), (ts + 8, 3)] {
                let name = rng.below(6);
                events.push(format!(
                    r#"{{"ph":"X","name":"n{name}","pid":1,"tid":{tid},"ts":{ts},"dur":{dur}}}"#
                ));
            }
        }
    }
    let opened = open(format!("[{}]", events.join(",")).as_bytes());
    let window = "from=1234000&to=4321000";
    assert_eq!(opened.json(&format!("api/tree?{window}"))["state"], "reading");
    opened.site.read_causes().unwrap();
    for lanes in ["", "&lanes=1", "&lanes=0,2"] {
        let stats = opened.json(&format!("api/stats?{window}{lanes}"));
        let names = stats["names"].as_array().unwrap();
        let bottom_up = tree(&opened, &format!("{window}{lanes}&shape=bottom-up"));
        for row in names.iter().filter(|row| row["self"].as_f64().unwrap() > 0.0) {
            let name = row["name"].as_str().unwrap();
            assert_eq!(bottom_up[name].0, row["self"].as_f64().unwrap() as i64, "{lanes} {row}");
        }
        let sum = |tree: BTreeMap<String, (i64, i64)>, of: fn((i64, i64)) -> i64| {
            tree.into_values().map(of).sum::<i64>()
        };
        let total = sum(tree(&opened, &format!("{window}{lanes}")), |(_, total)| total);
        assert_eq!(total, sum(bottom_up, |(self_time, _)| self_time), "{lanes}");
    }
}

#[test]
fn longest_event_of_a_name_is_named() {
    let (text, _) = generate(&mut Rng::new(9), 800);
    let opened = open(text.as_bytes());
    let stats = opened.json("api/stats?from=0&to=999999999999");
    for row in stats["names"].as_array().unwrap() {
        let longest = &row["longest"];
        assert_eq!((&longest["dur"], &longest["text"]), (&row["max"], &row["name"]), "{row}");
        let (lane, at, start) =
            (&longest["lane"], &longest["row"], longest["start"].as_f64().unwrap());
        let around = opened.json(&format!("api/around?lane={lane}&row={at}&start={start}"));
        assert_eq!(around["event"]["text"], row["name"], "{row}");
    }
}

fn read_twice(opened: &Opened) -> Value {
    assert_eq!(opened.json("api/pages")["state"], "reading");
    opened.site.read_causes().unwrap();
    opened.json("api/pages")
}

#[test]
fn page_of_chrome_has_markers_frames_and_screenshots() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tracks/page.json");
    let text = std::fs::read(path).unwrap();
    let opened = open(&text);
    let pages = read_twice(&opened);
    let markers = pages["markers"].as_array().unwrap().iter().map(|marker| &marker["name"]);
    assert!(markers.eq(["Nav"]), "{pages}");
    let end: f64 = opened.json("api/trace")["duration"].as_str().unwrap().parse().unwrap();
    let tracks = pages["tracks"].as_array().unwrap();
    assert!(tracks.iter().any(|track| track["name"] == "frames"), "{pages}");
    for row in tracks.iter().flat_map(|track| track["rows"].as_array().unwrap()) {
        let start = row["start"].as_f64().unwrap();
        assert!((0.0..=end).contains(&start), "{row}");
    }
    // an index has no screenshots; the second pass finds them
    let by_index = open_indexed(&text);
    for (opened, pages) in [(&opened, &pages), (&by_index, &read_twice(&by_index))] {
        let shots = pages["shots"].as_array().unwrap();
        assert!(!shots.is_empty());
        for shot in shots {
            let text =
                opened.bytes(&format!("api/event?place={}", shot["place"].as_f64().unwrap()));
            let event: Value = serde_json::from_slice(&text).unwrap();
            assert_eq!(event["name"], "Screenshot");
        }
    }
}

#[test]
fn names_that_devtools_knows_have_categories() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/chromium/trace.json.gz");
    let opened = named("trace.json.gz", &std::fs::read(path).unwrap(), crate::support::config());
    opened.site.read().unwrap();
    let trace = opened.json("api/trace");
    let scripting = trace["categories"]["scripting"].as_array().unwrap();
    let ids: Vec<String> = scripting.iter().map(ToString::to_string).collect();
    let names = opened.json(&format!("api/names?ids={}", ids.join(",")));
    let mut names = names["names"].as_array().unwrap().iter();
    assert!(names.any(|name| name["name"] == "FunctionCall"));
}
