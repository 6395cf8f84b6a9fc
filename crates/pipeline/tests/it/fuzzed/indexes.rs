//! Indexes traces with oversized events and times that differ by less than a nanosecond.

use super::{below, pick};
use crate::index::{index_bytes, of_files};
use crate::indexed_slices::{EDGES, same};
use crate::run::Folder;
use arbitrary::Unstructured;
use tracemill_trace::time::windows::{Moment, TimeWindow};

/// Digits after whole microseconds. Some differ by one attosecond.
const FINE: &[&str] = &[
    "",
    ".0",
    ".0001",
    ".0002",
    ".0009999",
    ".001",
    ".0010000001",
    ".000100000000000001",
    ".0001000000000000010001",
    ".999999999999",
];

const PHASES: &[&str] = &["X", "X", "X", "B", "E", "b", "e", "s", "f", "C", "i", "M"];

/// The minimum length that 14 bits cannot represent; an index lists such events.
const OVERSIZED: usize = 16 << 10;

/// Asserts that such a trace can be indexed, and that slices by the index equal those by a scan.
pub(crate) fn indexes(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let (corner, windows) = (of_files(below(&mut bytes, 256)), below(&mut bytes, 256));
    let (mut time, mut events) = (1000, Vec::new());
    while !bytes.is_empty() && events.len() < 40 {
        time += [0, 0, 1, 1, 2, 900][below(&mut bytes, 6)];
        events.push(event(&mut bytes, time));
    }
    let text = format!("[{}]", events.join(",\n"));
    let folder = Folder::new();
    let path = folder.file("a.json", text.as_bytes());
    index_bytes(&path, corner);
    for (number, edges) in EDGES.into_iter().enumerate() {
        let from = 1_000_000 + (windows * (1 + number)) as i64 % 64 * 500;
        let to = from + 1 + windows as i64 % 7 * 700;
        let window = TimeWindow { from: Some(Moment::At(from)), to: Some(Moment::At(to)) };
        let what = format!("{from}..{to} {edges:?} {corner:?} {} events", events.len());
        _ = same(&what, &path, &[window], edges, corner, None);
    }
}

/// Generates an event that is short or about as long as an oversized one.
fn event(bytes: &mut Unstructured<'_>, time: u64) -> String {
    let ph = pick(bytes, PHASES);
    let (fine, dur_fine) = (pick(bytes, FINE), pick(bytes, FINE));
    let (name, tid, dur) = (below(bytes, 2), below(bytes, 2), below(bytes, 4));
    let start = format!(
        r#"{{"ph":"{ph}","name":"n{name}","cat":"c","id":{name},"pid":1,"tid":{tid},"ts":{time}{fine},"dur":{dur}{dur_fine},"args":{{"v":""#
    );
    let end = "\"}}";
    let len = match below(bytes, 8) {
        0 => OVERSIZED - 1,
        1 => OVERSIZED,
        2 => OVERSIZED + 1,
        3 => 3 * OVERSIZED,
        _ => 0,
    };
    let pad = "x".repeat(len.saturating_sub(start.len() + end.len()));
    format!("{start}{pad}{end}")
}
