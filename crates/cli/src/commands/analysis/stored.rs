//! Reads tables that `tree --json` and `top --json` stored. The command `diff` accepts such a table
//! instead of a trace.

use crate::outcome::exit::Failure;
use flate2::read::MultiGzDecoder;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use tracemill_analysis::{Location, TreeRow};
use tracemill_report::Run;
use tracemill_tokenizer::validate_value;
use tracemill_trace::ErrorKind;

const SCHEMA: &str = "tracemill.tree/1";

/// Maximum number of bytes that are read to find out which file is not a trace.
const MOST: u64 = 64 << 20;

pub(super) struct Stored {
    pub(super) run: Run,
    /// The rules by which the run was measured: the version of DevTools, and the time that a sample
    /// counts for.
    pub(super) rules: [String; 2],
}

/// Reads a run from a stored table, compressed or not. Returns `None` if the file is not a table of
/// tracemill.
pub(super) fn stored(path: &Path) -> Result<Option<Stored>, Failure> {
    // reading a pipe would consume it
    if !path.metadata().is_ok_and(|file| file.is_file()) {
        return Ok(None);
    }
    let mut head = Vec::new();
    if open(path).and_then(|file| file.take(64).read_to_end(&mut head)).is_err() {
        return Ok(None);
    }
    let mut first = String::from_utf8_lossy(&head).into_owned();
    first.retain(|letter| !letter.is_ascii_whitespace());
    // serde_json writes sorted keys, while other writers keep the original order
    if !["{\"columns\"", "{\"schema\""].iter().any(|start| first.starts_with(start)) {
        return Ok(None);
    }
    let wrong = |why: String| Failure::usage(format!("{}: {why}", path.display()));
    let mut bytes = Vec::new();
    let read = open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    let table = read.map_err(|why| why.to_string()).and_then(|_| parsed(bytes));
    match table {
        Ok(table) => stored_in(&table).map_err(wrong),
        Err(why) if ["[\"parent\"", "\"tracemill."].iter().any(|mark| first.contains(mark)) => {
            let text = format!("a table of tracemill that is cut off or damaged ({why})");
            Err(wrong(format!("{text}: write it anew with tracemill tree --json")))
        }
        Err(_) => Ok(None),
    }
}

/// Parses a table with simd-json, which parses doubles exactly. With serde_json, one in eight
/// doubles would differ in the last digit.
fn parsed(mut bytes: Vec<u8>) -> Result<Value, String> {
    validate_value(bytes.trim_ascii_end())
        .map_err(|defect| format!("byte {}: expected {}", defect.offset, defect.expected))?;
    simd_json::serde::from_slice(&mut bytes).map_err(|why| why.to_string())
}

/// Opens a file. If the file is compressed with gzip, its content is decompressed.
fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut magic = Vec::new();
    File::open(path)?.take(2).read_to_end(&mut magic)?;
    let file = File::open(path)?;
    Ok(if magic == [0x1f, 0x8b] { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

/// Converts a table to a run. Returns `None` if the JSON is not a table of tracemill.
fn stored_in(table: &Value) -> Result<Option<Stored>, String> {
    match table["schema"].as_str() {
        Some(SCHEMA) => {}
        Some(other) if other.starts_with("tracemill.") => {
            return Err(format!(
                "a table of {other}, and {SCHEMA} is read: write it anew with tracemill tree --json"
            ));
        }
        _ => return Ok(None),
    }
    let is_call_tree = match table["view"].as_str() {
        Some("call-tree") => true,
        Some("bottom-up") => false,
        _ => return Err("a log has no sums: store tracemill tree --json or top --json".to_owned()),
    };
    let text = |key: &str| table[key].as_str().unwrap_or_default().to_owned();
    if !["", "none"].contains(&&*text("group_by")) {
        return Err(format!(
            "its rows are groups, and functions are compared: store it without --group-by {}",
            text("group_by")
        ));
    }
    let run = run_of(table, is_call_tree).filter(|_| text("unit") == "ms");
    let run = run.ok_or("its rows are not those of tracemill tree --json: write it anew")?;
    Ok(Some(Stored { run, rules: ["rules", "self"].map(text) }))
}

/// Replaces a "not a trace" error by a better one, if tracemill wrote the file.
pub(super) fn named(failure: Failure) -> Failure {
    let Failure::Run(error) = &failure else { return failure };
    let ErrorKind::NotATrace { input, .. } = error.kind() else { return failure };
    let mut bytes = Vec::new();
    let read = open(Path::new(input)).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    let table = read.map(|_| parsed(bytes));
    let Ok(Ok(table)) = table else { return failure };
    let verb = table["verb"].as_str().unwrap_or_default();
    match table["schema"].as_str() {
        Some(SCHEMA) => Failure::usage(format!(
            "{input} is a table of tracemill {verb} --json, no trace: tracemill diff compares it with a trace or another table"
        )),
        Some(other) if other.starts_with("tracemill.") => Failure::usage(format!(
            "{input} is an answer of tracemill ({other}), no trace; for a baseline store tracemill tree --json or top --json"
        )),
        _ => failure,
    }
}

fn run_of(table: &Value, is_call_tree: bool) -> Option<Run> {
    let columns = table["columns"].as_array()?;
    let column = |name: &str| columns.iter().position(|known| known == name);
    let at = ["depth", "id", "label", "self_ms", "total_ms", "count", "url", "line", "column"]
        .map(column);
    let [depth, id, label, self_ms, total, count, url, line, col] = at;
    let (mut rows, mut busy) = (Vec::new(), 0.0);
    for part in table["parts"].as_array()? {
        // older tables have no idle time
        let idle = part["idle_ms"].as_f64().unwrap_or(0.0);
        busy += part["total_ms"].as_f64()? - part["self_ms"].as_f64()? - idle;
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
                own: row.get(self_ms?)?.as_f64()?,
                total: row.get(total?)?.as_f64()?,
                cpu: None,
                count: row.get(count?)?.as_u64()?,
                expandable: false,
                bytes: 0.0,
                key: None,
                label: text(label),
                is_group: false,
                category: "other",
                location: place,
                color: 0,
            });
        }
    }
    Some(Run::new(busy, &rows, is_call_tree))
}
