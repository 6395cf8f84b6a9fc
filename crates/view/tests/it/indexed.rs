//! Traces shown by their indexes: random windows equal those of the fully read trace, to the last
//! interval.

use crate::support::{Opened, config, open, open_indexed, with};
use crate::tiles::{compare_exactly, generate, parse};
use serde_json::Value;
use std::collections::BTreeMap;
use tracemill_join::config::{Config, IndexUse};
use tracemill_testkit::{Rng, seeds};

fn open_read(text: &[u8]) -> Opened {
    let config = Config { index: IndexUse::Never, ..config() };
    let opened = with(text, config);
    opened.site.read().unwrap();
    opened
}

/// An interval of a tile: start, duration, name, flags.
type Shown = (u64, u64, String, u8);

/// Returns the lane numbers of a trace by process, kind and name.
pub(crate) fn lanes(trace: &Value) -> BTreeMap<String, u32> {
    let mut all = BTreeMap::new();
    for process in trace["processes"].as_array().unwrap() {
        for lane in process["lanes"].as_array().unwrap() {
            let key = format!("{} {} {}", process["pid"], lane["kind"], lane["name"]);
            assert!(all.insert(key, lane["id"].as_u64().unwrap() as u32).is_none());
        }
    }
    all
}

fn names(opened: &Opened) -> Vec<String> {
    let trace = opened.json("api/trace");
    let count = trace["names"].as_u64().unwrap();
    let names = opened.json(&format!("api/names?ids=0-{}", count - 1));
    let names = names["names"].as_array().unwrap();
    names.iter().map(|name| name["name"].as_str().unwrap().to_owned()).collect()
}

fn shown(opened: &Opened, route: &str) -> BTreeMap<String, Vec<Shown>> {
    let tile = parse(&opened.bytes(route));
    let (lanes, names) = (lanes(&opened.json("api/trace")), names(opened));
    let of = |number: u32| {
        let lane = &tile[&number];
        assert!(lane.columns.is_empty() || lane.spans.is_empty(), "{route}");
        let spans = lane.spans.iter().zip(&lane.flags);
        let mut spans: Vec<Shown> = spans
            .map(|(span, flags)| {
                let name = names.get(span.2 as usize).cloned().unwrap_or_default();
                // in another window an event may be in a row of overlapping events
                (span.0.to_bits(), span.1.to_bits(), name, flags & !4)
            })
            .collect();
        spans.sort_unstable();
        spans
    };
    lanes.into_iter().map(|(name, number)| (name, of(number))).collect()
}

/// Generates events of all drawn kinds, in random order.
pub(crate) fn mixed(rng: &mut Rng) -> String {
    let range = rng.pick(&[&3_000_u64, &300_000, &90_000_000]).to_owned();
    let crosses = rng.chance(50);
    let (mut lines, mut ends) = (Vec::new(), Vec::new());
    for number in 0..rng.range(3000, 9000) {
        let (pid, tid, name) = (rng.below(3), rng.below(4), rng.below(40));
        let at = rng.below(range);
        // most are short, a few are long
        let most = if rng.chance(5) { range / 3 } else { range / 2000 };
        let end = at + rng.below(most + 2);
        let (ts, fine) = (at, rng.below(1000));
        let color = if rng.chance(20) {
            rng.pick(&[r#""cname":"good","#, r#""cname":"olive","#])
        } else {
            ""
        };
        let head =
            format!(r#"{color}"name":"n{name}","pid":{pid},"tid":{tid},"ts":{ts}.{fine:03}"#);
        let late = |ph: &str, rest: &str| {
            format!(
                r#"{{"ph":"{ph}","name":"n{name}","pid":{pid},"tid":{tid},"ts":{end}.{fine:03}{rest}}}"#
            )
        };
        match rng.below(12) {
            0..=4 => lines.push(format!(r#"{{"ph":"X",{head},"dur":{}.25}}"#, end - at)),
            // on a few threads or on many
            5 | 6 => {
                let own_tid = if crosses { tid } else { 100 + number % 60 };
                lines.push(format!(
                    r#"{{"ph":"B","name":"n{name}","pid":{pid},"tid":{own_tid},"ts":{ts}.{fine:03}}}"#
                ));
                ends.push(format!(
                    r#"{{"ph":"E","name":"n{name}","pid":{pid},"tid":{own_tid},"ts":{end}.{fine:03}}}"#
                ));
            }
            7 | 8 => {
                let id = match rng.below(3) {
                    0 => format!(r#","cat":"c{}","id":"0x{number:x}""#, name % 5),
                    1 => format!(r#","cat":"c{}","id2":{{"local":"{number}"}}"#, name % 5),
                    _ => format!(r#","cat":"c{}","scope":"s","id":{number}"#, name % 5),
                };
                let (begin, last) = if rng.chance(80) { ("b", "e") } else { ("S", "F") };
                lines.push(format!(r#"{{"ph":"{begin}",{head}{id}}}"#));
                ends.push(late(last, &id));
            }
            9 => lines.push(format!(
                r#"{{"ph":"C",{head},"args":{{"a":{},"b":{}}}}}"#,
                rng.below(99),
                rng.below(9)
            )),
            10 if rng.chance(30) => lines.push(format!(
                r#"{{"ph":"I","name":"UpdateCounters","pid":{pid},"tid":{tid},"ts":{ts}.{fine:03},"args":{{"data":{{"nodes":{name},"documents":{}}}}}}}"#,
                rng.below(9)
            )),
            10 => lines.push(format!(r#"{{"ph":"i","s":"t",{head}}}"#)),
            _ => lines.push(format!(r#"{{"ph":"n","cat":"c{}","id":{number},{head}}}"#, name % 5)),
        }
    }
    // a begin without an end, and events without a begin
    lines.push(format!(r#"{{"ph":"B","name":"open","pid":1,"tid":77,"ts":{}}}"#, range / 2));
    lines.push(r#"{"ph":"M","name":"process_name","pid":1,"args":{"name":"one"}}"#.to_owned());
    lines.push(format!(
        r#"{{"ph":"X","name":"CommitLoad","pid":1,"tid":1,"ts":{},"dur":{}}}"#,
        range / 4,
        range / 5
    ));
    if rng.chance(60) {
        rng.shuffle(&mut lines);
    }
    lines.extend(ends);
    format!("[{}]", lines.join(",\n"))
}

#[test]
fn indexed_windows_show_the_generated_slices() {
    for seed in seeds(0, 4) {
        let mut rng = Rng::new(seed);
        let size = rng.range(2000, 6000);
        let (text, known) = generate(&mut rng, size);
        let opened = open_indexed(text.as_bytes());
        assert_eq!(opened.json("api/trace")["by_index"], true);
        compare_exactly(&mut rng, &opened, &known);
    }
}

#[test]
fn indexed_windows_equal_fully_read_windows() {
    for seed in seeds(0, 12) {
        let mut rng = Rng::new(seed);
        let text = mixed(&mut rng);
        let (by_index, by_scan) = (open_indexed(text.as_bytes()), open_read(text.as_bytes()));
        assert_eq!(by_index.json("api/trace")["by_index"], true, "seed {seed}");
        let (trace, whole) = (by_index.json("api/trace"), by_scan.json("api/trace"));
        for key in ["start", "end", "events", "bytes", "lost"] {
            assert_eq!(trace[key], whole[key], "seed {seed}: {key}");
        }
        assert_eq!(
            lanes(&trace).keys().collect::<Vec<_>>(),
            lanes(&whole).keys().collect::<Vec<_>>(),
            "seed {seed}"
        );
        let end = whole["duration"].as_str().unwrap().parse::<u64>().unwrap();
        for _ in 0..10 {
            let from = rng.below(end);
            let to = from + 1 + rng.below(end - from);
            let route = format!("api/tile?from={from}&to={to}&px=500");
            let [indexed, scanned] = [&by_index, &by_scan].map(|opened| shown(opened, &route));
            for (lane, indexed) in &indexed {
                assert_eq!(indexed, &scanned[lane], "seed {seed} {route} {lane}");
            }
        }
    }
}

#[test]
fn bins_count_all_events_approximately() {
    let mut rng = Rng::new(1);
    let (text, known) = generate(&mut rng, 5000);
    let opened = open_indexed(text.as_bytes());
    let end = known.iter().map(|span| span.1 + span.2).max().unwrap();
    let tile = parse(&opened.bytes(&format!("api/tile?from=0&to={end}&px=300&exact=0")));
    let count = |lane: &crate::tiles::Lane| {
        lane.spans.len() as u64 + lane.columns.iter().map(|column| u64::from(column.1)).sum::<u64>()
    };
    let all: u64 = tile.values().map(count).sum();
    // fractions of bins are rounded down
    assert!(all <= known.len() as u64 + 1 && all * 100 >= known.len() as u64 * 99, "{all}");
    assert!(tile.values().any(|lane| lane.state == 2));
    opened.bytes("api/overview?px=100");
}

#[test]
fn events_are_found_by_name_in_both_directions() {
    let mut rng = Rng::new(2);
    let (text, known) = generate(&mut rng, 4000);
    let (by_index, by_scan) = (open_indexed(text.as_bytes()), open(text.as_bytes()));
    let end = known.iter().map(|span| span.1 + span.2).max().unwrap();
    for _ in 0..40 {
        let (at, name) = (rng.below(end), rng.below(10));
        for dir in ["", "&dir=back"] {
            let route = format!("api/find?name=n{name}&at={at}{dir}");
            let [indexed, scanned] = [&by_index, &by_scan].map(|opened| opened.json(&route));
            for key in ["start", "dur", "place", "text"] {
                assert_eq!(indexed[key], scanned[key], "{route}");
            }
            // continue from the found event
            let Some(place) = indexed["place"].as_u64() else { continue };
            let start = indexed["start"].as_f64().unwrap();
            let route = format!("api/find?name=n{name}&at={start}&after={place}{dir}");
            let [indexed, scanned] = [&by_index, &by_scan].map(|opened| opened.json(&route));
            assert_eq!(
                (&indexed["start"], &indexed["place"]),
                (&scanned["start"], &scanned["place"]),
                "{route}"
            );
        }
    }
}

#[test]
fn indexed_sums_and_ancestors_equal_fully_read_ones() {
    let mut rng = Rng::new(3);
    let (text, known) = generate(&mut rng, 4000);
    let (by_index, by_scan) = (open_indexed(text.as_bytes()), open(text.as_bytes()));
    let end = known.iter().map(|span| span.1 + span.2).max().unwrap();
    for _ in 0..10 {
        let from = rng.below(end);
        let to = from + 1 + rng.below((end - from).min(500_000) + 1);
        let sums = |opened: &Opened| {
            let stats = opened.json(&format!("api/stats?from={from}&to={to}"));
            assert_eq!(stats["exact"], true);
            let rows = stats["names"].as_array().unwrap().iter().map(|row| {
                let key = row["name"].as_str().unwrap().to_owned();
                (key, ["count", "total", "self", "min", "max"].map(|key| row[key].to_string()))
            });
            rows.collect::<BTreeMap<_, _>>()
        };
        assert_eq!(sums(&by_index), sums(&by_scan), "{from} {to}");
    }
    let (threads, whole) = (lanes(&by_index.json("api/trace")), lanes(&by_scan.json("api/trace")));
    for span in known.iter().step_by(97) {
        let key = format!("\"1\" \"thread\" \"Thread {}\"", span.0);
        let above = |opened: &Opened, lanes: &BTreeMap<String, u32>| {
            let route = format!("api/around?lane={}&row={}&start={}", lanes[&key], span.4, span.1);
            let above = opened.json(&route)["above"].as_array().unwrap().clone();
            above
                .iter()
                .map(|ancestor| (ancestor["text"].clone(), ancestor["start"].clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(above(&by_index, &threads), above(&by_scan, &whole), "{span:?}");
    }
}

#[test]
fn modified_trace_is_rejected() {
    let mut rng = Rng::new(4);
    let (text, known) = generate(&mut rng, 3000);
    let opened = open_indexed(text.as_bytes());
    let end = known.iter().map(|span| span.1 + span.2).max().unwrap();
    let route = format!("api/tile?from=0&to={}&px=500", end / 2);
    assert_eq!(opened.get(&route).status, 200);
    std::fs::write(&opened.path, text.replace("n1", "nX")).unwrap();
    let other = format!("api/tile?from=0&to={}&px=500", end / 3);
    assert_eq!(opened.get(&other).status, 409);
    assert!(!opened.json("api/trace")["changed"].is_null());
    std::fs::remove_file(&opened.path).unwrap();
    assert_eq!(opened.get(&format!("api/tile?from=0&to={}&px=500", end / 4)).status, 409);
}

/// Checks that lanes and intervals in several windows do not depend on the use of an index.
pub(crate) fn are_same(rng: &mut Rng, (by_index, by_scan): (&Opened, &Opened), what: &str) {
    let (trace, whole) = (by_index.json("api/trace"), by_scan.json("api/trace"));
    assert_eq!(trace["by_index"], true, "{what}");
    for key in ["start", "end", "events", "bytes", "lost"] {
        assert_eq!(trace[key], whole[key], "{what}: {key}");
    }
    let damage = |trace: &Value| {
        let all = trace["damage"].as_array().unwrap().iter();
        all.map(|damage| ["kind", "offset", "bytes", "at"].map(|key| damage[key].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(damage(&trace), damage(&whole), "{what}");
    let (indexed, scanned) = (lanes(&trace), lanes(&whole));
    assert_eq!(indexed.keys().collect::<Vec<_>>(), scanned.keys().collect::<Vec<_>>(), "{what}");
    let end = whole["duration"].as_str().unwrap().parse::<u64>().unwrap();
    for _ in 0..6 {
        let from = rng.below(end);
        let most = 1 << rng.range(10, 40);
        let to = from + 1 + rng.below((end - from).min(most));
        let route = format!("api/tile?from={from}&to={to}&px=500&exact=20000");
        let [indexed, scanned] = [by_index, by_scan].map(|opened| shown(opened, &route));
        for (lane, indexed) in &indexed {
            assert_eq!(indexed, &scanned[lane], "{what} {route} {lane}");
        }
    }
}

#[test]
fn calls_are_added_later_and_equal_fully_read_ones() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");
    for (seed, name) in ["node/trace.json", "node/trace-2.json"].iter().enumerate() {
        let text = std::fs::read(format!("{data}/{name}")).unwrap();
        let (by_index, by_scan) = (open_indexed(&text), open_read(&text));
        let before = by_index.json("api/trace");
        assert_eq!((&before["calls"], &before["by_index"]), (&true.into(), &true.into()));
        let kinds =
            |trace: &Value| lanes(trace).keys().filter(|key| key.contains("\"calls\"")).count();
        assert_eq!(kinds(&before), 0);
        by_index.site.read_calls().unwrap();
        let after = by_index.json("api/trace");
        assert_eq!(after["calls"], false);
        assert!(kinds(&after) > 0, "{name}");
        are_same(&mut Rng::new(seed as u64), (&by_index, &by_scan), name);
        // also by name
        for name in ["(anonymous)", "wrapModuleLoad"] {
            let count = |opened: &Opened| {
                opened.json(&format!("api/names?q={name}"))["names"][0]["count"].clone()
            };
            assert_eq!(count(&by_index), count(&by_scan), "{name}");
            let found = |opened: &Opened| {
                let found = opened.json(&format!("api/find?name={name}&at=0"));
                ["start", "dur", "text"].map(|key| found[key].clone())
            };
            assert_eq!(found(&by_index), found(&by_scan), "{name}");
        }
    }
}

#[test]
fn damaged_traces_are_shown_by_their_indexes() {
    let mut by_indexes = 0;
    for seed in seeds(0, 24) {
        let mut rng = Rng::new(seed);
        let mut text = mixed(&mut rng).into_bytes();
        for _ in 0..rng.range(1, 6) {
            let at = rng.below(text.len() as u64 - 40) as usize + 20;
            match rng.below(4) {
                0 => text[at] = b"\"{}\0\\x"[rng.below(6) as usize],
                1 => drop(text.drain(at..at + 1 + rng.below(20) as usize)),
                2 => drop(text.splice(at..at, *b"?!?")),
                _ => text.truncate(text.len() - 1 - rng.below(30) as usize),
            }
        }
        let (by_index, by_scan) = (open_indexed(&text), open_read(&text));
        if by_index.json("api/trace")["by_index"] == false {
            continue;
        }
        are_same(&mut rng, (&by_index, &by_scan), &format!("seed {seed}"));
        by_indexes += 1;
    }
    assert!(by_indexes > 0);
}
