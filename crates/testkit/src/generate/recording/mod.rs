//! Small recordings with CPU profiles, as Chrome and Node write them but stranger: what DevTools makes of them is asked of DevTools.

mod catalogue;
mod heads;
mod pairs;
mod parts;
mod sampled;

use crate::Rng;
use parts::{EventKind, LENGTH, Producer, RecordingLayout, START, Scale, Thread, event};
use serde_json::{Value, json};
use std::ops::Range;

pub use sampled::cpuprofile;

/// When others do: as long after a computer's start as real ones, and since 1970, where a double has no more than quarters.
const LATE_STARTS: [u64; 2] = [284_331_904_417, 1_700_000_000_000_000];

const TASKS: [&str; 4] =
    ["RunTask", "RunMicrotasks", "ThreadPool_RunTask", "ThreadControllerImpl::RunTask"];
const CATEGORIES: [&str; 6] = [
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "devtools.timeline,v8",
    "disabled-by-default-devtools.timeline,devtools.timeline",
    "toplevel",
    "blink.user_timing,rail",
];

/// A recording that follows from `seed` alone: an object with `traceEvents`. B and E are those of one thread and in order, since
/// DevTools pairs them over the whole file.
///
/// Threads have events that nest, overlap, begin or end at one time, last no time or have no duration, moments, trace ids of samples; some have
/// CPU profiles, with unknown samples, deltas below zero, collections of garbage at any place, nodes alike, and others. Events have the args
/// that DevTools reads, so that it opens the recording.
#[must_use]
pub fn recording(seed: u64) -> Value {
    let rng = &mut Rng::new(seed);
    let producer = match rng.index(5) {
        0..3 => Producer::Browser,
        3 => Producer::Node,
        _ => Producer::Generic,
    };
    let start = if rng.chance(70) { START } else { LATE_STARTS[rng.index(2)] };
    let RecordingLayout { threads, mut events, .. } = heads::heads(rng, producer, start);
    let paired = rng.index(2 * threads.len());
    for (at, thread) in threads.into_iter().enumerate() {
        let mut own = Vec::new();
        let has_profile = rng.chance(60);
        let scale = Scale {
            start,
            fine: rng.chance(40),
            ids: has_profile && rng.chance(40),
            pairs: at == paired,
        };
        stretch(rng, thread, 0..LENGTH, 0, scale, &mut own);
        if rng.chance(60) && !scale.pairs {
            rng.shuffle(&mut own);
        }
        events.extend(own);
        events.extend(pairs::pairs(rng, thread, start, LENGTH, scale));
        if has_profile {
            let profiles = 1 + u64::from(rng.chance(10));
            (0..profiles)
                .for_each(|number| sampled::profile(rng, thread, number, scale, &mut events));
        }
    }
    json!({"traceEvents": events, "metadata": {"source": "DevTools"}})
}

/// Fills a stretch of time with events, and these with others.
fn stretch(
    rng: &mut Rng,
    thread: Thread,
    range: Range<u64>,
    depth: usize,
    scale: Scale,
    events: &mut Vec<Value>,
) {
    let Range { start: from, end: to } = range;
    let mut at = from + rng.below(1 + (to - from) / 4) * u64::from(rng.chance(70));
    while at < to && depth < 9 && events.len() < 150 {
        let left = to - at;
        let mut dur = match rng.index(8) {
            0 => left,
            1 => rng.below(3),
            _ => 1 + rng.below(left),
        };
        if rng.chance(3) && !scale.pairs {
            // overlaps what comes behind
            dur += rng.below(40);
        }
        let name = match depth == 0 && rng.chance(70) {
            true => rng.pick(&TASKS),
            false => rng.pick(&catalogue::NAMES),
        };
        let own = begun(rng, thread, name, at, scale);
        let end = finish(rng, own, dur, scale, events);
        if dur > 2 {
            stretch(rng, thread, at..(at + dur).min(to), depth + 1, scale, events);
        }
        events.extend(end);
        if rng.chance(25) {
            let ts = at + if scale.pairs { dur } else { rng.below(dur + 1) };
            let name = rng.pick(&catalogue::MOMENTS);
            let mut moment = begun(rng, thread, name, ts, scale);
            moment["s"] = json!("t");
            // those of other programs are no entries
            moment["ph"] = json!(if rng.chance(96) { "I" } else { "i" });
            events.push(moment);
        }
        at += dur + rng.below(60) * u64::from(rng.chance(70));
    }
}

/// An event that begins, as a complete one.
fn begun(rng: &mut Rng, thread: Thread, name: &str, at: u64, scale: Scale) -> Value {
    let cat = catalogue::categories(name).unwrap_or_else(|| rng.pick(&CATEGORIES));
    let args = catalogue::args(rng, name);
    let micros = scale.start + at;
    let ts = if scale.pairs { json!(micros) } else { scale.time(rng, micros) };
    let mut own = event("X", thread, EventKind { name, cat }, ts, args);
    if scale.ids && rng.chance(40) {
        let id = json!(rng.below(6));
        match rng.index(3) {
            0 => own["args"]["sampleTraceId"] = id,
            1 => own["args"]["data"]["sampleTraceId"] = id,
            _ => own["args"]["beginData"]["sampleTraceId"] = id,
        }
    }
    own
}

/// Adds an event that lasts; gives the one that ends it, if it is one of two.
fn finish(
    rng: &mut Rng,
    mut event: Value,
    dur: u64,
    scale: Scale,
    events: &mut Vec<Value>,
) -> Option<Value> {
    let mut end = None;
    if scale.pairs {
        event["ph"] = json!("B");
        let mut own = event.clone();
        own["ph"] = json!("E");
        own["ts"] = json!(event["ts"].as_u64().expect("whole microseconds") + dur);
        end = Some(own);
    } else if !rng.chance(4) {
        event["dur"] = scale.time(rng, dur);
    }
    events.push(event);
    end
}
