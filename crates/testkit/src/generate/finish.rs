//! Assembles the members of an event. Some members are missing, duplicated, moved or escaped.

use super::json::Json;
use super::{TraceShape, value};
use crate::Rng;

/// A member of an event: name, value, and whether tidy events always have it.
pub(super) type ShapedMember = (&'static str, Json, bool);

/// Builds an event of `members`, with oddities according to the shape.
pub(super) fn finish(rng: &mut Rng, shape: &TraceShape, members: Vec<ShapedMember>) -> Json {
    let mut object: Vec<(String, Json)> = Vec::new();
    for (name, value, needed) in members {
        let odd = rng.chance(shape.odd);
        if odd && !needed && rng.chance(30) {
            continue;
        }
        if odd && rng.chance(15) {
            object.push((format!("\"{name}\""), Json::raw(value::odd_number(rng))));
        }
        let key = if odd && rng.chance(15) { escaped(rng, name) } else { name.to_owned() };
        object.push((format!("\"{key}\""), value));
    }
    if rng.chance(shape.odd) && rng.chance(30) && !object.is_empty() {
        object.remove(rng.index(object.len()));
    }
    if rng.chance(shape.odd) {
        let at = rng.index(object.len() + 1);
        object.insert(at, lookalike(rng, shape));
    }
    // duplicates keep their meaning only while the last one stays last: rotate, or shuffle all
    if rng.chance(shape.odd) || rng.chance(20) {
        rng.shuffle(&mut object);
    }
    Json::Object(object)
}

fn escaped(rng: &mut Rng, name: &str) -> String {
    let at = rng.index(name.len());
    let (head, tail) = name.split_at(at);
    let code = u32::from(tail.as_bytes()[0]);
    let escape = if rng.chance(50) { format!("\\u{code:04x}") } else { format!("\\u{code:04X}") };
    format!("{head}{escape}{}", &tail[1..])
}

/// Returns a member whose key resembles an envelope key but is no envelope key.
fn lookalike(rng: &mut Rng, shape: &TraceShape) -> (String, Json) {
    let keys = [
        "\\\"ts",
        "tss",
        "t",
        "",
        "ts ",
        "TS",
        "durr",
        "phx",
        "pi",
        "tid2",
        "\\\\ts",
        "args.ts",
        "\\n",
        "names",
        "\\ud800",
        "é",
        "ts\\u0000",
        "a long key that resembles no other, with many letters and ts in it",
    ];
    let nested = Json::object([("ts", Json::raw("5")), ("ph", Json::raw("\"M\""))]);
    let value = if rng.chance(50) { nested } else { value::any(rng, shape, 1) };
    (format!("\"{}\"", rng.pick(&keys)), value)
}
