//! Small tables of facts about inputs: `trace_file`, `gap`, `metadata`, `stats`, `trace_bounds`.
//!
//! An index of the only input answers all of them but `metadata`.

use super::row_table::{RowTable, flag, number, text};
use super::rows::{RowBuilder, Value};
use crate::traces::Traces;
use tracemill_arrow::ScanEnd;
use tracemill_inspect::info::InfoReport;
use tracemill_join::inputs::scan;
use tracemill_tokenizer::{parse, to_text};
use tracemill_trace::Error;
use tracemill_trace::event::envelope::KeyValue;
use tracemill_trace::input::expand;
use tracemill_trace::json::content;
use tracemill_trace::observe::{Needs, Nothing, Observer, Scanned, SealedChunk, Starter};
use tracemill_trace::read::InputWarning;

/// Number of gaps per input, at most what an index has.
const GAPS: usize = 20;

/// The tables.
pub(super) static TABLES: [&RowTable; 5] = [&TRACE_FILE, &METADATA, &STATS, &GAP, &TRACE_BOUNDS];

static TRACE_FILE: RowTable = RowTable {
    name: "trace_file",
    rows: "one row per input",
    columns: &[
        text("file", "name of the input"),
        number("size", "bytes, after decompression"),
        text("encoding", "gzip, zstd or utf-16, if any"),
        number("events", "number of events"),
        flag("sorted", "whether events are in the order of merge"),
        number("lost", "number of events and other parts lost to damage"),
        flag("indexed", "whether a current index has these facts"),
    ],
    push: |traces, rows| of_each_input(traces, rows, push_file),
};

static METADATA: RowTable = RowTable {
    name: "metadata",
    rows: "one row per top-level key of an input",
    columns: &[
        text("file", "name of the input"),
        text("name", "top-level key, outside of traceEvents"),
        text("key_type", "single"),
        number("int_value", "value, if it is an integer"),
        text("str_value", "value as text, else as JSON"),
    ],
    push: push_keys,
};

static STATS: RowTable = RowTable {
    name: "stats",
    rows: "one row per kind of damage in an input",
    columns: &[
        text("file", "name of the input"),
        text("name", "kind of damage"),
        text("severity", "data_loss or info"),
        number("value", "number of losses"),
    ],
    push: |traces, rows| of_each_input(traces, rows, push_losses),
};

static GAP: RowTable = RowTable {
    name: "gap",
    rows: "the 20 longest times without an event in each input, longest first, as info has them",
    columns: &[
        text("file", "name of the input"),
        number("ts", "end of the last event before it in nanoseconds, on the clock of the file"),
        number("dur", "nanoseconds to the next event"),
    ],
    push: |traces, rows| of_each_input(traces, rows, push_gaps),
};

static TRACE_BOUNDS: RowTable = RowTable {
    name: "trace_bounds",
    rows: "one row, for all inputs together",
    columns: &[
        number("start_ts", "start of the trace in nanoseconds"),
        number("end_ts", "greatest end of an event in nanoseconds"),
    ],
    push: |traces, rows| {
        let (start, end) = traces.bounds()?.unzip();
        rows.push(&[start.into(), end.into()])?;
        Ok(ScanEnd { is_complete: true, ..ScanEnd::default() })
    },
};

/// Passes the facts of each input to `push`. Files of folders that are not traces are left out.
fn of_each_input(
    traces: &Traces,
    rows: &mut RowBuilder<'_>,
    push: fn(&InfoReport, &mut RowBuilder<'_>) -> Result<(), Error>,
) -> Result<ScanEnd, Error> {
    let (mut end, mut left_out) = (ScanEnd::default(), Vec::new());
    for input in expand(&traces.sources)? {
        let report = match traces.info(std::slice::from_ref(&input.source), GAPS) {
            Err(error) if input.is_found() && error.is_no_trace() => {
                InputWarning::leave_out(&mut left_out, error.to_string());
                continue;
            }
            report => report?,
        };
        push(&report, rows)?;
        end.inputs.extend(report.inputs);
        end.warnings.extend(report.warnings);
    }
    end.warnings.extend(left_out.into_iter().map(Into::into));
    Ok(ScanEnd { is_complete: true, ..end })
}

fn push_file(report: &InfoReport, rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    for input in &report.inputs {
        rows.push(&[
            (&*input.name).into(),
            Value::count(input.bytes),
            input.encoding.into(),
            Value::count(input.events),
            Value::Flag(report.sorted),
            Value::count(input.lost()),
            Value::Flag(report.index.is_some()),
        ])?;
    }
    Ok(())
}

fn push_losses(report: &InfoReport, rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    for input in &report.inputs {
        for (kind, tally) in input.losses.iter() {
            let [file, name] = [&*input.name, kind.name()].map(Value::from);
            rows.push(&[file, name, "data_loss".into(), Value::count(tally.count)])?;
        }
        for (name, count) in [("unclosed", input.unclosed), ("separators", input.odd_separators)] {
            if count > 0 {
                rows.push(&[
                    (&*input.name).into(),
                    name.into(),
                    "info".into(),
                    Value::count(count),
                ])?;
            }
        }
    }
    Ok(())
}

fn push_gaps(report: &InfoReport, rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    let file = report.inputs.first().map(|input| &*input.name);
    for gap in &report.gaps {
        rows.push(&[file.into(), Some(gap.from_ns).into(), Value::count(gap.length_ns())])?;
    }
    Ok(())
}

/// Keeps the bytes of packed inputs, so that values can be read after the scan.
struct KeptBytes;

impl Observer for KeptBytes {
    type Chunk = ();

    fn needs(&self) -> Needs {
        Needs { input_bytes: true, ..Needs::NONE }
    }

    fn starter(&self) -> Starter<()> {
        Box::new(|_| ())
    }

    fn merge(&mut self, _: (), _: &SealedChunk<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Passes the top-level keys of all inputs.
fn push_keys(traces: &Traces, rows: &mut RowBuilder<'_>) -> Result<ScanEnd, Error> {
    let Scanned { inputs, index, .. } = scan(&traces.sources, &traces.config, Nothing, KeptBytes)?;
    let store = inputs.store();
    for KeyValue { key, offset, len } in index.documents.iter().flat_map(|found| &found.keys) {
        let payload = inputs.payloads.iter().rev().find(|payload| payload.base <= *offset);
        let file = payload.map(|payload| &*inputs.reports[payload.input].name);
        let value = store.copy(*offset..offset + len);
        let mut scratch = Vec::new();
        let text = to_text(content(&value, &mut scratch));
        let name = to_text(content(key, &mut Vec::new()));
        rows.push(&[
            file.into(),
            (&*name).into(),
            "single".into(),
            parse::<i64>(&value).into(),
            (&*text).into(),
        ])?;
    }
    ScanEnd::complete(inputs)
}
