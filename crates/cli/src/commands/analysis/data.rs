//! The answers as JSON and CSV: every bit of every number.

use super::answer::{Answer, RULES, self_of, times_of};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::io::{self, Write};
use tracemill_analysis::{Part, TreeRow};

/// Columns of the rows.
const COLUMNS: [&str; 13] = [
    "parent", "depth", "id", "label", "self_ms", "total_ms", "count", "start_ms", "key",
    "category", "url", "line", "column",
];

/// Schema `tracemill.tree/1`: additions keep its number. Lines and columns count from 0, `parent` is the number of a row or null. It is made
/// while it is written.
pub(super) struct Json<'a>(pub(super) &'a Answer<'a>);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut table = head(self.0);
        let own = [("schema", json!("tracemill.tree/1")), ("columns", json!(COLUMNS))];
        table.extend(own.map(|(name, value)| (name.to_owned(), value)));
        let parts = self.0.parts.iter().map(|part| PartJson(self.0, part)).collect::<Vec<_>>();
        members_and(&table, ("parts", &parts), to)
    }
}

/// Members by name, and among them one that is made while it is written.
fn members_and<S: Serializer>(
    all: &Map<String, Value>,
    (name, value): (&str, &impl Serialize),
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(all.len() + 1))?;
    let behind = |own: &String| **own > *name;
    for (name, value) in all.iter().filter(|own| !behind(own.0)) {
        map.serialize_entry(name, value)?;
    }
    map.serialize_entry(name, value)?;
    for (name, value) in all.iter().filter(|own| behind(own.0)) {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

/// A table.
struct PartJson<'a>(&'a Answer<'a>, &'a Part);

impl Serialize for PartJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        members_and(&part_head(self.0, self.1), ("rows", &RowsJson(self.0, self.1)), to)
    }
}

/// The rows of a table.
struct RowsJson<'a>(&'a Answer<'a>, &'a Part);

impl Serialize for RowsJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let rows = self.0.shown.of(self.1);
        let mut list = to.serialize_seq(Some(rows.len()))?;
        let mut path: Vec<usize> = Vec::new();
        for (at, row) in rows.enumerate() {
            path.truncate(row.depth as usize);
            list.serialize_element(&row_json(&row, path.last().copied()))?;
            path.push(at);
        }
        list.end()
    }
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
                    .map(|text| quoted(&text).into_owned())
                    .join(",")
            },
        );
        let mut line = Vec::new();
        for row in answer.shown.of(part) {
            line.clear();
            push_row(&row, busy, &mut line)?;
            line.extend_from_slice(ids.as_bytes());
            line.push(b'\n');
            out.write_all(&line)?;
        }
    }
    Ok(())
}

/// A row up to what is said of its thread; there may be many.
fn push_row(row: &TreeRow, busy: f64, line: &mut Vec<u8>) -> io::Result<()> {
    write!(line, "{},", row.depth)?;
    let percent = |ms: f64| percent_of(ms, busy);
    for number in [row.own, row.total, percent(row.own), percent(row.total)] {
        write!(line, "{number},")?;
    }
    write!(line, "{},{}", row.count, row.start)?;
    for text in [row.label.as_deref().unwrap_or(&row.id), &row.location.url] {
        line.push(b',');
        line.extend_from_slice(quoted(text).as_bytes());
    }
    for number in [row.location.line, row.location.column] {
        line.push(b',');
        number.map_or(Ok(()), |number| write!(line, "{number}"))?;
    }
    write!(line, ",{},", row.category)
}

/// Percent of a whole; 0 of nothing.
pub(super) fn percent_of(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * part / whole } else { 0.0 }
}

/// A field of RFC 4180.
pub(super) fn quoted(text: &str) -> Cow<'_, str> {
    match text.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
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
