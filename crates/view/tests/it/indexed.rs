//! Traces by their indexes: at random windows what is shown is what is shown of the trace that was read, to the last interval.

use crate::support::{Opened, config, open, with};
use crate::tiles::{compare_exactly, generate, parse};
use serde_json::Value;
use std::collections::BTreeMap;
use tracemill_pipeline::{Config, IndexConfig, IndexUse, Source, index};
use tracemill_testkit::{Rng, seeds};

/// The site of a trace whose index is asked.
fn open_indexed(text: &[u8]) -> Opened {
    let opened = with(text, Config { index: IndexUse::Auto, ..config() });
    let sources = [Source::Path(opened.path.clone())];
    let made = index(&sources, &IndexConfig::default(), &config()).unwrap();
    assert_eq!(made[0].left_out, [""; 0], "{:?}", made[0].sections);
    opened.site.read().unwrap();
    opened
}

/// The same, whose index is not.
fn open_read(text: &[u8]) -> Opened {
    let config = Config { index: IndexUse::Never, ..config() };
    let opened = with(text, config);
    opened.site.read().unwrap();
    opened
}

/// An interval of a tile: start, duration, name, flags.
type Shown = (u64, u64, String, u8);

/// Lanes of a trace by what they are called, with their numbers.
fn lanes(trace: &Value) -> BTreeMap<String, u32> {
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

/// What stands in a window, by lane.
fn shown(opened: &Opened, route: &str) -> BTreeMap<String, Vec<Shown>> {
    let tile = parse(&opened.bytes(route));
    let (lanes, names) = (lanes(&opened.json("api/trace")), names(opened));
    let of = |number: u32| {
        let lane = &tile[&number];
        assert!(lane.columns.is_empty() || lane.spans.is_empty(), "{route}");
        let spans = lane.spans.iter().zip(&lane.flags);
        let mut spans: Vec<Shown> = spans
            .map(|(own, flags)| {
                let name = names.get(own.2 as usize).cloned().unwrap_or_default();
                (own.0.to_bits(), own.1.to_bits(), name, flags & 1)
            })
            .collect();
        spans.sort_unstable();
        spans
    };
    lanes.into_iter().map(|(name, number)| (name, of(number))).collect()
}

/// Events of every kind that is drawn, in no order.
fn mixed(rng: &mut Rng) -> String {
    let range = rng.pick(&[&3_000_u64, &300_000, &90_000_000]).to_owned();
    let crosses = rng.chance(50);
    let (mut lines, mut ends) = (Vec::new(), Vec::new());
    for number in 0..rng.range(3000, 9000) {
        let (pid, tid, name) = (rng.below(3), rng.below(4), rng.below(40));
        let at = rng.below(range);
        // most are short, some last
        let most = if rng.chance(5) { range / 3 } else { range / 2000 };
        let end = at + rng.below(most + 2);
        let (ts, fine) = (at, rng.below(1000));
        let head = format!(r#""name":"n{name}","pid":{pid},"tid":{tid},"ts":{ts}.{fine:03}"#);
        let late = |ph: &str, rest: &str| {
            format!(
                r#"{{"ph":"{ph}","name":"n{name}","pid":{pid},"tid":{tid},"ts":{end}.{fine:03}{rest}}}"#
            )
        };
        match rng.below(12) {
            0..=4 => lines.push(format!(r#"{{"ph":"X",{head},"dur":{}.25}}"#, end - at)),
            // on a few threads, or on many
            5 | 6 => {
                let own = if crosses { tid } else { 100 + number % 60 };
                lines.push(format!(
                    r#"{{"ph":"B","name":"n{name}","pid":{pid},"tid":{own},"ts":{ts}.{fine:03}}}"#
                ));
                ends.push(format!(
                    r#"{{"ph":"E","name":"n{name}","pid":{pid},"tid":{own},"ts":{end}.{fine:03}}}"#
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
            10 => lines.push(format!(r#"{{"ph":"i","s":"t",{head}}}"#)),
            _ => lines.push(format!(r#"{{"ph":"n","cat":"c{}","id":{number},{head}}}"#, name % 5)),
        }
    }
    // what never ends, and what nothing begins
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
fn windows_of_an_index_show_what_there_is_in_its_rows() {
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
fn windows_of_an_index_are_those_of_the_trace() {
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
            let [own, other] = [&by_index, &by_scan].map(|opened| shown(opened, &route));
            for (lane, own) in &own {
                assert_eq!(own, &other[lane], "seed {seed} {route} {lane}");
            }
        }
    }
}

#[test]
fn about_all_of_it_is_counted() {
    let mut rng = Rng::new(1);
    let (text, known) = generate(&mut rng, 5000);
    let opened = open_indexed(text.as_bytes());
    let end = known.iter().map(|own| own.1 + own.2).max().unwrap();
    let tile = parse(&opened.bytes(&format!("api/tile?from=0&to={end}&px=300&exact=0")));
    let count = |lane: &crate::tiles::Lane| {
        lane.spans.len() as u64 + lane.columns.iter().map(|own| u64::from(own.1)).sum::<u64>()
    };
    let all: u64 = tile.values().map(count).sum();
    // parts of bins are rounded down
    assert!(all <= known.len() as u64 + 1 && all * 100 >= known.len() as u64 * 99, "{all}");
    assert!(tile.values().any(|lane| lane.state == 2));
    opened.bytes("api/overview?px=100");
}

#[test]
fn events_are_found_by_name_in_both_directions() {
    let mut rng = Rng::new(2);
    let (text, known) = generate(&mut rng, 4000);
    let (by_index, by_scan) = (open_indexed(text.as_bytes()), open(text.as_bytes()));
    let end = known.iter().map(|own| own.1 + own.2).max().unwrap();
    for _ in 0..40 {
        let (at, name) = (rng.below(end), rng.below(10));
        for dir in ["", "&dir=back"] {
            let route = format!("api/find?name=n{name}&at={at}{dir}");
            let [own, other] = [&by_index, &by_scan].map(|opened| opened.json(&route));
            for key in ["start", "dur", "place", "name"] {
                assert_eq!(own[key], other[key], "{route}");
            }
            // and on from there
            let Some(place) = own["place"].as_u64() else { continue };
            let start = own["start"].as_f64().unwrap();
            let route = format!("api/find?name=n{name}&at={start}&after={place}{dir}");
            let [own, other] = [&by_index, &by_scan].map(|opened| opened.json(&route));
            assert_eq!(
                (&own["start"], &own["place"]),
                (&other["start"], &other["place"]),
                "{route}"
            );
        }
    }
}

#[test]
fn sums_and_surroundings_are_those_of_the_trace() {
    let mut rng = Rng::new(3);
    let (text, known) = generate(&mut rng, 4000);
    let (by_index, by_scan) = (open_indexed(text.as_bytes()), open(text.as_bytes()));
    let end = known.iter().map(|own| own.1 + own.2).max().unwrap();
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
    for own in known.iter().step_by(97) {
        let key = format!("\"1\" \"thread\" \"Thread {}\"", own.0);
        let above = |opened: &Opened, lanes: &BTreeMap<String, u32>| {
            let route = format!("api/around?lane={}&row={}&start={}", lanes[&key], own.4, own.1);
            let above = opened.json(&route)["above"].as_array().unwrap().clone();
            above.iter().map(|own| (own["text"].clone(), own["start"].clone())).collect::<Vec<_>>()
        };
        assert_eq!(above(&by_index, &threads), above(&by_scan, &whole), "{own:?}");
    }
}

#[test]
fn a_trace_that_changes_is_refused_not_shown_wrong() {
    let mut rng = Rng::new(4);
    let (text, known) = generate(&mut rng, 3000);
    let opened = open_indexed(text.as_bytes());
    let end = known.iter().map(|own| own.1 + own.2).max().unwrap();
    let route = format!("api/tile?from=0&to={}&px=500", end / 2);
    assert_eq!(opened.get(&route).status, 200);
    std::fs::write(&opened.path, text.replace("n1", "nX")).unwrap();
    let other = format!("api/tile?from=0&to={}&px=500", end / 3);
    assert_eq!(opened.get(&other).status, 409);
    assert!(!opened.json("api/trace")["changed"].is_null());
    std::fs::remove_file(&opened.path).unwrap();
    assert_eq!(opened.get(&format!("api/tile?from=0&to={}&px=500", end / 4)).status, 409);
}
