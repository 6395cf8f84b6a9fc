//! Incomplete counts while an index is built: when the events of each process begin, as far as
//! read.

use serde_json::{Value, json};
use tracemill_index::drawing::Seen;

/// Returns the event density of each process in `px` columns, in 255ths of the maximum; `null`
/// before the first event.
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
