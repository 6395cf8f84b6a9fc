//! `tracemill calls`: the flame chart as rows.

use super::Job;
use crate::args::CallsArgs;
use crate::exit::{Exit, Failure};
use crate::messages::Messages;
use serde_json::json;
use std::io::Write;
use tracemill_analysis::{Trace, View};

/// Writes the rows of each thread.
pub(in crate::commands) fn calls(args: &CallsArgs, messages: &Messages) -> Result<Exit, Failure> {
    let CallsArgs { input, part, output, limits, messages: said, .. } = args;
    let job = Job { verb: "calls", input, output, limits, messages: said };
    let read = job.read(part.read_rules(Default::default()), messages)?;
    let threads = read.trace.choose(&part.choice());
    let window = part.window(&read.trace)?.map(|own| (own.from * 1000.0, own.to * 1000.0));
    job.place().write_lines(|out| {
        threads
            .iter()
            .try_for_each(|&at| write_thread(&read.trace, at, part.table_rules(), window, out))
    })?;
    job.finish(&read, threads.is_empty(), messages)
}

fn write_thread(
    trace: &Trace,
    at: usize,
    rules: tracemill_analysis::TableRules,
    window: Option<(f64, f64)>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let thread = &trace.threads[at];
    let track = trace.track(thread);
    let view = View::new(trace, thread, &track, rules);
    let head = json!({
        "pid": thread.pid_text(),
        "tid": thread.tid_text(),
        "name": thread.name,
        "rows": view.len(),
        "calls": view.calls(),
    });
    writeln!(out, "{head}")?;
    for row in view.flame() {
        if window.is_some_and(|(from, to)| row.ts + row.dur < from || row.ts > to) {
            continue;
        }
        let kind = if row.is_call { "P" } else { "E" };
        let label = row.label.as_ref().unwrap_or(&row.id);
        writeln!(out, "{}", json!([row.depth, kind, label, row.ts, row.dur, row.own, row.key]))?;
    }
    Ok(())
}
