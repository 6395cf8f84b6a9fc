//! Generates small recordings with CPU profiles, for comparison with DevTools. They are like
//! recordings of Chrome and Node, but with more oddities.

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

/// Late start times in µs: a long uptime, and a time since 1970. Doubles resolve times since 1970
/// only to quarters of a microsecond.
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

/// Generates a recording determined by `seed`: an object with `traceEvents`. B and E events are on
/// one thread and in order, because DevTools pairs them across the whole file.
///
/// Threads have instants, trace ids of samples, and slices that nest, overlap, share start or end
/// times, or have zero or no duration. Some threads have CPU profiles with unknown samples,
/// negative deltas, garbage collections and equal nodes. Events have all args that DevTools
/// requires, so DevTools opens the recording.
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
        let mut slices = Vec::new();
        let has_profile = rng.chance(60);
        let scale = Scale {
            start,
            fine: rng.chance(40),
            ids: has_profile && rng.chance(40),
            pairs: at == paired,
        };
        fill(rng, thread, 0..LENGTH, 0, scale, &mut slices);
        if rng.chance(60) && !scale.pairs {
            rng.shuffle(&mut slices);
        }
        events.extend(slices);
        events.extend(pairs::pairs(rng, thread, start, LENGTH, scale));
        if has_profile {
            let profiles = 1 + u64::from(rng.chance(10));
            (0..profiles)
                .for_each(|number| sampled::profile(rng, thread, number, scale, &mut events));
        }
    }
    json!({"traceEvents": events, "metadata": {"source": "DevTools"}})
}

/// Fills a time range with nested slices.
fn fill(
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
            // overlaps the next slice
            dur += rng.below(40);
        }
        let name = match depth == 0 && rng.chance(70) {
            true => rng.pick(&TASKS),
            false => rng.pick(&catalogue::NAMES),
        };
        let slice = begun(rng, thread, name, at, scale);
        let end = finish(rng, slice, dur, scale, events);
        if dur > 2 {
            fill(rng, thread, at..(at + dur).min(to), depth + 1, scale, events);
        }
        events.extend(end);
        if rng.chance(25) {
            let ts = at + if scale.pairs { dur } else { rng.below(dur + 1) };
            let name = rng.pick(&catalogue::MOMENTS);
            let mut moment = begun(rng, thread, name, ts, scale);
            moment["s"] = json!("t");
            // instants of phase i, from other programs, are not entries
            moment["ph"] = json!(if rng.chance(96) { "I" } else { "i" });
            events.push(moment);
        }
        at += dur + rng.below(60) * u64::from(rng.chance(70));
    }
}

/// Creates a slice as a complete event without duration.
fn begun(rng: &mut Rng, thread: Thread, name: &str, at: u64, scale: Scale) -> Value {
    let cat = catalogue::categories(name).unwrap_or_else(|| rng.pick(&CATEGORIES));
    let args = catalogue::args(rng, name);
    let micros = scale.start + at;
    let ts = if scale.pairs { json!(micros) } else { scale.time(rng, micros) };
    let mut slice = event("X", thread, EventKind { name, cat }, ts, args);
    if scale.ids && rng.chance(40) {
        let id = json!(rng.below(6));
        match rng.index(3) {
            0 => slice["args"]["sampleTraceId"] = id,
            1 => slice["args"]["data"]["sampleTraceId"] = id,
            _ => slice["args"]["beginData"]["sampleTraceId"] = id,
        }
    }
    slice
}

/// Adds a slice. Returns the end event if the slice is written as a pair.
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
        let mut end_event = event.clone();
        end_event["ph"] = json!("E");
        end_event["ts"] = json!(event["ts"].as_u64().expect("whole microseconds") + dur);
        end = Some(end_event);
    } else if !rng.chance(4) {
        event["dur"] = scale.time(rng, dur);
    }
    events.push(event);
    end
}
