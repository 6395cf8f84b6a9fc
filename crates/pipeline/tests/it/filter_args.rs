//! Compares `filter --args` with a naive reference that decodes every event.

use crate::filter::run;
use crate::run::{PLAIN, knobs};
use serde_json::{Value, json};
use tracemill_pipeline::{ArgsCriterion, Filter};
use tracemill_testkit::{Rng, seeds};

const PATHS: [&str; 4] = ["a", "data.a", "data.b.c", "b"];

fn value(rng: &mut Rng) -> Value {
    let texts = [
        "\"x\"",
        "\"\u{e9}x\\n\"",
        "\"\"",
        "\"5\"",
        "5",
        "5.5",
        "-5000",
        "true",
        "null",
        "[5]",
        "{}",
    ];
    serde_json::from_str(rng.pick(&texts)).expect("JSON")
}

fn args(rng: &mut Rng) -> Value {
    let mut args = json!({});
    for path in PATHS {
        if rng.chance(40) {
            continue;
        }
        let mut at = &mut args;
        for name in path.split('.') {
            if !at.is_object() {
                *at = json!({});
            }
            at = &mut at[name];
        }
        *at = value(rng);
    }
    args
}

/// Generates X events, and pairs of B and E on threads of their own.
fn events(rng: &mut Rng) -> Vec<Value> {
    let mut events = Vec::new();
    for number in 0..rng.range(5, 40) {
        let (pid, ts) = (rng.range(1, 2), 10 * number);
        let of = |ph: &str, ts: u64, args: Value| json!({"ph": ph, "name": "n", "pid": pid, "tid": number, "ts": ts, "dur": 1, "args": args});
        if rng.chance(70) {
            events.push(of("X", ts, args(rng)));
        } else {
            events.push(of("B", ts, args(rng)));
            events.push(of("E", ts + 5, args(rng)));
        }
    }
    events
}

/// Returns whether args meet a criterion, evaluated naively.
fn is_met(criterion: &str, args: &Value) -> bool {
    let at = criterion.find(['=', '~']).expect("an operator");
    let (path, wanted) = (&criterion[..at], &criterion[at + 1..]);
    let value = path.split('.').try_fold(args, |value, name| value.get(name));
    let Some(value) = value.filter(|value| !value.is_object() && !value.is_array()) else {
        return false;
    };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match criterion.as_bytes()[at] {
        b'~' => text.contains(wanted),
        _ => {
            let number = wanted.parse::<f64>().ok();
            text == wanted || number.is_some() && value.as_f64() == number
        }
    }
}

#[test]
fn filter_keeps_the_events_that_a_decoder_selects() {
    let (mut kept, mut dropped) = (0, 0);
    for seed in seeds(0, 60) {
        let rng = &mut Rng::new(seed);
        let events = events(rng);
        let criteria: Vec<String> = (0..rng.range(1, 3))
            .map(|_| {
                let wanted = ["=x", "=5", "=5.50", "=true", "=null", "=", "~x", "~5", "=-5000"];
                format!("{}{}", rng.pick(&PATHS), rng.pick(&wanted))
            })
            .collect();
        let (pid, invert) = (rng.chance(30), rng.chance(30));
        let path = |criterion: &str| criterion.split(['=', '~']).next().map(str::to_owned);
        // one criterion of each path must match, and the process
        let stays = |event: &Value| {
            let of_path = |criterion: &&String| {
                let same = criteria.iter().filter(|other| path(other) == path(criterion));
                same.into_iter().any(|other| is_met(other, &event["args"]))
            };
            let fits = criteria.iter().all(|criterion| of_path(&criterion));
            (fits && (!pid || event["pid"] == 1)) != invert
        };
        // an E follows its B directly and shares its fate
        let mut expected = Vec::new();
        for (at, event) in events.iter().enumerate() {
            let judged = if event["ph"] == "E" { &events[at - 1] } else { event };
            expected.extend(stays(judged).then(|| event.clone()));
        }
        let texts: Vec<String> = events.iter().map(Value::to_string).collect();
        let input = format!("[{}]", texts.join(",\n"));
        let args: Result<Vec<ArgsCriterion>, String> =
            criteria.iter().map(|text| text.parse()).collect();
        let args = args.expect("sound criteria");
        let pid = pid.then(|| "1".parse().expect("an id"));
        let drop_args: Vec<String> = match rng.below(3) {
            0 => ["a", "data.b.c", "data.none"].map(str::to_owned).into(),
            _ => Vec::new(),
        };
        for event in expected.iter_mut().filter(|_| !drop_args.is_empty()) {
            event["args"].as_object_mut().expect("args").remove("a");
            if let Some(inner) = event["args"].pointer_mut("/data/b") {
                inner.as_object_mut().map(|inner| inner.remove("c"));
            }
        }
        let wanted = Filter { args, pid, invert, drop_args, ..Filter::default() };
        for corner in [PLAIN, knobs(seed as usize)] {
            let (output, report) = run(&[input.as_bytes()], &wanted, corner);
            let output: Value = serde_json::from_slice(&output).expect("JSON");
            assert_eq!(output["traceEvents"], json!(expected), "seed {seed} {criteria:?} {invert}");
            kept += report.matching;
            dropped += report.dropped.iter().map(|entry| entry.events).sum::<u64>();
        }
    }
    assert!(kept > 200 && dropped > 200, "{kept} {dropped}");
}

#[test]
fn invalid_criteria_are_refused() {
    for text in ["", "a", "=x", "a..b=x", ".a~x", "a~("] {
        assert!(text.parse::<ArgsCriterion>().is_err(), "{text}");
    }
}
