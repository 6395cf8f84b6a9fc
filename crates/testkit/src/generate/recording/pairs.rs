//! Generates measures, `console.time`, animations, interactions, flows and marks. DevTools shows
//! only the marks as entries of a thread.

use super::parts::{EventKind, Scale, Thread, event};
use crate::Rng;
use serde_json::{Value, json};

/// `detail` of performance.measure for extension tracks.
const DETAILS: [&str; 4] = [
    r#"{"devtools":{"dataType":"track-entry","track":"Track","trackGroup":"Group","color":"primary"}}"#,
    r#"{"devtools":{"dataType":"marker","color":"error","tooltipText":"x"}}"#,
    r#"{"mine":1}"#,
    "no JSON",
];

pub(super) fn pairs(
    rng: &mut Rng,
    thread: Thread,
    start: u64,
    length: u64,
    scale: Scale,
) -> Vec<Value> {
    let mut events = Vec::new();
    for _ in 0..rng.below(12) {
        let from = start + rng.below(length);
        let (ts, until) = (scale.time(rng, from), json!(from + rng.below(400)));
        let detail = rng.pick(&DETAILS);
        let id = json!(["0x1", "0x2", "0x3"][rng.index(3)]);
        let (kind, phases, args) = match rng.index(6) {
            0 => (
                EventKind { name: "measured", cat: "blink.user_timing" },
                ["b", "e"],
                json!({"detail": detail, "traceId": 3}),
            ),
            1 => (EventKind { name: "timed", cat: "blink.console" }, ["b", "e"], json!({})),
            2 => (
                EventKind {
                    name: "Animation",
                    cat: "blink.animations,devtools.timeline,benchmark,rail",
                },
                ["b", "e"],
                json!({"data": {"id": "1", "name": "fade", "displayName": "fade"}}),
            ),
            3 => (
                EventKind { name: "EventTiming", cat: "devtools.timeline" },
                ["b", "e"],
                json!({"frame": "F", "data": {"type": "click", "interactionId": 3, "duration": 9, "timeStamp": 4, "processingStart": 5, "processingEnd": 6}}),
            ),
            4 => (EventKind { name: "v8::Debugger::AsyncTask", cat: "v8" }, ["s", "f"], json!({})),
            _ => {
                let phase = rng.pick(&["I", "R"]);
                let args =
                    json!({"data": {"detail": detail, "startTime": 3.5, "navigationId": "N1"}});
                events.push(event(
                    phase,
                    thread,
                    EventKind { name: rng.pick(&["marked", "größer"]), cat: "blink.user_timing" },
                    ts,
                    args,
                ));
                continue;
            }
        };
        for (phase, ts) in phases.into_iter().zip([ts, until]) {
            let mut half = event(phase, thread, kind, ts, args.clone());
            match rng.index(4) {
                0 if kind.name != "EventTiming" => half["id2"] = json!({"local": id}),
                _ => half["id"] = id.clone(),
            }
            events.push(half);
        }
    }
    events
}
