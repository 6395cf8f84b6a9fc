//! Tables that `tree --json` and `top --json` of an earlier run wrote, which stand for its trace.

use crate::exit::Failure;
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tracemill_analysis::{Location, Run, TreeRow};

/// The schema that is read.
const SCHEMA: &str = "tracemill.tree/1";

/// The run that a file holds; nothing if it is no table of ours.
pub(super) fn stored(path: &Path) -> Result<Option<Run>, Failure> {
    let mut head = [0; 64];
    let is_file = path.metadata().is_ok_and(|own| own.is_file());
    let count =
        if is_file { File::open(path).and_then(|mut file| file.read(&mut head)) } else { Ok(0) };
    let text = String::from_utf8_lossy(&head[..count.unwrap_or(0)]).into_owned();
    // serde_json sorts keys, and others keep ours
    let first = text.trim_start_matches(['{', ' ', '\n', '\r', '\t']);
    if !first.starts_with("\"columns\"") && !first.starts_with("\"schema\"") {
        return Ok(None);
    }
    let wrong = |why: &str| Failure::usage(format!("{}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|why| wrong(&why.to_string()))?;
    let Ok(table) = serde_json::from_slice::<Value>(&bytes) else { return Ok(None) };
    match table["schema"].as_str() {
        Some(SCHEMA) => {}
        Some(other) => {
            let text = format!(
                "a table of {other}, and {SCHEMA} is read: write it anew with tracemill tree --json"
            );
            return Err(wrong(&text));
        }
        None => return Ok(None),
    }
    let is_call_tree = match table["view"].as_str() {
        Some("call-tree") => true,
        Some("bottom-up") => false,
        _ => return Err(wrong("a log has no sums: store tracemill tree --json or top --json")),
    };
    run_of(&table, is_call_tree)
        .map(Some)
        .ok_or_else(|| wrong("its rows are not those of tracemill tree --json"))
}

fn run_of(table: &Value, is_call_tree: bool) -> Option<Run> {
    let columns = table["columns"].as_array()?;
    let column = |name: &str| columns.iter().position(|own| own == name);
    let at = ["depth", "id", "label", "self_ms", "total_ms", "count", "url", "line", "column"]
        .map(column);
    let [depth, id, label, own, total, count, url, line, col] = at;
    let (mut rows, mut busy) = (Vec::new(), 0.0);
    for part in table["parts"].as_array()? {
        busy += part["total_ms"].as_f64()? - part["self_ms"].as_f64()?;
        for row in part["rows"].as_array()? {
            let text = |at: Option<usize>| Some(row.get(at?)?.as_str()?.to_owned());
            let place = Location {
                url: text(url).unwrap_or_default(),
                line: line.and_then(|at| row.get(at)?.as_i64()),
                column: col.and_then(|at| row.get(at)?.as_i64()),
            };
            rows.push(TreeRow {
                depth: row.get(depth?)?.as_u64()? as u32,
                id: text(id)?,
                start: 0.0,
                own: row.get(own?)?.as_f64()?,
                total: row.get(total?)?.as_f64()?,
                count: row.get(count?)?.as_u64()?,
                expandable: false,
                bytes: 0.0,
                key: None,
                label: text(label),
                is_group: false,
                category: "other",
                location: place,
            });
        }
    }
    Some(Run::new(busy, &rows, is_call_tree))
}
