//! Writes tables as JSON and CSV, with full precision.

use super::answer::{Answer, RULES, note_members, self_of, times_of};
use crate::args::CsvForm;
use crate::report::{Object, id};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::{self, Write};
use tracemill_analysis::{Part, TreeRow};

const COLUMNS: [&str; 14] = [
    "parent", "depth", "id", "label", "self_ms", "total_ms", "count", "start_ms", "key",
    "category", "url", "line", "column", "cpu_ms",
];

/// Builds JSON of schema `tracemill.tree/1`. Adding keys does not change the version.
///
/// Lines and columns count from 0, and `parent` is a row number or null. Rows are generated while
/// they are written.
pub(super) fn table_json<'a>(answer: &'a Answer<'_>) -> Object<'a> {
    let mut table = head(answer);
    table.extend([("schema", json!("tracemill.tree/1")), ("columns", json!(COLUMNS))]);
    table.list("parts", move || {
        answer.parts.iter().map(move |part| {
            let mut object = part_head(answer, part);
            object.list("rows", move || rows_json(answer, part));
            object
        })
    });
    table
}

/// Returns the rows of a table, each with the number of its parent.
fn rows_json<'a>(answer: &Answer<'_>, part: &'a Part) -> impl Iterator<Item = Value> + use<'a> {
    let mut path: Vec<usize> = Vec::new();
    answer.shown.of(part).enumerate().map(move |(at, row)| {
        path.truncate(row.depth as usize);
        let value = row_json(&row, path.last().copied());
        path.push(at);
        value
    })
}

/// Builds the members that apply to the whole answer: command, view, units and rules.
pub(super) fn head<'o>(answer: &Answer<'_>) -> Object<'o> {
    let refusals: Value = answer.trace.refusals.iter().map(|refusal| refusal.name()).collect();
    let mut head = Object::from([
        ("verb", json!(answer.verb)),
        ("view", json!(answer.view())),
        ("rules", json!(RULES)),
        ("times", json!(times_of(answer.trace))),
        ("unit", json!("ms")),
        ("self", json!(self_of(answer.trace.weights))),
        ("group_by", json!(answer.query.by.name())),
        ("devtools_refuses", refusals),
        ("origin_ns", json!(answer.trace.origin())),
    ]);
    head.extend(note_members(answer.trace));
    head
}

/// Builds the members that apply to one table: threads, window and totals.
pub(super) fn part_head<'o>(answer: &Answer<'_>, part: &Part) -> Object<'o> {
    let threads: Vec<Value> = part
        .threads
        .iter()
        .map(|&at| {
            let thread = &answer.trace.threads[at];
            let [pid, tid] = [&thread.pid, &thread.tid].map(|thread| id(&String::from_utf8_lossy(thread)));
            json!({"pid": pid, "tid": tid, "name": thread.name, "samples": thread.samples(), "input": thread.input})
        })
        .collect();
    let table = &part.table;
    Object::from([
        ("threads", Value::Array(threads)),
        ("window", json!([table.window.from, table.window.to])),
        ("self_ms", json!(table.own)),
        ("total_ms", json!(table.total)),
        ("idle_ms", json!(table.idle)),
        ("calls", json!(part.calls)),
        ("samples", json!(part.samples)),
        ("listed", json!(part.listed)),
        ("ignored", json!(part.ignored)),
        ("hidden", json!(part.hidden)),
        ("dropped", json!(part.dropped)),
    ])
}

/// Returns the CPU time of a row in milliseconds.
pub(super) fn cpu_ms(row: &TreeRow) -> Option<f64> {
    row.cpu.map(|micros| micros / 1000.0)
}

fn row_json(row: &TreeRow, parent: Option<usize>) -> Value {
    let place = &row.location;
    let url = (!place.url.is_empty()).then_some(&place.url);
    json!([
        parent,
        row.depth,
        row.id,
        row.label,
        row.own,
        row.total,
        row.count,
        row.start,
        row.key,
        row.category,
        url,
        place.line,
        place.column,
        cpu_ms(row),
    ])
}

/// Writes a CSV header, then one line per row.
pub(super) fn csv(answer: &Answer<'_>, form: CsvForm, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "depth,self_ms,total_ms,self_pct,total_pct,count,start_ms,name,url,line,column,category,pid,tid,thread,cpu_ms"
    )?;
    for part in answer.parts {
        let (busy, of) = (part.busy(), &part.threads);
        // the rows of several threads have empty thread columns
        let thread = of.first().filter(|_| of.len() == 1).map(|&at| &answer.trace.threads[at]);
        let ids = thread.map_or_else(
            || ",,".to_owned(),
            |thread| {
                let name = thread.name.as_deref().unwrap_or_default();
                [thread.pid_text(), thread.tid_text(), name.to_owned()]
                    .map(|text| quoted(&text, form).into_owned())
                    .join(",")
            },
        );
        let mut line = Vec::new();
        for row in answer.shown.of(part) {
            line.clear();
            push_row(&row, busy, form, &mut line)?;
            line.extend_from_slice(ids.as_bytes());
            write!(line, ",")?;
            cpu_ms(&row).map_or(Ok(()), |ms| write!(line, "{ms}"))?;
            line.push(b'\n');
            out.write_all(&line)?;
        }
    }
    Ok(())
}

/// Appends the columns of a row that come before the thread columns. Idle rows have no percentages.
fn push_row(row: &TreeRow, busy: f64, form: CsvForm, line: &mut Vec<u8>) -> io::Result<()> {
    write!(line, "{},{},{},", row.depth, row.own, row.total)?;
    for ms in [row.own, row.total] {
        if !row.is_idle() {
            write!(line, "{}", percent_of(ms, busy))?;
        }
        line.push(b',');
    }
    write!(line, "{},{}", row.count, row.start)?;
    for text in [row.label.as_deref().unwrap_or(&row.id), &row.location.url] {
        line.push(b',');
        line.extend_from_slice(quoted(text, form).as_bytes());
    }
    for number in [row.location.line, row.location.column] {
        line.push(b',');
        number.map_or(Ok(()), |number| write!(line, "{number}"))?;
    }
    write!(line, ",{},", row.category)
}

/// Returns `part` in percent of `whole`. Returns 0 if `whole` is 0.
pub(super) fn percent_of(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

/// Quotes a CSV field by RFC 4180. With `CsvForm::Safe`, also keeps spreadsheets from reading it as
/// a formula.
pub(super) fn quoted(text: &str, form: CsvForm) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && form == CsvForm::Safe;
    let apostrophe = if is_formula { "'" } else { "" };
    match text.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) || is_formula {
        true => format!("\"{apostrophe}{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_fields_are_quoted_only_if_needed() {
        for form in [CsvForm::Exact, CsvForm::Safe] {
            assert_eq!(quoted("a b", form), "a b");
            assert_eq!(quoted("f(\"x\", 1)", form), "\"f(\"\"x\"\", 1)\"");
        }
        for text in ["=HYPERLINK(1)", "-[a b]", "+1", "@scope/a"] {
            assert_eq!(quoted(text, CsvForm::Exact), text);
            assert_eq!(quoted(text, CsvForm::Safe), format!("\"'{text}\""));
        }
    }
}
