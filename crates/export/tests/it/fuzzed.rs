//! Any bytes give a result or an error, without a panic, and independent of limits.

use std::path::Path;
use tracemill_analysis::{
    GroupBy, Per, Picks, Query, ReadRules, Shape, TableRules, ThreadChoice, Trace, Wanted, Weights,
};
use tracemill_export::write_calls;
use tracemill_join::config::Config;
use tracemill_testkit::mutate::{mutated, replay};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;
use tracemill_trace::run::limits::Shares;

/// Returns all tables of `input` as text; `choice` and `more` select the options.
fn answer(input: &[u8], config: &Config, (choice, more): (u8, u8)) -> String {
    let as_devtools = choice & 1 != 0;
    let weights = [Weights::Next, Weights::Delta, Weights::Hits][usize::from(choice >> 1) % 3];
    let wanted = Wanted {
        urls: true,
        frames: true,
        titles: true,
        report: true,
        causes: true,
        cpu_times: true,
        colors: true,
    };
    let source = Source::bytes("t.json", input.to_vec());
    let rules = ReadRules { wanted, weights, as_devtools, ..ReadRules::default() };
    let Ok(trace) = Trace::read(&[source], rules, config) else { return "an error".to_owned() };
    let threads = trace.choose(&ThreadChoice::default());
    let by = GroupBy::ALL[usize::from(more) % GroupBy::ALL.len()];
    let rules = TableRules { as_devtools, ..TableRules::default() };
    let per = [Per::Thread, Per::Process, Per::Input, Per::All][usize::from(more >> 4) % 4];
    let focus = (choice & 32 != 0).then(|| "a".parse().expect("an expression"));
    let mut shown = String::new();
    for shape in [Shape::CallTree, Shape::BottomUp { levels: 6 }, Shape::Log] {
        let picks = Picks { focus: focus.clone(), ..Picks::default() };
        let query = Query { shape, by, rules, per, windows: Vec::new(), picks, key: None };
        shown.push_str(&format!("{:?}\n", trace.parts(&threads, &query).expect("room")));
    }
    let mut calls = Vec::new();
    let write = |text: &[u8]| {
        calls.extend_from_slice(text);
        Ok(())
    };
    let written = write_calls(&trace, &threads, rules, None, write).expect("memory takes all");
    shown.push_str(&format!("{written:?}\n{}", String::from_utf8_lossy(&calls)));
    shown
}

/// Asserts that results do not depend on limits, which the last bytes choose.
pub(crate) fn analysis(input: &[u8]) {
    let (input, knobs) = input.split_at(input.len().saturating_sub(4));
    let knob = |at: usize| knobs.get(at).copied().unwrap_or(0);
    let how = (knob(0), knob(1));
    let usual = answer(input, &Config::new(1, 64 << 20, std::env::temp_dir()), how);
    let mut config = Config::new(3, 64 << 20, std::env::temp_dir());
    let shares = config.limits.shares();
    let (chunk, segment) = (64 + 8 * usize::from(knob(2)), 64 + 8 * usize::from(knob(3)));
    // Records go to disk one by one, or a few at a time.
    let index = if knob(3) & 2 == 0 { u64::from(knob(2)) * 100 } else { shares.index };
    config.limits.shares = Some(Shares { chunk, segment, index, ..shares });
    assert_eq!(usual, answer(input, &config, how));
}

const TRACE: &str = r#"{"traceEvents":[
{"ph":"X","name":"FunctionCall","cat":"devtools.timeline","pid":1,"tid":1,"ts":1000,"dur":5000,"args":{"data":{"url":"https://a.b.c/x.js?y","sampleTraceId":7}}},
{"ph":"B","name":"a","cat":"c","pid":1,"tid":1,"ts":1500},{"ph":"E","pid":1,"tid":1,"ts":2500},
{"ph":"I","name":"TimeStamp","pid":1,"tid":1,"ts":1700,"args":{"data":{"name":"x"}}},
{"ph":"X","name":"RunTask","cat":"disabled-by-default-devtools.timeline","pid":1,"tid":1,"ts":7000,"dur":10},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"CrRendererMain"}},
{"ph":"P","name":"Profile","cat":"p","id":"0x1","pid":1,"tid":1,"ts":1000,"args":{"data":{"startTime":1000}}},
{"ph":"P","name":"ProfileChunk","cat":"p","id":"0x1","pid":1,"tid":2,"ts":6000,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},{"id":2,"parent":1,"callFrame":{"functionName":"f","scriptId":3,"url":"a.js","lineNumber":4,"columnNumber":5}},{"id":3,"parent":2,"callFrame":{"functionName":"","scriptId":3,"url":"node:a"}},{"id":4,"parent":1,"callFrame":{"functionName":"(garbage collector)","scriptId":0}}],"samples":[2,3,4,2,1],"trace_ids":{"7":3}},"timeDeltas":[1000,1000,1000,1000,9]}}}
],"metadata":{"source":"DevTools"}}"#;

const PROFILE: &str = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2,3]},
{"id":2,"callFrame":{"functionName":"f","scriptId":"3","url":"a.js","lineNumber":4,"columnNumber":5},"children":[4]},
{"id":3,"callFrame":{"functionName":"(garbage collector)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}},
{"id":4,"callFrame":{"functionName":"(program)","scriptId":"3","url":"b.js","lineNumber":9,"columnNumber":5}}],
"startTime":1000,"endTime":9000,"samples":[2,4,3,4,2,1,2],"timeDeltas":[1000,-500,4000,2000,0,1,1]}"#;

#[test]
fn corpus_gives_one_result_for_all_limits() {
    replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/analysis"), analysis, 100);
}

#[test]
fn mutated_inputs_give_one_result_for_all_limits() {
    for seed in seeds(0, 300) {
        let mut rng = Rng::new(seed);
        let (a, b) = if rng.chance(50) { (TRACE, PROFILE) } else { (PROFILE, TRACE) };
        let mut input = mutated(&mut rng, a.as_bytes(), b.as_bytes());
        input.extend((0..4).map(|_| rng.bits() as u8));
        analysis(&input);
    }
}
