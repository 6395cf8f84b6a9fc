//! Verbs keep DevTools' annotations on the same events, whatever the knobs, and write no invalid
//! key.

use crate::run::{Folder, Knobs, PLAIN, config, knobs, output_to, over, read};
use crate::split::settings;
use crate::trace::{assert_same, without_annotations};
use std::collections::HashSet;
use tracemill_index::slice;
use tracemill_join::config::{CheckFor, Config, Overlaps, ViewerRules};
use tracemill_join::report::AnnotationReport;
use tracemill_join::report::warning::AnnotationDrop;
use tracemill_pipeline::{Filter, SplitBy, SplitConfig, convert, filter, merge, split};
use tracemill_testkit::generate::{ProfileShape, TraceShape, annotated, profile_trace, trace};
use tracemill_testkit::reference::{self, Annotations, RawEvent};
use tracemill_testkit::{Rng, reference::Unread, seeds};
use tracemill_trace::Source;
use tracemill_trace::output::target::{Format, OutputConfig, Style};
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};

/// Runs a verb over inputs. Returns the bytes of the output and the report of annotations.
fn run_verb(
    inputs: &[Vec<u8>],
    knobs: Knobs,
    verb: impl FnOnce(&[Source], &OutputConfig, &Config) -> AnnotationReport,
) -> (Vec<u8>, AnnotationReport) {
    let folder = Folder::new();
    let target = folder.path("out");
    let output = output_to(&target, Some(Format::Object));
    let config = config(knobs);
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let report = over(&inputs, knobs, |sources| verb(sources, &output, &config));
    (read(&target), report)
}

/// Returns the events of a generated trace as strings.
fn events(rng: &mut Rng, seed: u64, profiles: bool) -> Vec<String> {
    let text = match rng.below(5) {
        // delayed chunks move events
        0 if profiles => profile_trace(seed, &ProfileShape::arbitrary(rng)),
        // times of any size, beyond what a float can represent
        _ => {
            let mut shape = TraceShape { profile_streams: 0, ..TraceShape::arbitrary(rng) };
            shape.odd = if is_odd(seed / 100) { shape.odd } else { 0 };
            trace(seed, &shape)
        }
    };
    let text = String::from_utf8(text).expect("traces are text");
    let text = match rng.below(3) {
        0 => text.replace("\"Paint\"", "\"TracingStartedInBrowser\""),
        1 => text.replace("\"Layout\"", "\"TimeStamp\"").replace("\"MinorGC\"", "\"Screenshot\""),
        _ => text,
    };
    let found = reference::events(text.as_bytes()).expect("sound");
    found.into_iter().map(|e| String::from_utf8(e.bytes).expect("text")).collect()
}

/// Returns whether the traces of this seed have odd values.
fn is_odd(seed: u64) -> bool {
    seed.is_multiple_of(4)
}

/// Generates one to three inputs, some with annotations and some with several documents.
fn inputs(rng: &mut Rng, seed: u64, profiles: bool) -> Vec<Vec<u8>> {
    let mut next = 1000;
    (0..1 + rng.index(3))
        .map(|number| {
            let mut input = Vec::new();
            for document in 0..1 + rng.index(2) {
                let events =
                    events(rng, seed * 100 + number as u64 * 10 + document as u64, profiles);
                match rng.chance(75) {
                    true => input.extend(annotated(rng, &events, next)),
                    false => input.extend(format!("[{}]", events.join(",")).into_bytes()),
                }
                input.push(b'\n');
                next += events.len();
            }
            input
        })
        .collect()
}

fn expected(inputs: &[Vec<u8>], written: &HashSet<String>, lossy: bool) -> [Vec<String>; 5] {
    let mut lists: [Vec<String>; 5] = Default::default();
    let mut first = true;
    for input in inputs {
        let texts = reference::events(input).expect("sound");
        let complex: HashSet<String> = texts.iter().filter(needs_others).filter_map(uid).collect();
        for document in reference::annotations(input).expect("sound") {
            let before = lists.clone();
            for (number, list) in document.lists.into_iter().enumerate() {
                for element in list.into_iter().flatten() {
                    let mut names = element.split(' ').filter_map(|name| name.split_once(':'));
                    let is_kept = names.all(|(kind, uid)| {
                        written.contains(uid) && !(lossy && kind == "s" && complex.contains(uid))
                    });
                    let again = !first && before[number].contains(&element);
                    if is_kept && !again {
                        lists[number].push(element);
                    }
                }
            }
            first = false;
        }
    }
    lists
}

fn uid(event: &RawEvent) -> Option<String> {
    event.get("uid").map(str::to_owned)
}

fn needs_others(event: &&RawEvent) -> bool {
    let name = event.name.as_deref().unwrap_or_default().trim_matches('"');
    let args = event.args.as_deref().unwrap_or_default();
    event.ph.as_deref() != Some("\"b\"")
        && (["ResourceSendRequest", "LayoutShift", "SoftNavigationStart"].contains(&name)
            || name == "TimeStamp" && args.contains("\"end\""))
}

/// Computes the bounds like DevTools, as far as floats are exact; `None` if nothing is drawn.
fn bounds(events: &[RawEvent]) -> Option<(f64, f64)> {
    let number = |raw: &Option<String>| raw.as_deref()?.trim_matches('"').parse::<f64>().ok();
    let (mut min, mut max, mut start) = (f64::INFINITY, f64::NEG_INFINITY, None);
    for event in events {
        let Some(ts) = number(&event.ts) else { continue };
        if event.name.as_deref() == Some("\"TracingStartedInBrowser\"") {
            start = Some(ts);
        }
        let drawn = ["\"B\"", "\"E\"", "\"X\"", "\"I\""].map(Some).contains(&event.ph.as_deref());
        let name = event.name.as_deref();
        if drawn && ts != 0.0 && name.is_some_and(|name| !name.ends_with("::UMA\"")) {
            min = min.min(ts);
            max = max.max(ts + number(&event.dur).unwrap_or(0.0));
        }
    }
    let drawn = min.is_finite();
    drawn.then_some((start.unwrap_or(min), max))
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}

/// Asserts that all outputs together have the expected annotations, and returns their number.
#[track_caller]
fn check(
    (seed, what): (u64, &str),
    inputs: &[Vec<u8>],
    outputs: &[Vec<u8>],
    report: &AnnotationReport,
    lossy: bool,
) -> usize {
    let before: Vec<Annotations> =
        inputs.iter().flat_map(|input| reference::annotations(input).expect("sound")).collect();
    let mut kept = 0;
    for output in outputs {
        let events = reference::events(output).expect("sound");
        let written: HashSet<String> = events.iter().filter_map(uid).collect();
        let after = reference::annotations(output).expect("sound");
        assert_eq!(after.len(), usize::from(!before.is_empty()), "{what}");
        let Some(mut after) = after.into_iter().next() else { continue };
        let mut wanted = expected(inputs, &written, lossy);
        let bounds = bounds(&events);
        if lossy && let Some((min, max)) = bounds {
            // ranges outside the remaining bounds are dropped
            wanted[3].retain(|range| {
                let sides = range.split_once(") ").expect("bounds").0.trim_start_matches('(');
                let (from, to) = sides.split_once(", ").expect("two");
                let [from, to] = [from, to].map(|side| side.parse::<f64>().expect("a number"));
                from <= max && min <= to
            });
        }
        if is_odd(seed) {
            (wanted[3], after.lists[3], after.window) = (Vec::new(), Vec::new(), None);
        }
        for (wanted, got) in wanted.iter().zip(&after.lists) {
            let got: Result<Vec<String>, Unread> = got.iter().cloned().collect();
            assert_eq!(got.as_ref(), Ok(wanted), "{what}: {}", String::from_utf8_lossy(output));
            kept += wanted.len();
        }
        if let (Some(bounds), Some(window)) = (bounds, after.window)
            && (lossy || before.len() > 1)
        {
            assert!(
                near(bounds.0, window.0) && near(bounds.1, window.1),
                "{what}: {bounds:?}, {window:?}"
            );
        }
    }
    let all: usize = before.iter().flat_map(|a| &a.lists).map(Vec::len).sum();
    let dropped: u64 = report.dropped.iter().map(|dropped| dropped.1).sum();
    assert_eq!(report.kept + dropped, all as u64, "{what}: {report:?}");
    kept
}

#[test]
fn merge_keeps_annotations() {
    let mut kept = 0;
    for seed in seeds(0, 24) {
        let inputs = inputs(&mut Rng::new(seed), seed, true);
        for corner in [PLAIN, knobs(seed as usize * 2), knobs(seed as usize * 2 + 1)] {
            let (output, report) = run_verb(&inputs, corner, |sources, output, config| {
                merge(sources, output, config).expect("sound").run.annotations
            });
            let texts: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            let expected = reference::merge(&texts, Some(reference::Format::Object));
            let got = without_annotations(&output);
            assert_same(&format!("seed {seed}"), &expected.expect("sound"), &got);
            kept += check(
                (seed, &format!("seed {seed} {corner:?}")),
                &inputs,
                &[output],
                &report,
                false,
            );
        }
    }
    assert!(kept > 800, "{kept}");
}

#[test]
fn merge_for_a_viewer_counts_events_that_name_tracks() {
    let (mut kept, mut lanes) = (0, 0);
    for seed in 0..24 {
        let rng = &mut Rng::new(seed);
        let events: Vec<String> = (0..rng.range(5, 60))
            .map(|number| {
                let (tid, ts, dur) = (rng.below(3), 7 * number, rng.below(20));
                let times = format!(r#""ph":"X","ts":{ts},"dur":{dur},"pid":1,"tid":{tid}"#);
                format!(r#"{{"name":"n","cat":"c",{times},"args":{{}}}}"#)
            })
            .collect();
        let inputs = [annotated(rng, &events, 1000)];
        let corner = if seed % 2 == 0 { PLAIN } else { knobs(seed as usize) };
        let (output, _) = run_verb(&inputs, corner, |sources, output, config| {
            let viewer = [CheckFor::Perfetto, CheckFor::Devtools][seed as usize / 2 % 2];
            let viewer = ViewerRules { viewer: Some(viewer), overlaps: Overlaps::Spill };
            let report = merge(sources, output, &Config { viewer, ..config.clone() });
            let report = report.expect("sound");
            lanes += report.run.viewer.changes.iter().filter(|change| change.0 == "lanes").count();
            report.run.annotations
        });
        let (before, after) = (named(&inputs[0]), named(&output));
        assert_eq!(before, after, "seed {seed}");
        kept += after.iter().map(Vec::len).sum::<usize>();
    }
    assert!(kept > 60 && lanes > 12, "{kept} {lanes}");
}

#[test]
fn merge_for_devtools_counts_split_chunks() {
    let (mut kept, mut parts) = (0, 0);
    for seed in 0..12 {
        let rng = &mut Rng::new(seed);
        let of = r#""ph":"P","id":"0x1","cat":"c","pid":1,"tid":1"#;
        let chunk = |ts: u64, samples: usize| {
            let list = |element: &str| vec![element; samples].join(",");
            let nodes = if ts < 10 { r#""nodes":[{"id":1,"callFrame":{}}],"# } else { "" };
            let (samples, deltas) = (list("1"), list("5"));
            let data = format!(
                r#"{{"cpuProfile":{{{nodes}"samples":[{samples}]}},"timeDeltas":[{deltas}]}}"#
            );
            format!(r#"{{"name":"ProfileChunk",{of},"ts":{ts},"args":{{"data":{data}}}}}"#)
        };
        let head = r#""name":"Profile","args":{"data":{"startTime":0}}"#;
        let mut events = vec![format!("{{{head},{of},\"ts\":0}}"), chunk(1, 3)];
        events.extend((0..rng.range(5, 40)).map(|number| match rng.below(6) {
            0 => chunk(10 + number, rng.range(9_990, 25_000) as usize),
            _ => format!(
                r#"{{"name":"n","cat":"c","ph":"X","ts":{},"dur":1,"pid":1,"tid":2,"args":{{}}}}"#,
                10 + number
            ),
        }));
        if rng.below(2) == 0 {
            events.reverse();
        }
        let inputs = [annotated(rng, &events, 1000)];
        let corner = if seed % 2 == 0 { PLAIN } else { knobs(seed as usize) };
        let (output, _) = run_verb(&inputs, corner, |sources, output, config| {
            let viewer = ViewerRules { viewer: Some(CheckFor::Devtools), overlaps: Overlaps::Keep };
            let report = merge(sources, output, &Config { viewer, ..config.clone() });
            let report = report.expect("sound");
            let changes = report.run.viewer.changes.iter();
            parts += changes
                .filter(|change| change.0 == "chunk-parts")
                .map(|change| change.1)
                .sum::<u64>();
            report.run.annotations
        });
        let (before, after) = (named(&inputs[0]), named(&output));
        assert_eq!(before, after, "seed {seed}");
        kept += after.iter().map(Vec::len).sum::<usize>();
    }
    assert!(kept > 30 && parts > 20, "{kept} {parts}");
}

/// Returns the keys in the lists of annotations, except ranges.
fn named(text: &[u8]) -> [Vec<String>; 4] {
    let annotated = reference::annotations(text).expect("sound").pop().expect("annotations");
    [0, 1, 2, 4].map(|list: usize| annotated.lists[list].iter().flatten().cloned().collect())
}

#[test]
fn convert_keeps_annotations() {
    let mut kept = 0;
    for seed in seeds(1000, 20) {
        let inputs = inputs(&mut Rng::new(seed), seed, true);
        let style = [Style::Keep, Style::Compact][seed as usize % 2];
        let corner = knobs(seed as usize);
        let (output, report) = run_verb(&inputs, corner, |sources, output, config| {
            convert(sources, style, output, config).expect("sound").run.annotations
        });
        kept +=
            check((seed, &format!("seed {seed} {corner:?}")), &inputs, &[output], &report, false);
    }
    assert!(kept > 150, "{kept}");
}

#[test]
fn slice_keeps_annotations_of_kept_events() {
    let (mut kept, mut lossy_runs) = (0, 0);
    for seed in seeds(3000, 40) {
        let mut rng = Rng::new(seed);
        // `Profile` events have no entry of their own, and are rewritten
        let inputs = inputs(&mut rng, seed, false);
        let events = inputs.iter().flat_map(|input| reference::events(input).expect("sound"));
        let times: Vec<i64> = events
            .filter_map(|e| e.ts?.trim_matches('"').split('.').next()?.parse::<i64>().ok())
            .filter_map(|micros| micros.checked_mul(1000))
            .collect();
        if times.is_empty() {
            continue;
        }
        let mut edges = [0; 4].map(|_| times[rng.index(times.len())] + rng.below(3) as i64);
        edges.sort_unstable();
        let windows: Vec<TimeWindow> = edges
            .chunks(2)
            .filter(|edges| edges[0] < edges[1])
            .map(|edges| TimeWindow {
                from: Some(Moment::At(edges[0])),
                to: Some(Moment::At(edges[1])),
            })
            .collect();
        if windows.is_empty() {
            continue;
        }
        let corner = knobs(seed as usize);
        let cut = [Edges::Clip, Edges::Keep, Edges::Drop][seed as usize % 3];
        let mut lossy = true;
        let (output, report) = run_verb(&inputs, corner, |sources, output, config| {
            let report = slice(sources, &windows, cut, output, config).expect("sound");
            // windows that contain the whole trace change nothing
            let (first, end) = report.trace.unwrap_or((i64::MAX, i64::MIN));
            lossy = !report.windows.iter().any(|window| window.from <= first && end < window.to);
            report.written.run.annotations
        });
        lossy_runs += u32::from(lossy);
        kept += check(
            (seed, &format!("seed {seed} {corner:?} {cut:?}")),
            &inputs,
            &[output],
            &report,
            lossy,
        );
    }
    assert!(kept > 80 && lossy_runs > 15, "{kept}, {lossy_runs}");
}

#[test]
fn filter_and_split_drop_and_count_annotations() {
    let mut dropped = 0;
    for seed in seeds(4000, 24) {
        let mut rng = Rng::new(seed);
        let inputs = inputs(&mut rng, seed, true);
        let (folder, corner) = (Folder::new(), knobs(seed as usize));
        let (outputs, report) = if seed.is_multiple_of(2) {
            let wanted = Filter { ph: vec!["X".into(), "b".into()], ..Filter::default() };
            let (output, report) = run_verb(&inputs, corner, |sources, output, config| {
                filter(sources, &wanted, output, config).expect("sound").run.annotations
            });
            (vec![output], report)
        } else {
            let dir = folder.path("parts");
            let settings =
                SplitConfig { dir, ..settings(SplitBy::Tid, None, Some(Format::Object)) };
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            let report =
                over(&inputs, corner, |sources| split(sources, &settings, &config(corner)));
            let report = report.expect("sound");
            let parts = report.parts.iter().map(|part| read(&part.file)).collect();
            (parts, report.run.annotations)
        };
        for output in &outputs {
            assert_eq!(reference::annotations(output).expect("sound"), [], "seed {seed}");
        }
        let before = inputs.iter().flat_map(|input| reference::annotations(input).expect("sound"));
        let all: usize =
            before.flat_map(|annotations| annotations.lists).map(|list| list.len()).sum();
        let expected = (all > 0).then_some((AnnotationDrop::Unfollowed, all as u64));
        assert_eq!((report.kept, report.dropped), (0, Vec::from_iter(expected)), "seed {seed}");
        dropped += all;
    }
    assert!(dropped > 200, "{dropped}");
}

#[test]
fn search_for_event_after_damage_stays_in_its_input() {
    let broken = br#"{"traceEvents":[{"ph":"X","ts":1},
{"ph":"X","ts":2,"args":[{"a":{"b":"c"d"}}]},
{"ph":"X","ts":3},{"ph":"X","ts":4}],
"metadata":{"modifications":{"entriesModifications":{"hiddenEntries":["r-0","r-1","s-2"],"expandableEntries":[]}}}}"#;
    let events = vec![r#"{"ph":"X","ts":5,"name":"work"}"#; 1000].join(",\n");
    let sound = format!("{{\"traceEvents\":[{events}]}}");
    let inputs = [broken.to_vec(), sound.into_bytes()];
    let (_, report) = run_verb(&inputs, PLAIN, |sources, output, config| {
        convert(sources, Style::Keep, output, config).expect("sound").run.annotations
    });
    assert_eq!(report.dropped, [(AnnotationDrop::Damaged, 2)]);
    assert_eq!(report.kept, 1);
}
