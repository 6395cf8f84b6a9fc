//! Numbers of every form survive all verbs that write: as times, as ids and in args.

use crate::run::{Folder, PLAIN, config, knobs, output_to, read, run};
use crate::trace::{Output, missing};
use tracemill_index::slice;
use tracemill_pipeline::{Filter, convert, filter};
use tracemill_testkit::Rng;
use tracemill_testkit::reference::Decimal;
use tracemill_trace::Source;
use tracemill_trace::output::target::{Format, Style};
use tracemill_trace::time::windows::{Edges, TimeWindow};

/// Numbers that a float or a careless parser would change.
const NUMBERS: [&str; 30] = [
    "0",
    "-0",
    "-0.0",
    "0.0",
    "0e0",
    "1",
    "1.0",
    "1.00",
    "10e-1",
    "0.1e1",
    "1E0",
    "1e+0",
    "1e00",
    "0.1",
    "0.10",
    "0.30000000000000004",
    "9007199254740993",
    "9007199254740993.0",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "9223372036854775807.999",
    "1712195495533685.110",
    "1712195495533685.1100000000000000000000001",
    "9.9999999999999995e-07",
    "1e-400",
    "1e400",
    "-1e400",
    "123456789012345678901234567890123456789012345678901234567890",
    "0.000000000000000000000000000000000000000000000000000000001",
];

/// Returns events with each number as time, duration, id and in args, and each as a string.
fn events() -> Vec<String> {
    let event = |number: &str| {
        format!(
            r#"{{"name":"n","cat":"c","ph":"X","ts":{number},"dur":{number},"pid":1,"tid":1,"id":{number},"args":{{"v":[{number},{number}]}}}}"#
        )
    };
    let quoted = NUMBERS.map(|number| event(&format!("\"{number}\"")));
    NUMBERS.map(event).into_iter().chain(quoted).collect()
}

fn trace(events: &[String]) -> Vec<u8> {
    format!("{{\"traceEvents\":[{}]}}", events.join(",\n")).into_bytes()
}

#[track_caller]
fn assert_all(what: &str, output: &[u8], events: &[String]) {
    let found = Output::parse(Format::Object, output).events;
    assert_eq!(found.len(), events.len(), "{what}");
    let lost = missing(events.iter().map(String::as_bytes), &found);
    assert_eq!(lost.map(String::from_utf8_lossy), None, "{what}");
}

#[test]
fn every_verb_keeps_every_digit() {
    let events = events();
    let trace = trace(&events);
    let folder = Folder::new();
    let sources = [Source::Path(folder.file("in", &trace))];
    let config = config(PLAIN);
    let to = |name: &str| output_to(&folder.path(name), Some(Format::Object));
    filter(&sources, &Filter::default(), &to("filtered"), &config).expect("sound");
    let all = [TimeWindow { from: None, to: None }];
    slice(&sources, &all, Edges::Clip, &to("sliced"), &config).expect("sound");
    for style in [Style::Keep, Style::Compact] {
        let name = format!("{style:?}");
        convert(&sources, style, &to(&name), &config).expect("sound");
        assert_all(&name, &read(&folder.path(&name)), &events);
    }
    assert_all("filter", &read(&folder.path("filtered")), &events);
    assert_all("slice", &read(&folder.path("sliced")), &events);
}

#[test]
fn merge_sorts_by_exact_values() {
    for seed in 0..20 {
        let mut shuffled = events();
        Rng::new(seed).shuffle(&mut shuffled);
        let (output, _) = run(&[&trace(&shuffled)], None, knobs(seed as usize)).expect("sound");
        assert_all("merge", &output, &shuffled);
        let found = Output::parse(Format::Object, &output).events;
        let time = |event: &[u8]| {
            let text = std::str::from_utf8(event).expect("UTF-8");
            let value = text.split("\"ts\":").nth(1).and_then(|rest| rest.split(',').next());
            let digits = value.expect("a ts").trim_matches('"').to_owned();
            Decimal::parse(digits.as_bytes()).expect("a number").attos()
        };
        let times: Vec<i128> = found.iter().map(|event| time(event)).collect();
        assert!(times.is_sorted(), "seed {seed}");
        let place =
            |event: &[u8]| shuffled.iter().position(|original| original.as_bytes() == event);
        for (pair, times) in found.windows(2).zip(times.windows(2)) {
            // equal times have equal durations here, so input order decides
            assert!(times[0] < times[1] || place(pair[0]) < place(pair[1]), "seed {seed}");
        }
    }
}
