//! Generates random JSON values, strings, numbers and top-level keys, tidy or odd.

use super::TraceShape;
use super::json::Json;
use crate::Rng;

/// Text that misleads a careless scanner, escaped for use in a string.
const TRAPS: &[&str] = &[
    "],\\\"traceEvents\\\":[{",
    "}]}",
    "},{",
    "{\\\"ph\\\":\\\"X\\\",\\\"ts\\\":1}",
    "\\\"ts\\\":5,",
    "[[[[{{{{",
    "]]}}",
    "//",
    "/* */",
    ",",
    ":",
    "\\n{",
    "NaN",
    "\u{2028}",
    "\u{7f}",
    "é",
    "漢字",
    "😀",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\uDE00",
    "\\u0000",
    "\\b\\f\\n\\r\\t\\/",
    "\\\"",
    "\\\\",
];

const NAMES: &[&str] =
    &["RunTask", "FunctionCall", "v8.compile", "MinorGC", "Layout", "Paint", "x", ""];

/// Returns a string token with quotes.
pub(super) fn string(rng: &mut Rng, shape: &TraceShape) -> String {
    if !rng.chance(shape.odd) {
        return format!("\"{}\"", rng.pick(NAMES));
    }
    let mut text = String::from("\"");
    for _ in 0..rng.below(5) {
        match rng.below(6) {
            0 => text.push_str(rng.pick(NAMES)),
            // an even number of backslashes: a quote after them closes the string
            1 => (0..rng.below(40)).for_each(|_| text.push_str("\\\\")),
            // an odd number of backslashes before a quote: that quote does not close the string
            2 => {
                (0..rng.below(8)).for_each(|_| text.push_str("\\\\"));
                text.push_str("\\\"");
            }
            _ => text.push_str(rng.pick(TRAPS)),
        }
    }
    if shape.big && rng.chance(10) {
        let trap = rng.pick(TRAPS);
        let count = rng.below(100_000) as usize / trap.len().max(1);
        text.push_str(&trap.repeat(count));
    } else if rng.chance(10) {
        // lengths around the 64-byte blocks of a scanner
        (0..rng.range(50, 140)).for_each(|_| text.push('a'));
    }
    text.push('"');
    text
}

fn digits(rng: &mut Rng, count: u64) -> String {
    (0..count).map(|i| char::from(b'0' + rng.range(u64::from(i == 0), 9) as u8)).collect()
}

/// Returns a number token in any notation that real traces contain, of any size.
pub(super) fn odd_number(rng: &mut Rng) -> String {
    match rng.below(14) {
        0 => "0".into(),
        1 => rng.pick(&["-0", "-0.0", "0.000", "0e5"]).into(),
        2 => format!("-{}", rng.below(2000)),
        3 => "9.9999999999999995e-07".into(),
        4 => format!("{}E+{}", rng.range(1, 99), rng.below(20)),
        5 => format!("{}.{}e-{}", rng.below(10), digits(rng, 3), rng.below(400)),
        6 => digits(rng, 25),
        7 if rng.chance(20) => digits(rng, 400),
        8 => format!("{}", 9_007_199_254_740_990 + rng.below(6)),
        9 => "18446744073709551615".into(),
        10 => format!("1712195495533685.{:03}", rng.below(3) * 110),
        11 => format!("{}.{}", rng.below(3), digits(rng, 16)),
        12 => format!("{}e{}", rng.below(3), ["400", "-400", "99999999999999999999"][rng.index(3)]),
        _ => format!("{}", rng.below(50)),
    }
}

/// Returns a time, sometimes in another notation: decimals, an exponent, a string.
pub(super) fn time(rng: &mut Rng, shape: &TraceShape, value: i64) -> String {
    if !rng.chance(shape.odd) {
        return value.to_string();
    }
    match rng.below(9) {
        0 => format!("{value}.0"),
        1 => format!("{value}.{:03}", rng.below(1000)),
        2 => format!("{value}.{}", digits(rng, 16)),
        3 => format!("{value}e0"),
        4 if value != 0 => format!("{value}000E-3"),
        5 => format!("\"{value}\""),
        6 => format!("\"{value}.{:04}\"", rng.below(3)),
        7 => {
            let odd = [
                "null",
                "true",
                "\"invalid\"",
                "\" 5\"",
                "\"\"",
                "{}",
                "[1]",
                "\"0x5\"",
                "\"\\u0035\"",
            ];
            rng.pick(&odd).into()
        }
        _ => odd_number(rng),
    }
}

pub(super) fn id(rng: &mut Rng, shape: &TraceShape) -> String {
    if !rng.chance(shape.odd) {
        return rng.range(1, 4).to_string();
    }
    match rng.below(6) {
        0 => format!("\"{}\"", rng.range(1, 3)),
        1 => format!("\"0x{:x}\"", rng.below(16)),
        2 => "\"Spans\"".into(),
        3 => "139693758835584".into(),
        4 => rng.pick(&["-1", "0", "null", "1.5", "\"-1\""]).into(),
        _ => string(rng, shape),
    }
}

/// Returns a value for `args` or an unknown key.
pub(super) fn any(rng: &mut Rng, shape: &TraceShape, depth: u64) -> Json {
    if shape.big && depth == 0 && rng.chance(5) {
        let levels = rng.below(300) as usize;
        return Json::raw(format!("{}{}", "[".repeat(levels + 1), "]".repeat(levels + 1)));
    }
    match rng.below(if depth > 4 { 4 } else { 8 }) {
        0 => Json::raw(string(rng, shape)),
        1 => Json::raw(rng.below(1000).to_string()),
        2 if rng.chance(shape.odd) => Json::raw(odd_number(rng)),
        2 | 3 => Json::raw(rng.pick(&["true", "false", "null"])),
        4 | 5 => Json::Array((0..rng.below(4)).map(|_| any(rng, shape, depth + 1)).collect()),
        _ => {
            let members = (0..rng.below(4)).map(|_| (key(rng, shape), any(rng, shape, depth + 1)));
            Json::Object(members.collect())
        }
    }
}

/// Returns a key token: plain, an envelope name in the wrong place, or odd.
pub(super) fn key(rng: &mut Rng, shape: &TraceShape) -> String {
    match rng.below(4) {
        0 => {
            format!("\"{}\"", rng.pick(&["ts", "ph", "pid", "traceEvents", "name", "args", "dur"]))
        }
        1 => string(rng, shape),
        _ => format!("\"{}\"", rng.pick(&["data", "value", "url", "src_file", "k"])),
    }
}

/// Returns top-level members other than `traceEvents`.
pub(super) fn top_level(rng: &mut Rng, shape: &TraceShape, count: usize) -> Vec<(String, Json)> {
    (0..count).map(|_| top_level_member(rng, shape)).collect()
}

fn top_level_member(rng: &mut Rng, shape: &TraceShape) -> (String, Json) {
    let (name, value) = match rng.below(11) {
        0 => ("metadata", any(rng, shape, 1)),
        1 => ("displayTimeUnit", Json::raw(rng.pick(&["\"ms\"", "\"ns\""]))),
        2 | 3 => ("stackFrames", stack_frames(rng)),
        4 | 5 => ("samples", Json::Array((0..rng.below(4)).map(|_| sample(rng, shape)).collect())),
        6 => ("systemTraceEvents", Json::raw(string(rng, shape))),
        7 => ("baseTimeNanoseconds", Json::raw(odd_number(rng))),
        8 => {
            let inner = Json::object([("ts", Json::raw("1")), ("ph", Json::raw("\"X\""))]);
            ("otherData", Json::object([("traceEvents", Json::Array(vec![inner]))]))
        }
        9 => ("", any(rng, shape, 1)),
        _ if rng.chance(shape.odd) => {
            let odd = [
                "tracemill",
                "tracemill.2",
                "traceEvents2",
                "meta\\u0064ata",
                "\\\"traceEvents",
                "ts",
            ];
            (rng.pick(&odd), any(rng, shape, 1))
        }
        _ => ("deviceProperties", any(rng, shape, 1)),
    };
    (format!("\"{name}\""), value)
}

fn stack_frames(rng: &mut Rng) -> Json {
    let mut ids: Vec<u64> = (1..7).collect();
    rng.shuffle(&mut ids);
    ids.truncate(rng.index(5));
    let frame = |rng: &mut Rng, id| {
        // usually the same frame for the same id, so that some merges of frames collide and some do
        // not
        let name = Json::raw(format!("\"f{}\"", if rng.chance(95) { id } else { rng.below(9) }));
        (format!("\"{id}\""), Json::object([("name", name), ("category", Json::raw("\"c\""))]))
    };
    Json::Object(ids.into_iter().map(|id| frame(rng, id)).collect())
}

fn sample(rng: &mut Rng, shape: &TraceShape) -> Json {
    Json::object([
        ("cpu", Json::raw("0")),
        ("ts", Json::raw(rng.below(100).to_string())),
        ("name", Json::raw(string(rng, shape))),
        ("sf", Json::raw(rng.range(1, 6).to_string())),
    ])
}
