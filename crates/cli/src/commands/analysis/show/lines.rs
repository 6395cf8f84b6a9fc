//! Writes causes as JSON.

use super::facts::Facts;
use crate::report::id;
use serde_json::{Value, json};
use std::io::{self, Write};
use tracemill_analysis::Trace;
use tracemill_causes::{CauseRow, CauseRows, Causes, EventId, EventKey, Level, Site};

/// Returns a whole number without decimals.
fn number(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < 1e15 {
        true => json!(number as i64),
        false => json!(number),
    }
}

/// Returns the key of an event, or `at` for a pair of B and E.
fn key(event: EventId, trace: &Trace) -> Value {
    match event.key(trace) {
        EventKey::Key(key) => json!(key),
        EventKey::Pair { thread, ts, name } => {
            let thread = &trace.threads[thread];
            json!({"at": [id(&thread.pid_text()), id(&thread.tid_text()), number(trace.written(ts)), name]})
        }
    }
}

/// Returns a call. DevTools writes -1 for a position that V8 does not know.
fn site(site: &Site) -> Value {
    let [line, column] =
        [site.line, site.column].map(|place| place.filter(|place| *place >= 0.0).map(number));
    json!([site.function, site.url, line, column])
}

fn sites(level: &Level) -> Value {
    level.sites.iter().map(site).collect()
}

fn parents(levels: &[Level]) -> Value {
    let parents = levels.iter().skip(1);
    parents.map(|level| json!({"task": level.task, "frames": sites(level)})).collect()
}

/// Writes a line for each event with an initiator or a stack.
pub(super) fn write(
    trace: &Trace,
    causes: &Causes,
    rows: &CauseRows,
    out: &mut dyn Write,
) -> io::Result<()> {
    for CauseRow { event, initiator, stack } in rows.iter() {
        let levels = causes.stacks.levels(stack, trace, usize::MAX);
        let line = json!({
            "event": key(event, trace),
            "initiator": initiator.map(|initiator| key(initiator, trace)),
            "stack": levels.first().map(sites),
            "parents": parents(&levels),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns a short description of an event.
fn described(event: EventId, trace: &Trace) -> Value {
    let start = event.start(trace).map(|start| start - trace.start_ms());
    json!({"event": key(event, trace), "name": event.name(trace), "start_ms": start})
}

/// Returns everything about an event.
pub(super) fn facts(trace: &Trace, facts: &Facts) -> Value {
    let thread = facts.thread.map(|at| &trace.threads[at]);
    let thread = thread.map(|thread| {
        json!({
            "pid": id(&thread.pid_text()),
            "tid": id(&thread.tid_text()),
            "name": thread.name,
            "process": trace.process_name(thread),
        })
    });
    let all = |events: &[EventId]| -> Value {
        events.iter().map(|event| described(*event, trace)).collect()
    };
    let around = facts.parents.iter();
    let around = around.map(|parent| {
        json!({"event": key(parent.id, trace), "name": parent.label, "duration_ms": parent.ms})
    });
    let children = facts.children.iter();
    let children = children
        .map(|child| json!({"name": child.label, "count": child.count, "total_ms": child.ms}));
    json!({
        "event": key(facts.id, trace),
        "name": facts.label,
        "thread": thread,
        "start_ms": facts.start.map(|start| start - trace.start_ms()),
        "duration_ms": facts.duration,
        "self_ms": facts.self_time,
        "cpu_ms": facts.cpu,
        "written": facts.written,
        "stack": facts.stack.first().map(sites),
        "parents": parents(&facts.stack),
        "end_stack": facts.end_stack.iter().map(site).collect::<Value>(),
        "started_by": all(&facts.causes),
        "started": all(&facts.started),
        "around": around.collect::<Value>(),
        "children": children.collect::<Value>(),
    })
}
