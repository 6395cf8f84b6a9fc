//! The table `args`: the values in the args of events, with keys as in PerfettoSQL.

use super::row_table::{RowTable, number, real, text};
use super::rows::{RowBuilder, Value};
use crate::traces::Traces;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::Int64Type;
use std::ops::ControlFlow;
use tracemill_arrow::{EventColumn, EventScan, ScanEnd};
use tracemill_tokenizer::{Cursor, parse, to_text};
use tracemill_trace::Error;
use tracemill_trace::json::content;

/// Number of nested objects and arrays that become keys. A value in more of them is a row of its
/// JSON, so that rows stay as long as the args.
const LEVELS: usize = 64;

pub(super) static ARGS: RowTable = RowTable {
    name: "args",
    rows: "one row per value in the args of an event",
    columns: &[
        number("arg_set_id", "event, unique over all inputs"),
        text("flat_key", "keys from args on, such as args.data.url, without indexes"),
        text("key", "the same with indexes, such as args.list[0]"),
        number("int_value", "integer, or 1 and 0 for true and false"),
        text("string_value", "text"),
        real("real_value", "number that is not an integer"),
        text("value_type", "int, string, real or bool; json for values that are none of these"),
    ],
    push,
};

fn push(traces: &Traces, rows: &mut RowBuilder<'_>) -> Result<ScanEnd, Error> {
    let scan = EventScan::new([EventColumn::ArgSetId, EventColumn::Args]);
    let mut failed = None;
    let end = scan.run(&traces.sources, &traces.config, |batch| {
        let ids = batch.column(0).as_primitive::<Int64Type>();
        let texts = batch.column(1).as_string_view();
        for (row, id) in ids.iter().enumerate() {
            let Some(id) = id.filter(|_| texts.is_valid(row)) else { continue };
            if let Err(error) = push_values(id, texts.value(row).as_bytes(), rows) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    failed.map_or(Ok(end), Err)
}

/// An object or array whose values are read, and the lengths of its keys.
struct Open {
    flat_len: usize,
    key_len: usize,
    /// Index of the next element of an array.
    next: Option<usize>,
}

/// Passes a row for each value in the args of an event. Cost: linear in the bytes; recursion would
/// end at deep nesting.
fn push_values(id: i64, args: &[u8], rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    let mut cursor = Cursor::new(args);
    let (mut flat, mut key) = ("args".to_owned(), "args".to_owned());
    let mut open: Vec<Open> = Vec::new();
    loop {
        let is_near = open.len() < LEVELS;
        let next = match is_near {
            true if cursor.enter(b'{') => Some(None),
            true if cursor.enter(b'[') => Some(Some(0)),
            _ => None,
        };
        match next {
            Some(next) => open.push(Open { flat_len: flat.len(), key_len: key.len(), next }),
            None => push_value(id, [&flat, &key], cursor.value(), rows)?,
        }
        // the next member or element, of the innermost object or array that has one
        loop {
            let Some(inner) = open.last_mut() else { return Ok(()) };
            flat.truncate(inner.flat_len);
            key.truncate(inner.key_len);
            if let Some(index) = inner.next {
                if cursor.next_element() {
                    key.push_str(&format!("[{index}]"));
                    inner.next = Some(index + 1);
                    break;
                }
            } else if let Some(name) = cursor.next_key() {
                let name = to_text(&name);
                for keys in [&mut flat, &mut key] {
                    keys.push('.');
                    keys.push_str(&name);
                }
                break;
            }
            open.pop();
        }
    }
}

fn push_value(
    id: i64,
    [flat, key]: [&str; 2],
    value: &[u8],
    rows: &mut RowBuilder<'_>,
) -> Result<(), Error> {
    let (mut integer, mut string, mut real) = (None, None, None);
    let value_type = match value {
        b"null" | b"" => return Ok(()),
        b"true" | b"false" => {
            integer = Some(i64::from(value == b"true"));
            "bool"
        }
        [b'"', ..] => {
            string = Some(to_text(content(value, &mut Vec::new())));
            "string"
        }
        _ if parse::<i64>(value).is_some() => {
            integer = parse(value);
            "int"
        }
        [b'-' | b'0'..=b'9', ..] if parse::<f64>(value).is_some() => {
            real = parse(value);
            "real"
        }
        _ => {
            string = Some(to_text(value));
            "json"
        }
    };
    rows.push(&[
        id.into(),
        flat.into(),
        key.into(),
        integer.into(),
        string.as_deref().into(),
        Value::Real(real),
        value_type.into(),
    ])
}
