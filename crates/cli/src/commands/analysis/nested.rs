//! Writes trees as nested JSON, for d3-flame-graph and similar programs.

use super::answer::Answer;
use super::data::{cpu_ms, head, part_head};
use crate::report::Object;
use serde_json::json;
use std::io::{self, Write};
use tracemill_analysis::{Part, Shape, TreeRow};

/// Schema of the output. Adding keys does not change the version.
const SCHEMA: &str = "tracemill.nested/1";

/// Writes the tree with one node per line. Does not recurse, because trees can be deeper than the
/// call stack.
///
/// The `value` of a node is at least the sum over its children. It is the total time. In bottom-up
/// trees it is the self time, which the callers of a function share.
pub(super) fn write(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let value = |part: &Part| part.busy() + part.table.idle;
    let all = answer.parts.iter().map(value).sum::<f64>();
    let mut root = head(answer);
    root.extend([("name", json!("all")), ("value", json!(all))]);
    // the schema comes first, so that the format can be detected
    write!(out, "{{\"schema\":\"{SCHEMA}\",")?;
    open_members(&root, out)?;
    for (at, part) in answer.parts.iter().enumerate() {
        out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
        write_part(answer, part, out)?;
    }
    out.write_all(b"]}\n")
}

fn write_part(answer: &Answer<'_>, part: &Part, out: &mut dyn Write) -> io::Result<()> {
    let mut node = part_head(answer, part);
    node.extend([
        ("name", json!(answer.trace.title(part))),
        ("value", json!(part.busy() + part.table.idle)),
    ]);
    open(&node, out)?;
    let is_own = matches!(answer.query.shape, Shape::BottomUp { .. });
    // number of nodes of this part that are open
    let mut depth = 0;
    for row in answer.shown.of(part) {
        let is_first = row.depth as usize == depth;
        while depth > row.depth as usize {
            out.write_all(b"]}")?;
            depth -= 1;
        }
        out.write_all(if is_first { b"\n" } else { b",\n" })?;
        open(&members(&row, is_own), out)?;
        depth += 1;
    }
    (0..depth).try_for_each(|_| out.write_all(b"]}"))?;
    out.write_all(b"]}")
}

/// Writes the start of a node, which ends before its children.
fn open(node: &Object<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{")?;
    open_members(node, out)
}

/// Writes the members of a node, from its opening brace to its children.
fn open_members(node: &Object<'_>, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string(node)?;
    let members = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    write!(out, "{},\"children\":[", members.unwrap_or_default())
}

/// Returns the members of a row, except for depth and parent. Leaves out unknown locations and CPU times.
fn members<'o>(row: &TreeRow, is_own: bool) -> Object<'o> {
    let place = &row.location;
    let url = (!place.url.is_empty()).then_some(&place.url);
    let all = [
        ("name", json!(row.name())),
        ("value", json!(if is_own { row.own } else { row.total })),
        ("self_ms", json!(row.own)),
        ("total_ms", json!(row.total)),
        ("count", json!(row.count)),
        ("start_ms", json!(row.start)),
        ("id", json!(row.id)),
        ("key", json!(row.key)),
        ("category", json!(row.category)),
        ("url", json!(url)),
        ("line", json!(place.line)),
        ("column", json!(place.column)),
        ("cpu_ms", json!(cpu_ms(row))),
    ];
    let optional = ["key", "url", "line", "column", "cpu_ms"];
    let mut node = Object::default();
    node.extend(
        all.into_iter().filter(|(name, value)| !value.is_null() || !optional.contains(name)),
    );
    node
}
