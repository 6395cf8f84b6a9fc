//! Slices for DevTools with events outside their window make the panel open on the window, and
//! `info` counts those events.

use crate::info;
use crate::run::{Folder, PLAIN, config, knobs, output_to, over, read};
use tracemill_index::slice;
use tracemill_inspect::info::KeptWindow;
use tracemill_join::config::{CheckFor, Config, ViewerRules};
use tracemill_testkit::generate::annotated;
use tracemill_testkit::reference::{self, RawEvent};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::output::target::Format;
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};

const ESSENTIAL: [&str; 3] = ["navigationStart", "CommitLoad", "FrameCommittedInBrowser"];

fn events(rng: &mut Rng, essential: u64) -> Vec<String> {
    let event = |rng: &mut Rng, number: u64| {
        let name: &str = if rng.chance(essential) { rng.pick(&ESSENTIAL) } else { "work" };
        let phase = if name == "work" { r#""ph":"X","dur":9"# } else { r#""ph":"R""# };
        let times = format!(r#"{phase},"ts":{},"pid":1,"tid":1"#, 1_000 + 10 * number);
        format!(r#"{{"name":"{name}","cat":"c",{times},"args":{{}}}}"#)
    };
    (0..rng.range(20, 60)).map(|number| event(rng, number)).collect()
}

fn micros(event: &RawEvent) -> i64 {
    event.ts.as_deref().expect("a time").parse().expect("whole")
}

#[test]
fn slices_for_devtools_open_on_their_window() {
    let (mut with, mut without) = (0, 0);
    for seed in seeds(0, 24) {
        let rng = &mut Rng::new(seed);
        let events = events(rng, [0, 5, 20][seed as usize % 3]);
        let last = 1_000 + 10 * events.len() as i64;
        let from = rng.range(1_000, last as u64 - 100) as i64;
        let to = from + rng.range(50, 90) as i64;
        let input = match rng.below(3) {
            0 => annotated(rng, &events, 0),
            1 => format!("[{}]", events.join(",")).into_bytes(),
            _ => format!(r#"{{"traceEvents":[{}],"metadata":{{}}}}"#, events.join(",")).into(),
        };
        let (folder, corner) = (Folder::new(), knobs(seed as usize));
        let target = folder.path("out");
        let output = output_to(&target, None);
        let window =
            [TimeWindow { from: Some(Moment::At(from * 1000)), to: Some(Moment::At(to * 1000)) }];
        let viewer = ViewerRules { viewer: Some(CheckFor::Devtools), ..ViewerRules::default() };
        let config = Config { viewer, ..config(corner) };
        let report = over(&[&input], corner, |sources| {
            slice(sources, &window, Edges::Clip, &output, &config).expect("sound")
        });
        let written = read(&target);
        let all = reference::events(&written).expect("sound");
        let outside = |is_outside: &dyn Fn(i64) -> bool| {
            all.iter().filter(|event| is_outside(micros(event))).count() as u64
        };
        let (before, after) = (outside(&|ts| ts < from), outside(&|ts| ts >= to));
        let what = format!("seed {seed}: {}", String::from_utf8_lossy(&written));
        assert_eq!(report.kept_outside, before + after, "{what}");
        let got = info::check(&what, &[&written], &[PLAIN, corner]).window;
        let shown = reference::annotations(&written).expect("sound").pop();
        let shown = shown.and_then(|annotations| annotations.window);
        if before + after == 0 {
            assert_eq!(got, None, "{what}");
            without += 1;
            continue;
        }
        with += 1;
        assert_eq!(report.written.run.format, Format::Object, "{what}");
        // the window ends at the latest with the trace
        let (start, end) = report.trace.expect("events");
        let (from_ns, to_ns) = ((from * 1000).max(start), (to * 1000).min(end));
        assert_eq!(shown, Some((from_ns as f64 / 1000.0, to_ns as f64 / 1000.0)), "{what}");
        assert_eq!(got, Some(KeptWindow { from_ns, to_ns, before, after }), "{what}");
    }
    assert!(with > 10 && without > 7, "{with} {without}");
}
