//! Contents of a round's inputs as reported by `info`, so that filters and windows match something.

use serde_json::Value;
use tracemill_testkit::Rng;

/// Contents of the inputs; times are in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Portrait {
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    /// Estimated bytes of metadata events.
    pub(crate) metadata: u64,
    pub(crate) start: i64,
    end: i64,
    pub(crate) pids: Vec<String>,
    pub(crate) tids: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) processes: Vec<String>,
    pub(crate) threads: Vec<String>,
}

impl Portrait {
    /// Reads the result of `info --json`.
    pub(crate) fn read(info: &Value) -> Self {
        let rows = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let all = |rows: &[Value], key: &str| -> Vec<String> {
            rows.iter().filter_map(|row| plain(&row[key])).collect()
        };
        let processes = rows(&info["processes"]);
        let threads: Vec<Value> = processes.iter().flat_map(|p| rows(&p["threads"])).collect();
        let count = |key: &str| info[key].as_u64().expect("a count");
        let (events, bytes) = (count("events"), count("event_bytes"));
        Portrait {
            events,
            bytes,
            metadata: count("metadata") * bytes / events.max(1),
            start: info["time"]["start_ns"].as_i64().unwrap_or(0),
            end: info["time"]["end_ns"].as_i64().unwrap_or(0),
            pids: all(&processes, "pid"),
            tids: all(&threads, "tid"),
            names: all(&rows(&info["names"]["by_bytes"]), "name"),
            categories: all(&rows(&info["categories"]["by_bytes"]), "name"),
            processes: all(&processes, "name"),
            threads: all(&threads, "name"),
        }
    }

    pub(crate) fn span(&self) -> i64 {
        self.end.saturating_sub(self.start).max(1)
    }

    /// Returns two times within the trace in ascending order.
    pub(crate) fn two_times(&self, rng: &mut Rng) -> (i64, i64) {
        let any = |rng: &mut Rng| self.start.saturating_add(rng.below(self.span() as u64) as i64);
        let (one, other) = (any(rng), any(rng));
        (one.min(other), one.max(other).saturating_add(1))
    }
}

/// Returns up to three of `all`, or a value that matches nothing if `all` is empty.
pub(crate) fn some(rng: &mut Rng, all: &[String]) -> Vec<String> {
    match all {
        [] => vec!["77".to_owned()],
        all => (0..1 + rng.index(3)).map(|_| all[rng.index(all.len())].clone()).collect(),
    }
}

/// Returns a number or text that means the same in a list and as a pattern.
fn plain(value: &Value) -> Option<String> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!text.is_empty() && text.chars().all(is_plain)).then_some(text)
}
