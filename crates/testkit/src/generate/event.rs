//! Generates the events of a trace, in file order.

use super::finish::{ShapedMember, finish};
use super::json::Json;
use super::{Disorder, TraceShape, profile, value};
use crate::Rng;

const PHASES: &[&str] = &[
    "B", "E", "X", "X", "X", "i", "I", "C", "b", "n", "e", "S", "T", "p", "F", "s", "t", "f", "P",
    "N", "O", "D", "M", "M", "v", "R", "c", "(", ")", "=",
];

const ODD_PHASES: &[&str] =
    &["\"Z\"", "\"\"", "\"XX\"", "\"\\u004d\"", "\"\\u0058\"", "5", "null", "\"é\""];

/// Generates exactly `shape.events` events. Chunks of profile streams are among the other events.
pub(super) fn events(rng: &mut Rng, shape: &TraceShape) -> Vec<Json> {
    let times = times(rng, shape);
    let rate = if shape.profile_streams == 0 { 0 } else { shape.profile_rate };
    let in_profile: Vec<bool> = times.iter().map(|_| rng.chance(rate)).collect();
    let slots: Vec<i64> =
        times.iter().zip(&in_profile).filter(|(_, p)| **p).map(|(&time, _)| time).collect();
    let mut chunks = profile::chunks(rng, shape, &slots).into_iter();
    let mut events = Vec::with_capacity(times.len());
    for (ts, in_profile) in times.into_iter().zip(in_profile) {
        let chunk = if in_profile { chunks.next() } else { None };
        events.push(chunk.unwrap_or_else(|| event(rng, shape, ts)));
    }
    events
}

fn times(rng: &mut Rng, shape: &TraceShape) -> Vec<i64> {
    let mut ts = if rng.chance(80) { rng.below(1000) as i64 } else { 1_712_195_495_533_685 };
    if rng.chance(10) {
        ts = -100;
    }
    let mut times = Vec::with_capacity(shape.events);
    for _ in 0..shape.events {
        if !rng.chance(shape.equal_ts) {
            ts += rng.below(20) as i64;
        }
        times.push(ts);
    }
    match shape.disorder {
        Disorder::Sorted => {}
        Disorder::Neighbours => {
            for i in 1..times.len() {
                if rng.chance(17) {
                    times.swap(i - 1, i);
                }
            }
        }
        Disorder::Batches => {
            let mut rest = &mut times[..];
            while !rest.is_empty() {
                let size = (rng.range(1, 30) as usize).min(rest.len());
                let (batch, tail) = rest.split_at_mut(size);
                // buffers of two threads, each sorted
                let half = rng.index(size);
                batch.rotate_left(half);
                rest = tail;
            }
        }
        Disorder::Reversed => times.reverse(),
        Disorder::Random => rng.shuffle(&mut times),
    }
    times
}

pub(super) fn event(rng: &mut Rng, shape: &TraceShape, ts: i64) -> Json {
    if rng.chance(shape.odd) && rng.chance(15) {
        return Json::Object(Vec::new());
    }
    let ph = if rng.chance(shape.odd) && rng.chance(30) {
        (*rng.pick(ODD_PHASES)).to_owned()
    } else {
        format!("\"{}\"", rng.pick(PHASES))
    };
    let mut members: Vec<ShapedMember> = vec![
        ("args", value::any(rng, shape, 0), true),
        ("cat", Json::raw(value::string(rng, shape)), true),
        ("name", Json::raw(name(rng, shape)), true),
    ];
    if ph == "\"X\"" || rng.chance(5) {
        let dur = rng.below(4) as i64 - i64::from(rng.chance(3));
        members.push(("dur", Json::raw(value::time(rng, shape, dur)), true));
    }
    if "bnesTpFstfNODC(".contains(ph.trim_matches('"')) {
        members.push(("id", Json::raw(value::id(rng, shape)), false));
    }
    let timeless = (ph == "\"M\"" && rng.chance(60)) || (rng.chance(shape.odd) && rng.chance(20));
    members.push(("ph", Json::Raw(ph), true));
    members.push(("pid", Json::raw(value::id(rng, shape)), true));
    members.push(("tid", Json::raw(value::id(rng, shape)), true));
    if !timeless {
        members.push(("ts", Json::raw(value::time(rng, shape, ts)), true));
    }
    if rng.chance(20) {
        members.push(optional(rng, shape));
    }
    finish(rng, shape, members)
}

fn name(rng: &mut Rng, shape: &TraceShape) -> String {
    if rng.chance(shape.odd) && rng.chance(10) {
        // resembles part of a profile stream, but is no chunk
        return rng.pick(&["\"Profile\"", "\"ProfileChunk2\"", "\"\\\\ProfileChunk\""]).into();
    }
    value::string(rng, shape)
}

fn optional(rng: &mut Rng, shape: &TraceShape) -> ShapedMember {
    let hex = Json::raw(format!("\"0x{:x}\"", rng.below(255)));
    match rng.below(8) {
        0 => ("id2", Json::object([(["local", "global"][rng.index(2)], hex)]), false),
        1 => ("bind_id", hex, false),
        2 => ("scope", Json::raw("\"s\""), false),
        3 => ("s", Json::raw("\"t\""), false),
        4 => ("tts", Json::raw(value::time(rng, shape, 12)), false),
        5 => ("bp", Json::raw("\"e\""), false),
        6 => ("sf", Json::raw("3"), false),
        _ => ("cname", Json::raw("\"good\""), false),
    }
}
