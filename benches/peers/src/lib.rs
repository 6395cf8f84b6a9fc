//! What the mergers share: inputs read whole, events sorted by time, ties in the order of the inputs.

use std::io::{BufWriter, Write};

/// The inputs and the output of `PEER INPUT… OUTPUT`.
///
/// # Panics
/// If an argument is missing.
pub fn arguments() -> (Vec<String>, String) {
    let mut all: Vec<String> = std::env::args().skip(1).collect();
    let output = all.pop().expect("usage: PEER INPUT... OUTPUT");
    assert!(!all.is_empty(), "usage: PEER INPUT... OUTPUT");
    (all, output)
}

/// Sorts by time and writes the events as they stand, a line each.
///
/// # Errors
/// What writing comes to.
pub fn write_sorted<T: AsRef<str>>(mut events: Vec<(f64, T)>, path: &str) -> std::io::Result<()> {
    events.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    out.write_all(b"{\"traceEvents\":[")?;
    for (number, (_, event)) in events.iter().enumerate() {
        out.write_all(if number == 0 { b"\n" } else { b",\n" })?;
        out.write_all(event.as_ref().as_bytes())?;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}
