//! Several inputs shown as one trace: the page and its slices equal the output of `merge`.

use crate::support::{Opened, config, open, open_all};
use crate::tiles::parse;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use tracemill_join::config::{Align, IdPolicy, PidPolicy};
use tracemill_pipeline::merge;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;
use tracemill_trace::output::target::OutputConfig;

/// Creates a trace of one process that starts at a time in µs.
fn process(pid: u32, name: &str, from: u32) -> String {
    let mut text = format!(
        r#"[{{"ph":"M","name":"process_name","pid":{pid},"tid":0,"args":{{"name":"{name}"}}}}"#
    );
    for at in 0..20 {
        let ts = from + at * 10;
        write!(text, ",\n{{\"ph\":\"X\",\"name\":\"{name} {at}\",\"pid\":{pid},\"tid\":1,\"ts\":{ts},\"dur\":7}}").unwrap();
    }
    text + "]"
}

fn merged(opened: &Opened, count: usize) -> Vec<u8> {
    let folder = opened.path.parent().unwrap();
    let sources: Vec<Source> =
        (0..count).map(|at| Source::Path(folder.join(format!("{at}.json")))).collect();
    let mut config = config();
    (config.identity.pid, config.identity.ids) = (PidPolicy::Auto, IdPolicy::Auto);
    config.clocks.align = Align::Auto;
    let written = Arc::new(Mutex::new(Vec::new()));
    merge(&sources, &OutputConfig::writer(Arc::clone(&written)), &config).unwrap();
    std::mem::take(&mut written.lock().unwrap())
}

/// Intervals (start, duration, name, row) by process, lane kind and lane name.
type Shown = BTreeMap<(String, String, String, String), Vec<(u64, u64, String, u16)>>;

fn shown(opened: &Opened) -> Shown {
    let trace = opened.json("api/trace");
    let last = trace["names"].as_u64().unwrap() - 1;
    let names = opened.json(&format!("api/names?ids=0-{last}"));
    let to = trace["duration"].as_str().unwrap().parse::<u64>().unwrap() + 1;
    let tiles = parse(&opened.bytes(&format!("api/tile?from=0&to={to}&px=1000")));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut all = Shown::new();
    for process in trace["processes"].as_array().unwrap() {
        for lane in process["lanes"].as_array().unwrap() {
            let key = (text(&process["pid"]), text(&process["name"]), text(&lane["kind"]));
            let key = (key.0, key.1, key.2, text(&lane["name"]));
            let span = &tiles[&(lane["id"].as_u64().unwrap() as u32)].spans;
            let spans = span.iter().map(|&(start, dur, name, row)| {
                // durations of counter samples are values
                let name = text(&names["names"][name as usize]["name"]);
                (start.to_bits(), dur.to_bits(), name, row)
            });
            assert!(all.insert(key, spans.collect()).is_none(), "lanes have names of their own");
        }
    }
    all
}

/// Generates events of threads, operations and counters at unique times, optionally with separate
/// pids.
fn input(rng: &mut Rng, number: u64, is_apart: bool) -> String {
    let base = if is_apart { number * 100 } else { 0 };
    let mut lines = Vec::new();
    let pids: Vec<u64> = (0..rng.range(1, 3)).map(|_| base + rng.range(5, 8)).collect();
    for pid in &pids {
        let name = rng.pick(&["server", "client"]);
        lines.push(format!(
            r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":"{name}"}}}}"#
        ));
    }
    let from = if rng.chance(40) { number * 100_000 } else { 0 };
    for at in 0..rng.range(5, 60) {
        let (pid, tid) = (pids[rng.below(pids.len() as u64) as usize], rng.range(1, 3));
        let (ts, id) = (from + at * 50 + number * 7 + 1, base + rng.range(1, 4));
        let end = ts + rng.range(1, 300) * 50 + 3;
        let of = format!(r#""pid":{pid},"tid":{tid}"#);
        lines.push(match rng.below(5) {
            0 => format!(r#"{{"ph":"X","name":"x{at}",{of},"ts":{ts},"dur":11}}"#),
            1 => format!(r#"{{"ph":"B","name":"b",{of},"ts":{ts}}},{{"ph":"E",{of},"ts":{end}}}"#),
            2 => format!(r#"{{"ph":"b","name":"o","cat":"c","id":{id},{of},"ts":{ts}}},{{"ph":"e","name":"o","cat":"c","id":{id},{of},"ts":{end}}}"#),
            3 => format!(r#"{{"ph":"b","name":"l","cat":"c","id2":{{"local":"0x{id}"}},{of},"ts":{ts}}}"#),
            _ => format!(r#"{{"ph":"C","name":"heap",{of},"ts":{ts},"args":{{"value":{at}}}}}"#),
        });
    }
    let events = lines.join(",\n");
    match !is_apart && rng.chance(50) {
        true => {
            let base = 1_700_000_000_000_000_000 + rng.below(5) * 1_000_000_000;
            format!(r#"{{"baseTimeNanoseconds":{base},"traceEvents":[{events}]}}"#)
        }
        false => format!("[{events}]"),
    }
}

#[test]
fn several_inputs_are_shown_like_their_merge() {
    let (mut same, mut moved) = (0, 0);
    for seed in seeds(0, 60) {
        let mut rng = Rng::new(seed);
        let count = rng.range(2, 4) as usize;
        let is_apart = rng.chance(30);
        let texts: Vec<String> =
            (0..count).map(|at| input(&mut rng, at as u64, is_apart)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let opened = open_all(&texts);
        let whole = merged(&opened, count);
        let one = open(&whole);
        let (trace, wanted) = (opened.json("api/trace"), one.json("api/trace"));
        for key in ["start", "end", "events", "unended", "lone_ends", "folded", "undrawn"] {
            assert_eq!(trace[key], wanted[key], "seed {seed}: {key}");
        }
        assert_eq!(shown(&opened), shown(&one), "seed {seed}");
        let is_merged = trace["merged"] == true;
        assert_eq!(is_merged, trace["joined"].is_string(), "seed {seed}");
        (same, moved) = (same + u32::from(!is_merged), moved + u32::from(is_merged));
        if is_merged {
            // slices equal slices of that merge
            let route = "slice.ndjson?from=1000&to=900000";
            assert!(opened.bytes(route) == one.bytes(route), "seed {seed}");
            assert!(opened.bytes(route) == one.bytes(route), "seed {seed}: again");
        }
    }
    assert!(same > 5 && moved > 5, "{same} {moved}");
}

#[test]
fn changes_by_a_merge_are_reported() {
    let opened = open_all(&[&process(7, "a", 0), &process(7, "b", 5), &process(8, "c", 0)]);
    let sentence = opened.site.joined().expect("pid 7 is two processes");
    assert!(
        sentence.starts_with("pid 7 of ") && sentence.ends_with("1.json is shown as 10000007"),
        "{sentence}"
    );
    let trace = opened.json("api/trace");
    assert_eq!(
        (&trace["joined"], trace["inputs"].as_array().unwrap().len()),
        (&sentence.into(), 3)
    );
    let of = |process: &Value| (process["pid"].clone(), process["inputs"].clone());
    let processes: Vec<_> = trace["processes"].as_array().unwrap().iter().map(of).collect();
    let wanted = [("7", 0), ("10000007", 1), ("8", 2)];
    assert_eq!(processes, wanted.map(|(pid, input)| (pid.into(), vec![input].into())));
    // each event belongs to the input that contains it
    let found = opened.json("api/find?name=b%203&at=0");
    let at = |input: usize| trace["inputs"][input]["at"].as_f64().unwrap();
    let place = found["place"].as_f64().unwrap();
    assert!(at(1) <= place && place < at(2), "{found}");
}

#[test]
fn unchanged_inputs_need_no_report() {
    let one = open_all(&[&process(7, "a", 0)]);
    assert_eq!((one.site.joined(), &one.json("api/trace")["joined"]), (None, &Value::Null));
    let two = open_all(&[&process(7, "a", 0), &process(8, "b", 5)]);
    assert_eq!((two.site.joined(), &two.json("api/trace")["merged"]), (None, &false.into()));
}

#[test]
fn clocks_of_inputs_are_aligned() {
    let of = |base: u64, pid| {
        format!(r#"{{"baseTimeNanoseconds":{base},"traceEvents":{}}}"#, process(pid, "a", 1000))
    };
    let opened = open_all(&[&of(5_000_000_000, 7), &of(9_000_000_000, 8)]);
    let sentence = opened.site.joined().expect("one clock is four seconds off");
    assert!(sentence.ends_with("1.json are moved by 4000000000 ns"), "{sentence}");
    assert_eq!(opened.json("api/trace")["duration"], "4000197000");
    let same = [of(5_000_000_000, 7), of(5_000_000_000, 8)];
    assert_eq!(open_all(&[&same[0], &same[1]]).site.joined(), None);
}
