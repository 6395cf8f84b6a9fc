//! The answers as JSON and CSV: every bit of every number.

use super::answer::{Answer, RULES, self_of, times_of};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use tracemill_analysis::{Part, TreeRow};

/// Columns of the rows.
const COLUMNS: [&str; 13] = [
    "parent", "depth", "id", "label", "self_ms", "total_ms", "count", "start_ms", "key",
    "category", "url", "line", "column",
];

/// Schema `tracemill.tree/1`: additions keep its number. Lines and columns count from 0, `parent` is the number of a row or null.
pub(super) fn json(answer: &Answer<'_>) -> Value {
    let parts: Value = answer.parts.iter().map(|part| part_json(answer, part)).collect();
    let own =
        [("schema", json!("tracemill.tree/1")), ("columns", json!(COLUMNS)), ("parts", parts)];
    let mut table = head(answer);
    table.extend(own.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(table)
}

/// What the numbers are of, and by which rules.
pub(super) fn head(answer: &Answer<'_>) -> Map<String, Value> {
    let all = [
        ("verb", answer.verb),
        ("view", answer.view()),
        ("rules", RULES),
        ("times", times_of(answer.trace)),
        ("unit", "ms"),
        ("self", self_of(answer.trace.weights)),
        ("group_by", answer.query.by.name()),
    ];
    let named = |(name, value): (&str, &str)| (name.to_owned(), Value::from(value));
    let mut head: Map<String, Value> = all.into_iter().map(named).collect();
    let refusals: Value = answer.trace.refusals.iter().map(|own| own.name()).collect();
    head.insert("devtools_refuses".to_owned(), refusals);
    head.insert("origin_ns".to_owned(), json!(answer.trace.origin()));
    head
}

/// What a table is of.
pub(super) fn part_head(answer: &Answer<'_>, part: &Part) -> Map<String, Value> {
    let threads: Vec<Value> = part
        .threads
        .iter()
        .map(|&at| {
            let own = &answer.trace.threads[at];
            json!({"pid": own.pid_text(), "tid": own.tid_text(), "name": own.name, "samples": own.samples(), "input": own.input})
        })
        .collect();
    let table = &part.table;
    let all = [
        ("threads", Value::Array(threads)),
        ("window", json!([table.window.from, table.window.to])),
        ("self_ms", json!(table.own)),
        ("total_ms", json!(table.total)),
        ("calls", json!(part.calls)),
        ("samples", json!(part.samples)),
        ("listed", json!(part.listed)),
        ("ignored", json!(part.ignored)),
        ("hidden", json!(part.hidden)),
        ("dropped", json!(part.dropped)),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn part_json(answer: &Answer<'_>, part: &Part) -> Value {
    let mut path: Vec<usize> = Vec::new();
    let (rows, _) = answer.shown.of(part);
    let rows: Vec<Value> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| {
            path.truncate(row.depth as usize);
            let parent = path.last().copied();
            path.push(at);
            row_json(row, parent)
        })
        .collect();
    let mut table = part_head(answer, part);
    table.insert("rows".to_owned(), rows.into());
    Value::Object(table)
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
        place.column
    ])
}

/// One line a row, with a head.
pub(super) fn csv(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "depth,self_ms,total_ms,self_pct,total_pct,count,start_ms,name,url,line,column,category,pid,tid,thread"
    )?;
    for part in answer.parts {
        let (busy, of) = (part.busy(), &part.threads);
        // what is of several threads says none
        let thread = of.first().filter(|_| of.len() == 1).map(|&at| &answer.trace.threads[at]);
        let ids = thread.map_or_else(
            || ",,".to_owned(),
            |own| {
                let name = own.name.as_deref().unwrap_or_default();
                [own.pid_text(), own.tid_text(), name.to_owned()]
                    .map(|text| quoted(&text))
                    .join(",")
            },
        );
        for row in answer.shown.of(part).0 {
            let percent = |ms: f64| percent_of(ms, busy);
            let place = &row.location;
            let number = |number: Option<i64>| number.map_or(String::new(), |n| n.to_string());
            let name = quoted(row.label.as_deref().unwrap_or(&row.id));
            writeln!(
                out,
                "{},{},{},{},{},{},{},{name},{},{},{},{},{ids}",
                row.depth,
                row.own,
                row.total,
                percent(row.own),
                percent(row.total),
                row.count,
                row.start,
                quoted(&place.url),
                number(place.line),
                number(place.column),
                row.category,
            )?;
        }
    }
    Ok(())
}

/// Percent of a whole; 0 of nothing.
pub(super) fn percent_of(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

/// A field of RFC 4180.
pub(super) fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted("f(\"x\", 1)"), "\"f(\"\"x\"\", 1)\"");
    }
}
