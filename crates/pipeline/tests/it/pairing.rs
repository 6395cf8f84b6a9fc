//! All verbs pair begin and end events by the same rule.

use crate::run::{Folder, PLAIN, config, knobs, output_to, read};
use crate::slices::run_slice;
use crate::{check, filter, info, slices, split, viewer};
use std::collections::BTreeMap;
use tracemill_inspect::info::InfoConfig;
use tracemill_pipeline::{Filter, SplitBy};
use tracemill_testkit::Rng;
use tracemill_testkit::reference::Criteria;
use tracemill_trace::Source;
use tracemill_trace::output::target::Format;
use tracemill_trace::time::Duration;
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};

/// Names that pairing must distinguish or treat as equal.
const NAMES: [&str; 9] = [
    "\"name\":\"a\",",
    "\"name\":\"b\",",
    "\"name\":\"\\u0061\",",
    "\"name\":\"another, longer than a word\",",
    "\"name\":\"\",",
    "\"name\":null,",
    "\"name\":7,",
    "",
    "\"name\":\"a\",",
];

fn sequence(rng: &mut Rng) -> Vec<u8> {
    let (threads, names) = (rng.range(1, 3), rng.range(1, NAMES.len() as u64) as usize);
    let mut time = 1000;
    let mut event = |rng: &mut Rng| {
        time += rng.below(4);
        let ph = ["B", "E", "B", "E", "X", "\\u0042"][rng.index(6)];
        let dur = if ph == "X" { format!("\"dur\":{},", rng.below(30)) } else { String::new() };
        let name = NAMES[rng.index(names)];
        let tid = rng.below(threads);
        format!(
            "{{{name}\"cat\":\"c\",\"ph\":\"{ph}\",{dur}\"ts\":{time},\"pid\":1,\"tid\":{tid},\"args\":{{}}}}"
        )
    };
    let count = rng.range(2, 60);
    let events: Vec<String> = (0..count).map(|_| event(rng)).collect();
    format!("[{}]", events.join(",\n")).into_bytes()
}

#[test]
fn all_verbs_pair_random_sequences_alike() {
    let (mut kept, mut copies) = (0, 0);
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let input = sequence(&mut rng);
        let (what, inputs) = (format!("seed {seed}"), [&input[..]]);
        let corners = [PLAIN, knobs(seed as usize)];
        let least = rng.range(0, 30) as i64 * 1000;
        let criteria = Criteria { min_dur: Some(least), ..Criteria::default() };
        kept += filter::check(&what, &inputs, &criteria, &corners).0;
        let from = 1_000_000 + rng.below(60) as i64 * 1000;
        let window = (Some(from), Some(from + 1 + rng.below(40) as i64 * 1000));
        slices::check(&what, &inputs, &[window], None, &corners);
        check::compare(&what, &inputs, &corners);
        info::check(&what, &inputs, &corners);
        viewer::compare(&what, &inputs, &corners);
        let cut = split::settings(SplitBy::Events(rng.range(1, 9)), None, Some(Format::Array));
        copies += split::check(seed, &inputs, &cut, corners[1]).len();
    }
    assert!(kept > 600 && copies > 200, "{kept} {copies}");
}

const CROSSING: &str = r#"[{"name":"a","ph":"B","ts":0,"pid":1,"tid":1,"cat":"c","args":{}},
{"name":"b","ph":"B","ts":10,"pid":1,"tid":1,"cat":"c","args":{}},
{"name":"a","ph":"E","ts":20,"pid":1,"tid":1,"cat":"c","args":{}},
{"name":"b","ph":"E","ts":30,"pid":1,"tid":1,"cat":"c","args":{}},
{"name":"c","ph":"B","ts":100,"pid":1,"tid":1,"cat":"c","args":{}},
{"name":"d","ph":"B","ts":101,"pid":1,"tid":1,"cat":"c","args":{}},
{"name":"d","ph":"E","ts":104,"pid":1,"tid":1,"cat":"c","args":{}},
{"name":"c","ph":"E","ts":150,"pid":1,"tid":1,"cat":"c","args":{}}]"#;

fn phases_and_names(output: &[u8]) -> Vec<String> {
    let value: serde_json::Value = serde_json::from_slice(output).expect("JSON");
    let events = value.as_array().expect("an array").iter();
    let text = |event: &serde_json::Value, key: &str| event[key].as_str().unwrap_or("-").to_owned();
    events.map(|event| format!("{} {}", text(event, "ph"), text(event, "name"))).collect()
}

fn filtered(input: &str, wanted: &Filter) -> Vec<String> {
    let folder = Folder::new();
    let (source, target) = (folder.file("in", input.as_bytes()), folder.path("out"));
    let output = output_to(&target, Some(Format::Array));
    tracemill_pipeline::filter(&[Source::Path(source)], wanted, &output, &config(PLAIN))
        .expect("sound");
    phases_and_names(&read(&target))
}

fn kept_from(input: &str, from: i64) -> Vec<String> {
    let window = TimeWindow { from: Some(Moment::At(from)), to: None };
    let inputs = [input.as_bytes()];
    let sliced = run_slice(&inputs, &[window], Edges::Keep, Some(Format::Array), PLAIN);
    phases_and_names(&sliced.expect("sound").0)
}

#[test]
fn crossing_slices_are_paired_by_name() {
    // a: 20 µs, b: 20 µs, c: 50 µs, d: 3 µs
    let least =
        |micros: i64| Filter { min_dur: Some(Duration(micros * 1000)), ..Filter::default() };
    let [a, b] = [["B a", "E a"], ["B b", "E b"]];
    assert_eq!(filtered(CROSSING, &least(21)), ["B c", "E c"]);
    assert_eq!(filtered(CROSSING, &least(20)), [a[0], b[0], a[1], b[1], "B c", "E c"]);
    // b continues after a has ended
    assert_eq!(kept_from(CROSSING, 25_000)[..2], b);

    let folder = Folder::new();
    let source = Source::Path(folder.file("in", CROSSING.as_bytes()));
    let wanted = InfoConfig { top: 9, full: true, self_times: true };
    let report = tracemill_index::info(&[source], &wanted, &config(PLAIN)).expect("sound");
    let by_self: BTreeMap<_, _> =
        report.names.by_self.iter().map(|row| (row.name.clone(), row.usage.self_ns)).collect();
    let expected = [("a", 10), ("b", 20), ("c", 47), ("d", 3)];
    assert_eq!(by_self, expected.map(|(name, us)| (Some(name.to_owned()), us * 1000)).into());
}

#[test]
fn ends_without_a_matching_name_close_the_innermost_begin() {
    for (number, end) in
        ["\"name\":\"\",", "\"name\":null,", "", "\"name\":\"z\","].into_iter().enumerate()
    {
        let input = format!(
            r#"[{{"name":"out","ph":"B","ts":0,"pid":1,"tid":1}},
{{"name":"in","ph":"B","ts":1,"pid":1,"tid":1}},
{{{end}"ph":"E","ts":5,"pid":1,"tid":1}},
{{"name":"x","ph":"X","ts":8,"dur":1,"pid":1,"tid":1}},
{{"name":"out","ph":"E","ts":9,"pid":1,"tid":1}}]"#
        );
        let text = ["E ", "E -", "E -", "E z"][number];
        let longest = Filter { min_dur: Some(Duration(5000)), ..Filter::default() };
        assert_eq!(filtered(&input, &longest), ["B out", "E out"], "{end}");
        assert_eq!(kept_from(&input, 6000), ["B out", "X x", "E out"], "{end}");
        let all = ["B out", "B in", text, "X x", "E out"];
        assert_eq!(kept_from(&input, 3000), all, "{end}");
    }
}
