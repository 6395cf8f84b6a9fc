//! The table `call`: the calls that DevTools draws.

use super::trace::{Analysed, push_calls};
use crate::tables::row_table::{RowTable, number, text};
use crate::tables::rows::{RowBuilder, Value};
use tracemill_analysis::{TableRules, View};
use tracemill_arrow::IDS_PER_INPUT;
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::Error;

pub(super) static CALL: RowTable = RowTable {
    name: "call",
    rows: "one row per call that DevTools computes from samples, callers before callees",
    columns: &[
        number("id", "the call, unique over all inputs"),
        text("file", "name of the input, as in reports"),
        number("utid", "the thread, as in events"),
        number("ts", "start in nanoseconds"),
        number("dur", "duration in nanoseconds"),
        number("self_dur", "duration minus that of the calls and events within, in nanoseconds"),
        number("depth", "number of drawn calls and events around the call"),
        number("parent_id", "the innermost call around the call"),
        text("name", "name of the function; empty if it has none"),
        text("url", "URL of the script; empty if it has none"),
        number("line", "line of the function, from 0"),
        number("col", "column of the function, from 0"),
        number("node", "id of the node in the profile"),
        number("sample", "index of the sample in which the call begins"),
    ],
    push: |traces, rows| push_calls(traces, rows, push),
};

/// A call within which the next row may lie.
struct OpenCall {
    depth: u32,
    id: i64,
}

fn push(analysed: &Analysed<'_>, rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    let trace = analysed.trace;
    let clock = trace.clock();
    let mut numbers = vec![0; trace.inputs.len()];
    for thread in trace.threads.iter().filter(|thread| thread.model().is_some()) {
        let track = trace.track(thread)?;
        let view = View::new(&track, TableRules::default());
        let utid = analysed.utids.of(thread);
        let input = thread.input_number;
        let mut open: Vec<OpenCall> = Vec::new();
        view.flame()?.rows(|row| {
            while open.last().is_some_and(|call| call.depth >= row.depth) {
                open.pop();
            }
            let Some(call) = view.call_row(&row.entry) else { return Ok(()) };
            let id = input as i64 * IDS_PER_INPUT + numbers[input];
            numbers[input] += 1;
            let parent = open.last().map(|call| call.id);
            open.push(OpenCall { depth: row.depth, id });
            let [start, end] = [row.entry.ts, row.entry.end()].map(|at| clock.written_nanos(at));
            let dur = start.zip(end).map(|(start, end)| end - start);
            rows.push(&[
                Value::from(id),
                analysed.file(input).into(),
                utid.into(),
                start.into(),
                dur.into(),
                Value::from((row.self_time * 1000.0).round() as i64),
                i64::from(row.depth).into(),
                parent.into(),
                (&*unescaped_text(call.name)).into(),
                (&*unescaped_text(call.url)).into(),
                call.line.into(),
                call.column.into(),
                Value::from(call.node as i64),
                call.sample.map(i64::from).into(),
            ])
        })?;
    }
    Ok(())
}
