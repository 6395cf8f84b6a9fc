//! All verbs agree with the naive reference on the trace start, also if there are events at time 0.

use crate::run::knobs;
use crate::slices::{absolute, run_slice};
use crate::split::settings;
use crate::trace::assert_same;
use crate::{filter, info, split};
use tracemill_pipeline::SplitBy;
use tracemill_testkit::reference::{self, Criteria};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};

/// Generates events of a clock that may have started long before, some of them at 0.
fn input(rng: &mut Rng) -> Vec<u8> {
    let base = [1, 40, 999_990, 1_000_000, 3_000_000, 429_711_202_883, -70][rng.index(7)];
    let spread = [1, 60, 900_000, 5_000_000][rng.index(4)];
    let mut events = Vec::new();
    for _ in 0..rng.range(1, 12) {
        let ts = base + rng.below(spread) as i64;
        let ph = rng.pick(&["X", "X", "I", "B", "E", "C"]);
        events.push((ph, ts.to_string(), rng.below(50)));
    }
    for _ in 0..rng.below(3) {
        let ph = rng.pick(&["I", "I", "i", "R", "X", "X", "M", "B", "P"]);
        let ts = rng.pick(&["0", "0", "0.0", "\"0\"", "-0e7", "0.0004"]);
        let dur = if rng.chance(70) { 0 } else { rng.below(9) };
        let at = rng.index(events.len() + 1);
        events.insert(at, (ph, ts.to_owned(), dur));
    }
    let text = events.iter().enumerate().map(|(n, (ph, ts, dur))| {
        let dur = if *ph == "X" && n % 4 > 0 { format!(",\"dur\":{dur}") } else { String::new() };
        let tid = n % 2;
        format!("{{\"ph\":\"{ph}\",\"name\":\"n{n}\",\"pid\":1,\"tid\":{tid},\"ts\":{ts}{dur}}}")
    });
    format!("[{}]\n", text.collect::<Vec<_>>().join(",\n")).into_bytes()
}

#[test]
fn all_verbs_agree_on_the_trace_start() {
    let mut late = 0;
    for seed in seeds(0, 120) {
        let mut rng = Rng::new(seed);
        let mut inputs: Vec<Vec<u8>> = vec![input(&mut rng)];
        if rng.chance(20) {
            inputs.push(input(&mut rng));
        }
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let events: Vec<_> =
            inputs.iter().flat_map(|input| reference::events(input).expect("JSON")).collect();
        let start = reference::trace_start(&events).expect("events");
        let corner = knobs(seed as usize);
        let what = format!("seed {seed}");

        let report = info::check(&what, &inputs, &[corner]);
        assert_eq!(report.start_ns, Some(start), "{what}");
        late += u64::from(start > 0 && report.at_zero > 0);

        let from = rng.below(60) as i64 * 1000;
        let to = from + 1 + rng.below(2_000_000_000) as i64;
        let window = |moment: fn(i64) -> Moment, start: i64| {
            [TimeWindow { from: Some(moment(start + from)), to: Some(moment(start + to)) }]
        };
        let slice = |windows: &[TimeWindow]| {
            run_slice(&inputs, windows, Edges::Clip, None, corner).expect("sound").0
        };
        let expected = slice(&absolute(&[(Some(start + from), Some(start + to))]));
        assert_same(&what, &expected, &slice(&window(Moment::FromStart, 0)));

        let criteria =
            Criteria { from: Some((false, from)), to: Some((false, to)), ..Criteria::default() };
        filter::check(&what, &inputs, &criteria, &[corner]);
        let by = SplitBy::Time(1 + rng.below(3_000_000_000) as i64);
        if let [one] = inputs[..] {
            split::check(seed, &[one], &settings(by, None, None), corner);
        }
    }
    assert!(late > 10, "events at 0 that do not count: {late}");
}
