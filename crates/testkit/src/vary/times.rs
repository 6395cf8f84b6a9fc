//! Changes times and phases: ties, zeros, fractions, gaps, overlaps, begins without ends.

use super::pick::one_of;
use crate::Rng;
use serde_json::{Value, json};

fn time(event: &Value, key: &str) -> f64 {
    event[key].as_f64().unwrap_or_default()
}

/// Formats a number like most programs, without a fraction if it is whole.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

fn is_timed(event: &Value) -> bool {
    event["ts"].is_number() && event["ph"] != "M"
}

pub(super) fn change(rng: &mut Rng, events: &mut [Value]) {
    let Some(at) = one_of(rng, events, is_timed) else { return };
    let Some(other) = one_of(rng, events, is_timed) else { return };
    let (ts, to) = (time(&events[at], "ts"), time(&events[other], "ts"));
    let fraction = [0.5, 0.25, 0.001, 0.1, 0.333, 0.999][rng.index(6)];
    match rng.below(14) {
        0 => events[at]["ts"] = events[other]["ts"].clone(),
        1 => events[at]["ts"] = number(0.0),
        2 => events[at]["ts"] = number(-1.0 - rng.below(1000) as f64),
        3 => events[at]["ts"] = number(ts + fraction),
        4 => {
            let gap = [1e6, 1e9, 1e12, 3.7][rng.index(4)];
            let later =
                events.iter_mut().filter(|event| is_timed(event) && time(event, "ts") >= ts);
            later.for_each(|event| event["ts"] = number(time(event, "ts") + gap));
        }
        5 => {
            events.iter_mut().skip(at).take(60).filter(|event| is_timed(event)).for_each(|event| {
                // coarse clocks produce ties
                event["ts"] = number((time(event, "ts") / 100.0).floor() * 100.0);
            })
        }
        6 => events.iter_mut().filter(|event| is_timed(event)).for_each(|event| {
            for key in ["ts", "dur"] {
                if event[key].is_number() {
                    event[key] = number(time(event, key) * (1.0 + fraction / 16.0));
                }
            }
        }),
        7 => events[at]["ts"] = number(to + time(&events[other], "dur")),
        _ => change_duration(rng, events, fraction),
    }
}

fn change_duration(rng: &mut Rng, events: &mut [Value], fraction: f64) {
    let Some(at) = one_of(rng, events, |event| event["dur"].is_number()) else { return };
    let Some(other) = one_of(rng, events, is_timed) else { return };
    let dur = time(&events[at], "dur");
    let till_other = time(&events[other], "ts") - time(&events[at], "ts");
    match rng.below(8) {
        0 => events[at]["dur"] = number(0.0),
        1 => events[at]["dur"] = number(-1.0 - rng.below(500) as f64),
        2 => events[at]["dur"] = number(dur + fraction),
        3 => events[at]["dur"] = number(dur * 3.0 + 10.0),
        4 => events[at]["dur"] = number(till_other.max(0.0)),
        5 => events[at]["dur"] = number((till_other + time(&events[other], "dur")).max(0.0)),
        6 => drop(events[at].as_object_mut().and_then(|fields| fields.remove("dur"))),
        _ => events.iter_mut().skip(at).take(30).for_each(|event| {
            if event["dur"].is_number() {
                event["dur"] = number(time(event, "dur") * 1.5);
            }
        }),
    }
}

/// Returns the end event for a complete event that becomes a begin event.
fn end_of(event: &Value) -> Value {
    let mut end = event.clone();
    end["ph"] = json!("E");
    end["ts"] = number(time(event, "ts") + time(event, "dur"));
    drop(end.as_object_mut().and_then(|fields| fields.remove("dur")));
    end
}

/// Converts complete events to pairs, drops begin or end events, changes phases, or breaks pairs of
/// async events.
pub(super) fn change_phase(rng: &mut Rng, events: &mut Vec<Value>) {
    let phase = |wanted: &'static str| move |event: &Value| event["ph"] == wanted;
    let async_keys = ["b", "e", "n", "s", "f"];
    match rng.below(8) {
        0 | 1 => {
            let Some(at) = one_of(rng, events, phase("X")) else { return };
            let end = end_of(&events[at]);
            events[at]["ph"] = json!("B");
            drop(events[at].as_object_mut().and_then(|fields| fields.remove("dur")));
            let until = time(&end, "ts");
            let rest = &events[at + 1..];
            let later = rest.iter().position(|event| is_timed(event) && time(event, "ts") >= until);
            let to = later.map_or(events.len(), |later| at + 1 + later);
            events.insert(to, end);
        }
        2 => {
            let name = ["B", "E"][rng.index(2)];
            let Some(at) = one_of(rng, events, phase(name)) else { return };
            drop(events.remove(at));
        }
        3 => {
            let Some(at) = one_of(rng, events, is_timed) else { return };
            events[at]["ph"] = json!(["X", "I", "B", "E", "i", "R", "P", "C", "n"][rng.index(9)]);
        }
        4 => {
            // write all complete events of the thread as pairs
            let Some(at) = one_of(rng, events, phase("X")) else { return };
            let (pid, tid) = (events[at]["pid"].clone(), events[at]["tid"].clone());
            let of_thread =
                |event: &Value| event["pid"] == pid && event["tid"] == tid && event["ph"] == "X";
            let mut ends: Vec<Value> =
                events.iter().filter(|event| of_thread(event)).map(end_of).collect();
            for event in events.iter_mut().filter(|event| of_thread(event)) {
                event["ph"] = json!("B");
                drop(event.as_object_mut().and_then(|fields| fields.remove("dur")));
            }
            events.append(&mut ends);
            let order = |event: &Value| (event["ph"] != "M", time(event, "ts"));
            events.sort_by(|a, b| {
                order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal)
            });
        }
        _ => {
            let is_async = |value: &Value| async_keys.iter().any(|key| value["ph"] == *key);
            let Some(at) = one_of(rng, events, is_async) else { return };
            match rng.below(4) {
                0 => drop(events.remove(at)),
                1 => events.insert(at, events[at].clone()),
                2 => {
                    let other = one_of(rng, events, is_async).unwrap_or(at);
                    for key in ["id", "id2"] {
                        if !events[other][key].is_null() {
                            events[at][key] = events[other][key].clone();
                        }
                    }
                }
                _ => {
                    let object = events[at].as_object_mut();
                    drop(
                        object.and_then(|fields| {
                            fields.remove("id").or_else(|| fields.remove("id2"))
                        }),
                    );
                }
            }
        }
    }
}
