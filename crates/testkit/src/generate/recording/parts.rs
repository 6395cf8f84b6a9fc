//! Types and values shared by the parts of recordings.

use crate::Rng;
use serde_json::{Value, json};

/// Minimum length of a recording in microseconds.
pub(super) const LENGTH: u64 = 3000;
/// The usual start time in microseconds.
pub(super) const START: u64 = 5_000_000;
pub(super) const URLS: [&str; 14] = [
    "https://www.shop.co.uk/app.js",
    "https://cdn.shop.co.uk/vendor.js?v=1",
    "https://www.google-analytics.com/analytics.js",
    "http://192.168.1.20:8080/a.js",
    "http://localhost:3000/a.js",
    "chrome-extension://abcdefghijklmnop/content.js",
    "https://www.shop.co.uk/node_modules/left/index.js",
    "file:///srv/node_modules/left/index.js",
    "node:internal/timers",
    "node:fs",
    "native V8Runtime",
    "native array.js",
    "extensions::binding",
    "",
];
/// Frames that events refer to; no event introduces the last frame.
pub(super) const FRAMES: [&str; 4] = ["F", "G", "H", "nowhere"];

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Producer {
    Browser,
    Node,
    Generic,
}

#[derive(Clone, Copy)]
pub(super) struct Thread {
    pub(super) pid: u64,
    pub(super) tid: u64,
}

/// Name and categories of an event.
#[derive(Clone, Copy)]
pub(super) struct EventKind<'k> {
    pub(super) name: &'k str,
    pub(super) cat: &'k str,
}

pub(super) struct RecordingLayout {
    pub(super) threads: Vec<Thread>,
    pub(super) events: Vec<Value>,
    pub(super) start: u64,
}

/// Notation of times, and optional features of events.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) start: u64,
    /// Whether times have digits below the microsecond.
    pub(super) fine: bool,
    /// Whether events have trace ids of samples.
    pub(super) ids: bool,
    /// Whether B and E replace X.
    pub(super) pairs: bool,
}

impl Scale {
    pub(super) fn time(self, rng: &mut Rng, micros: u64) -> Value {
        match self.fine && rng.chance(50) {
            true => json!((micros * 1000 + rng.below(1000)) as f64 / 1000.0),
            false => json!(micros),
        }
    }
}

pub(super) fn event(
    phase: &str,
    thread: Thread,
    kind: EventKind<'_>,
    ts: Value,
    args: Value,
) -> Value {
    let (Thread { pid, tid }, EventKind { name, cat }) = (thread, kind);
    json!({"ph": phase, "name": name, "cat": cat, "pid": pid, "tid": tid, "ts": ts, "args": args})
}
