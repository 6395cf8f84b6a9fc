//! Generates traces with different clocks: ranks of one job, each with its own clock, and events
//! with times in their args.

use super::json::Json;
use super::{Layout, TraceShape, finish, value};
use crate::Rng;

/// The time, since 1970, from which a rank counts its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// Format in which the trace states this time.
    pub key: BaseFormat,
    /// Nanoseconds.
    pub ns: i64,
}

/// The format in which the trace of a rank states its base time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BaseFormat {
    /// `"baseTimeNanoseconds":` with a number.
    Kineto,
    /// `"baseTimeNanoseconds":` with a string.
    KinetoText,
    /// `"viztracer_metadata":{"baseTimeNanoseconds":…}`.
    VizTracer,
    /// `"beginningOfTime":` in microseconds.
    Clang,
    Nowhere,
}

/// Deviation of a rank's clock from the true time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Skew {
    /// Nanoseconds that the clock is ahead.
    pub offset_ns: i64,
    /// Parts per billion by which the clock is slow.
    pub drift_ppb: i64,
    /// Maximum random delay of single events in nanoseconds.
    pub jitter_ns: u64,
}

/// Generates the trace of a rank with `events` events; every tenth event has the name `step`. The
/// true times depend only on `seed`, not on the clock or the rank. Each event has its true time in
/// `args.true_ns`, in nanoseconds since 1970.
///
/// Times are written relative to `base`, with the required decimals or with three decimals. For
/// [`BaseFormat::Clang`], `base` must be whole microseconds.
#[must_use]
pub fn rank(seed: u64, number: usize, events: usize, base: Base, skew: Skew) -> Vec<u8> {
    const START: i64 = 1_721_065_958_000_000_000;
    let (mut truth, mut rng) = (Rng::new(seed), Rng::new(seed ^ (number as u64 + 1) << 32));
    let mut list = Vec::new();
    let mut time = START;
    for at in 0..events {
        time += truth.range(1, 3_000_000) as i64;
        let late = rng.below(skew.jitter_ns + 1) as i64;
        let drift = i128::from(time - START) * i128::from(skew.drift_ppb) / 1_000_000_000;
        let ns = time + skew.offset_ns - drift as i64 + late - base.ns;
        let name = if at % 10 == 3 { "step" } else { "work" };
        let micros = micros(ns, rng.chance(50));
        let ts = if rng.chance(5) { format!("\"{micros}\"") } else { micros };
        list.push(format!(
            "{{\"ph\":\"X\",\"cat\":\"op\",\"name\":\"{name}\",\"pid\":{number},\"tid\":{},\"ts\":{ts},\"dur\":1.500,\"args\":{{\"true_ns\":{time}}}}}",
            at % 3
        ));
    }
    // events in order of their ends
    (1..list.len())
        .filter(|_| rng.chance(20))
        .collect::<Vec<_>>()
        .into_iter()
        .for_each(|at| list.swap(at - 1, at));
    let Base { key, ns } = base;
    let key = match key {
        BaseFormat::Nowhere => String::new(),
        BaseFormat::Kineto => format!("\"baseTimeNanoseconds\":{ns}"),
        BaseFormat::KinetoText => format!("\"baseTimeNanoseconds\":\"{ns}\""),
        BaseFormat::VizTracer => {
            format!("\"viztracer_metadata\":{{\"version\":\"1.1\",\"baseTimeNanoseconds\":{ns}}}")
        }
        BaseFormat::Clang => format!("\"beginningOfTime\":{}", ns / 1000),
    };
    let events = format!("\"traceEvents\":[\n{}\n]", list.join(",\n"));
    let all = match (key.is_empty(), rng.chance(50)) {
        (true, _) => events,
        (false, true) => format!("{key},{events}"),
        (false, false) => format!("{events},{key}"),
    };
    format!("{{{all}}}\n").into_bytes()
}

fn micros(ns: i64, all_decimals: bool) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let (whole, rest) = (ns.unsigned_abs() / 1000, ns.unsigned_abs() % 1000);
    match rest {
        0 if !all_decimals => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{rest:03}"),
    }
}

/// Generates a trace of `events` events with times in args that viewers read, in all notations, and
/// some lookalikes.
#[must_use]
pub fn times_in_args(seed: u64, events: usize, odd: u64) -> Vec<u8> {
    let rng = &mut Rng::new(seed);
    let shape = TraceShape { odd, ..TraceShape::plain(events) };
    let list: Vec<Json> = (0..events as i64)
        .map(|at| {
            let ts = 5000 + at * 3 - rng.below(9) as i64;
            let (name, args) = args(rng, &shape, ts);
            let ph = rng.pick(&["P", "X", "I", "R", "c", "M"]);
            let cat = rng.pick(&["a", "a,blink.user_timing", "blink"]);
            let ts = if rng.chance(10) { 0 } else { ts };
            let members = vec![
                ("args", args, true),
                ("cat", Json::raw(format!("\"{cat}\"")), true),
                ("id", Json::raw("\"0x1\""), true),
                ("name", Json::raw(format!("\"{name}\"")), true),
                ("ph", Json::raw(format!("\"{ph}\"")), true),
                ("pid", Json::raw("7"), true),
                ("ts", Json::raw(value::time(rng, &shape, ts)), true),
            ];
            finish::finish(rng, &shape, members)
        })
        .collect();
    let mut out = String::new();
    let layout = [Layout::Lines, Layout::Ragged, Layout::TwoSpaces][rng.index(3)];
    Json::Events(list).write(&mut out, rng, layout);
    out.push('\n');
    out.into_bytes()
}

fn args(rng: &mut Rng, shape: &TraceShape, ts: i64) -> (&'static str, Json) {
    let time = |rng: &mut Rng| Json::raw(value::time(rng, shape, ts));
    let data = |members: Vec<(&'static str, Json)>| Json::object([("data", Json::object(members))]);
    match rng.below(8) {
        0 => ("Profile", data(vec![("startTime", time(rng)), ("other", time(rng))])),
        1 => {
            let whole = vec![
                ("startTime", time(rng)),
                ("endTime", time(rng)),
                ("samples", Json::Array(vec![])),
            ];
            let name = *rng.pick(&[&"CpuProfile", &"Profile"]);
            (name, data(vec![("cpuProfile", Json::object(whole))]))
        }
        2 => {
            let deltas = (0..rng.below(4)).map(|_| time(rng)).collect();
            (
                "CpuProfiler::StopProfiling",
                data(vec![("endTime", time(rng)), ("timeDeltas", Json::Array(deltas))]),
            )
        }
        3 => {
            let timing = Json::object([("requestTime", time(rng)), ("sendEnd", time(rng))]);
            ("ResourceReceiveResponse", data(vec![("timing", timing)]))
        }
        4 => ("ResourceFinish", data(vec![("finishTime", time(rng))])),
        5 => ("TimeStamp", data(vec![("start", time(rng)), ("end", Json::raw("\"5\""))])),
        6 => {
            ("clock_sync", Json::object([("issue_ts", time(rng)), ("sync_id", Json::raw("\"s\""))]))
        }
        _ => (
            "mark",
            Json::object([
                ("callTime", time(rng)),
                ("data", Json::object([("callTime", time(rng))])),
            ]),
        ),
    }
}
