//! Changes the list of events, and their names, processes and threads.

use super::pick::one_of;
use crate::Rng;
use serde_json::{Value, json};

/// Names that DevTools handles specially.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "RunTask", "RunMicrotasks", "FunctionCall", "EvaluateScript", "v8.compile", "v8.evaluateModule", "V8.GC_MC", "MajorGC", "MinorGC",
    "EventDispatch", "V8Console::runTask", "v8.run", "Layout", "UpdateLayoutTree", "ParseHTML", "ParseAuthorStyleSheet", "Paint",
    "PrePaint", "Layerize", "Commit", "TimerFire", "TimerInstall", "FireAnimationFrame", "FireIdleCallback", "XHRReadyStateChange",
    "ResourceSendRequest", "ResourceReceiveResponse", "ResourceFinish", "Decode Image", "Draw LazyPixelRef", "Decode LazyPixelRef",
    "PaintImage", "UserTiming", "TimeStamp", "ConsoleTime", "EventTiming", "Animation", "UpdateCounters", "SchedulePostMessage",
    "HandlePostMessage", "CpuProfiler::StartProfiling", "JSSample", "ProfileCall", "Screenshot", "DrawFrame", "BeginFrame",
    "ActivateLayerTree", "GPUTask", "Program", "Blink.UMA::UMA", "thread_name", "CommitLoad", "TracingStartedInPage",
    "TracingSessionIdForWorker", "StreamingCompileScript", "WebSocketCreate", "InvalidateLayout", "HitTest", "LayoutShift",
    "navigationStart", "firstPaint", "MarkLoad", "Profile", "",
];

const CATEGORIES: &[&str] = &[
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "devtools.timeline,disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame",
    "blink.user_timing",
    "blink.console",
    "devtools.timeline,blink.user_timing",
    "v8",
    "v8,devtools.timeline,disabled-by-default-v8.compile",
    "toplevel",
    "__metadata",
    "cppgc",
    "",
];

/// Drops, duplicates or moves events.
pub(super) fn change_list(rng: &mut Rng, events: &mut Vec<Value>) {
    let at = rng.index(events.len());
    let to = rng.index(events.len());
    let length = 1 + rng.index((events.len() - at).min(30));
    match rng.below(10) {
        0 => drop(events.remove(at)),
        1 => drop(events.drain(at..at + length)),
        2 => events.insert(to, events[at].clone()),
        3 => {
            let copy = events[at..at + length].to_vec();
            drop(events.splice(to..to, copy));
        }
        4 => events.swap(at, to),
        5 => rng.shuffle(&mut events[at..at + length]),
        6 => {
            let moved: Vec<Value> = events.drain(at..at + length).collect();
            let to = rng.index(events.len() + 1);
            drop(events.splice(to..to, moved));
        }
        7 => {
            let name = events[at]["name"].clone();
            events.retain(|event| event["name"] != name);
        }
        _ => change_notable(rng, events),
    }
}

/// Changes events that identify pages, frames or threads: drops, duplicates or renames them.
fn change_notable(rng: &mut Rng, events: &mut Vec<Value>) {
    const NOTABLE: [&str; 6] = [
        "TracingStartedInBrowser",
        "navigationStart",
        "thread_name",
        "process_name",
        "CommitLoad",
        "FrameCommittedInBrowser",
    ];
    let name = NOTABLE[rng.index(NOTABLE.len())];
    let Some(at) = one_of(rng, events, |event| event["name"] == name) else { return };
    match rng.below(5) {
        0 => drop(events.remove(at)),
        1 => events.retain(|event| event["name"] != name),
        2 => events.insert(rng.index(events.len()), events[at].clone()),
        3 => {
            let mut copy = events[at].clone();
            if copy["args"]["name"].is_string() {
                let names = [
                    "CrRendererMain",
                    "DedicatedWorker thread",
                    "Compositor",
                    "ThreadPoolForegroundWorker",
                    "CrGpuMain",
                    "",
                    "CompositorTileWorker1",
                ];
                copy["args"]["name"] = json!(names[rng.index(names.len())]);
            }
            events.insert(rng.index(events.len()), copy);
        }
        _ => {
            let last = events.len();
            if let Some(frames) = events[at]["args"]["data"]["frames"].as_array_mut() {
                if rng.chance(50) { frames.clear() } else { drop(frames.pop()) }
            }
            events.swap(at, last - 1);
        }
    }
}

pub(super) fn rename(rng: &mut Rng, events: &mut [Value]) {
    let at = rng.index(events.len());
    let name = match rng.chance(60) {
        true => json!(NAMES[rng.index(NAMES.len())]),
        false => events[rng.index(events.len())]["name"].clone(),
    };
    let old = events[at]["name"].clone();
    if rng.chance(30) {
        // all events of the name
        events
            .iter_mut()
            .filter(|event| event["name"] == old)
            .for_each(|event| event["name"] = name.clone());
    } else if !name.is_null() {
        events[at]["name"] = name;
    }
}

/// Merges processes or threads, or moves events to another process or thread.
pub(super) fn move_thread(rng: &mut Rng, events: &mut [Value]) {
    let (at, other) = (rng.index(events.len()), rng.index(events.len()));
    let key = if rng.chance(50) { "pid" } else { "tid" };
    let (from, to) = (events[at][key].clone(), events[other][key].clone());
    match rng.below(4) {
        0 => events
            .iter_mut()
            .filter(|event| event[key] == from)
            .for_each(|event| event[key] = to.clone()),
        1 => {
            for key in ["pid", "tid"] {
                events[at][key] = events[other][key].clone();
            }
        }
        2 => events[at][key] = json!(rng.below(3)),
        _ => {
            // consecutive events of one thread
            let end = (at + 1 + rng.index(40)).min(events.len());
            events[at..end]
                .iter_mut()
                .filter(|event| event[key] == from)
                .for_each(|event| event[key] = to.clone());
        }
    }
}

pub(super) fn change_category(rng: &mut Rng, events: &mut [Value]) {
    let at = rng.index(events.len());
    let old = events[at]["cat"].clone();
    let cat = match rng.chance(70) {
        true => json!(CATEGORIES[rng.index(CATEGORIES.len())]),
        false => events[rng.index(events.len())]["cat"].clone(),
    };
    if cat.is_null() {
        return;
    }
    match rng.below(4) {
        0 => events
            .iter_mut()
            .filter(|event| event["cat"] == old)
            .for_each(|event| event["cat"] = cat.clone()),
        1 => drop(events[at].as_object_mut().and_then(|event| event.remove("cat"))),
        _ => events[at]["cat"] = cat,
    }
}
