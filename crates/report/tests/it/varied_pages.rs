//! Compares requests and page metrics with DevTools' engine, for real pages with lost, doubled,
//! late or incomplete events.

use crate::common::engine::engine;
use crate::common::files::{shared, trace_of};
use crate::insights::{ask, check, check_reflows};
use crate::report::{read as read_trace, report};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tracemill_testkit::{Rng, seeds};

/// Prefixes of the names of events that metrics need, except chunks of CPU profiles, which we order
/// differently.
const TOLD: [&str; 23] = [
    "TracingStartedInBrowser",
    "FrameCommittedInBrowser",
    "navigationStart",
    "SoftNavigationStart",
    "RenderFrameHostImpl::DidCommitSameDocumentNavigation",
    "CommitLoad",
    "firstContentfulPaint",
    "firstPaint",
    "largestContentfulPaint::",
    "LargestImagePaint",
    "LargestTextPaint",
    "LayoutShift",
    "EventTiming",
    "Mark",
    "Resource",
    "ParseHTML",
    "EvaluateScript",
    "FunctionCall",
    "Layout",
    "UpdateLayoutTree",
    "thread_name",
    "process_name",
    "RunTask",
];

fn is_told(event: &Value) -> bool {
    let name = event["name"].as_str().unwrap_or_default();
    TOLD.iter().any(|prefix| name.starts_with(prefix))
}

fn sources() -> Vec<Value> {
    let chromium =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/chromium/trace.json.gz");
    let page = shared().join("oracle/samples/web.json.gz");
    let others = [
        "chrome-devtools/chrome-85-parcel.json",
        "devtools/speedscope-chrome116.json.gz",
        "devtools/chromium156-worker.json.gz",
    ];
    let others = others.map(|name| shared().join("corpus").join(name));
    // The first file has all kinds of page events.
    let all = [page.clone(), page.clone(), page, chromium].into_iter().chain(others);
    all.filter(|path| path.exists()).filter_map(|path| trace_of(&path)).collect()
}

/// Returns an object within the args of an event.
fn object<'v>(rng: &mut Rng, event: &'v mut Value) -> Option<&'v mut Map<String, Value>> {
    let args = event["args"].as_object_mut()?;
    let key = ["data", "beginData", "frames"].into_iter().find(|key| args.contains_key(*key));
    match key {
        Some(key) if args[key].is_object() && rng.chance(80) => args[key].as_object_mut(),
        _ => Some(args),
    }
}

/// Returns a random member, if there is one, except `weighted_score_delta`.
fn member(rng: &mut Rng, of: &Map<String, Value>) -> Option<String> {
    let all: Vec<&String> = of.keys().filter(|key| *key != "weighted_score_delta").collect();
    (!all.is_empty()).then(|| all[rng.index(all.len())].clone())
}

fn change(rng: &mut Rng, events: &mut Vec<Value>) {
    let places: Vec<usize> = (0..events.len()).filter(|at| is_told(&events[*at])).collect();
    if places.is_empty() {
        return;
    }
    let at = places[rng.index(places.len())];
    let event = &mut events[at];
    match rng.below(7) {
        0 => drop(events.remove(at)),
        // Events that a recording lost, or never had.
        1 => {
            let name = event["name"].clone();
            events.retain(|other| other["name"] != name);
        }
        2 | 3 => {
            let Some(of) = object(rng, event) else { return };
            if let Some(key) = member(rng, of) {
                of.remove(&key);
            }
        }
        4 => {
            let Some(of) = object(rng, event) else { return };
            let Some(key) = member(rng, of) else { return };
            let all = [json!(0), json!(1), json!(7.25), json!("x"), json!(true)];
            let of_kind = |value: &&Value| {
                std::mem::discriminant(*value) == std::mem::discriminant(&of[&key])
            };
            let all: Vec<&Value> = all.iter().filter(of_kind).collect();
            if !all.is_empty() {
                of[&key] = all[rng.index(all.len())].clone();
            }
        }
        5 => {
            let later = rng.below(2_000_000) as i64 - 1_000_000;
            if let Some(ts) = event["ts"].as_i64() {
                event["ts"] = json!((ts + later).max(1));
            }
        }
        _ => {
            let mut copy = event.clone();
            let later = rng.below(400_000) as i64;
            copy["ts"] = json!(copy["ts"].as_i64().unwrap_or(1) + later);
            if copy["args"]["data"]["navigationId"].is_string() && rng.chance(50) {
                copy["args"]["data"]["navigationId"] = json!("another");
            }
            events.insert(at + 1, copy);
        }
    }
}

/// Adds soft navigations with their paints.
fn soften(rng: &mut Rng, events: &mut Vec<Value>) {
    let is_navigation =
        |event: &&Value| event["name"] == "navigationStart" && event["args"]["frame"].is_string();
    let Some(navigation) = events.iter().find(is_navigation).cloned() else { return };
    let time = |value: &Value| value["ts"].as_i64().unwrap_or(1);
    let last = events.iter().map(time).max().unwrap_or(1);
    let first = time(&navigation);
    for _ in 0..rng.range(1, 3) {
        let ts = first + rng.below((last - first).max(1) as u64) as i64;
        let (id, url) = (rng.range(1, 3), format!("https://soft.test/{ts}"));
        let mut event = navigation.clone();
        event["ts"] = json!(ts);
        let mut all = Vec::new();
        if rng.chance(90) {
            let painted = if rng.chance(80) { json!(ts + 1000) } else { json!(0) };
            let context = json!({"performanceTimelineNavigationId": id, "URL": url, "firstContentfulPaint": painted});
            event["name"] = json!("SoftNavigationStart");
            event["ph"] = json!("n");
            event["id"] = json!(format!("0x{ts:x}"));
            event["args"] = json!({"frame": navigation["args"]["frame"], "context": context});
            all.push(event.clone());
        }
        for index in 0..rng.below(3) as i64 {
            let data = json!({"candidateIndex": index + 1, "performanceTimelineNavigationId": id, "nodeId": 7 + index,
                "navigationId": navigation["args"]["data"]["navigationId"], "isMainFrame": true, "isOutermostMainFrame": true});
            event["name"] = json!("largestContentfulPaint::CandidateForSoftNavigation");
            event["ph"] = json!("R");
            event["ts"] = json!(ts + 2000 * (1 + index));
            event["args"] = json!({"frame": navigation["args"]["frame"], "data": data});
            all.push(event.clone());
        }
        if rng.chance(70) {
            let before = json!({"name": "RenderFrameHostImpl::DidCommitSameDocumentNavigation", "ph": "X", "cat": "navigation", "dur": 5,
                "pid": event["pid"], "tid": event["tid"], "ts": ts - 20_000 + rng.below(40_000) as i64,
                "args": {"url": url, "render_frame_host": {"frame_type": "PRIMARY_MAIN_FRAME"}}});
            all.push(before);
        }
        // Insert them in the order of time, like a program.
        for event in all {
            let at =
                events.iter().position(|known| known["ph"] != "M" && time(known) > time(&event));
            events.insert(at.unwrap_or(events.len()), event);
        }
    }
}

/// Scales all times, like a faster clock.
fn scale_times(events: &mut [Value], by: f64) {
    for event in events {
        for key in ["ts", "dur"] {
            if let Some(time) = event[key].as_f64() {
                event[key] = json!((time * by).round());
            }
        }
    }
}

/// Keeps the thread with most layouts, since the engine uses one stack for all threads to find
/// forced layouts.
fn alone(events: &mut Vec<Value>) {
    let thread = |event: &Value| (event["pid"].as_u64(), event["tid"].as_u64());
    let mut counts = BTreeMap::new();
    for event in events.iter().filter(|event| event["name"] == "Layout") {
        *counts.entry(thread(event)).or_insert(0) += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count).map(|(thread, _)| thread);
    events.retain(|event| {
        let is_of_all = event["ph"] == "M" || event["name"] == "TracingStartedInBrowser";
        is_of_all || Some(thread(event)) == most
    });
}

fn variant(rng: &mut Rng, source: &Value, is_alone: bool) -> String {
    let mut trace = source.clone();
    let list = if trace.is_array() { &mut trace } else { &mut trace["traceEvents"] };
    let events = list.as_array_mut().expect("a list of events");
    if is_alone {
        alone(events);
    }
    if rng.chance(35) {
        soften(rng, events);
    }
    for _ in 0..rng.range(1, 6) {
        change(rng, events);
    }
    if rng.chance(20) {
        let by = *[0.5, 0.999, 1.25, 3.0].get(rng.index(4)).expect("one of four");
        scale_times(events, by);
    }
    // The engine reports forced layouts in file order, we by time.
    if is_alone {
        let time = |value: &Value| value["ts"].as_f64().unwrap_or(0.0);
        events.sort_by(|a, b| time(a).total_cmp(&time(b)));
    }
    trace.to_string()
}

/// A failing file is kept, and named by its seed.
#[test]
fn varied_pages_match_the_engine() {
    let Some(engine) = engine() else { return };
    let mut kept = tempfile::tempdir().expect("a folder");
    let folder = kept.path().to_owned();
    let sources = sources();
    let (mut wrong, mut figures, mut soft, mut refused) = (Vec::new(), 0, 0, 0);
    let all = seeds(1, 30);
    let compared = all.end - all.start;
    for seed in all {
        let rng = &mut Rng::new(seed);
        let path = folder.join(format!("{seed}.json"));
        let source = &sources[rng.index(sources.len())];
        let is_alone = rng.chance(30);
        std::fs::write(&path, variant(rng, source, is_alone)).expect("a file");
        // Each file gets its own process, because the engine keeps some state.
        let Some(lines) = ask(engine, &path) else {
            refused += 1;
            continue;
        };
        let is_soft = |line: &&Value| {
            line["navigation"].is_object() && line["navigation"]["navigationId"].is_null()
        };
        soft += lines.iter().filter(is_soft).count() as u64;
        let name = path.display().to_string();
        let compare = AssertUnwindSafe(|| {
            let report = report(&read_trace(&path, 256 << 20));
            if is_alone {
                check_reflows(&report, &lines, &name);
            }
            check(&report, &lines, &name).1
        });
        match catch_unwind(compare) {
            Ok(count) => figures += count,
            Err(_) => wrong.push(name),
        }
    }
    kept.disable_cleanup(!wrong.is_empty());
    assert!(wrong.is_empty(), "what is said above is wrong of {wrong:#?}");
    let summary = format!("{refused} are refused, {figures} figures, {soft} soft navigations");
    assert!(2 * refused < compared && figures > compared / 2 && soft > compared / 10, "{summary}");
}
