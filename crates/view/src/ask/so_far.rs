//! Incomplete counts while an index is built: the start times of each process's events read so far.

use serde_json::{Value, json};
use tracemill_index::drawing::Seen;

/// Returns the event density of each process in `px` columns, where 255 is the maximum of all.
/// Returns `null` if no event has been read.
pub(crate) fn so_far(seen: &Seen, px: usize) -> Value {
    let Some(counts) = seen.so_far(px) else { return Value::Null };
    let most = counts.processes.iter().flatten().fold(0.0, |most: f64, process| most.max(*process));
    let part = |count: &f64| (count / most * 255.0).ceil().clamp(0.0, 255.0) as u8;
    let columns = counts.processes.iter().map(|all| all.iter().map(part).collect());
    let processes: Vec<Vec<u8>> = columns.collect();
    let duration = counts.bounds.end.saturating_sub(counts.bounds.start);
    json!({
        "events": counts.events,
        "start": counts.bounds.start.to_string(),
        "duration": duration.to_string(),
        "processes": processes,
    })
}
