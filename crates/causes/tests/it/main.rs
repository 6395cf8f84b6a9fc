//! Tests of causes in traces that DevTools' rules do not apply to, and of Node's async hooks.

mod format;
mod node;
mod pytorch;

use std::path::{Path, PathBuf};
use tracemill_analysis::value::clock::Times;
use tracemill_analysis::{ReadRules, Trace, Wanted};
use tracemill_causes::{Causes, EventId, EventKey};
use tracemill_pipeline::{Config, Source};

/// Reads traces and finds their causes.
fn causes_of(paths: &[PathBuf], times: Times, bytes: u64) -> (Trace, Causes) {
    causes_with(paths, times, &Config::new(2, bytes, std::env::temp_dir()))
}

/// Reads traces by the rules of `config`, and finds their causes.
fn causes_with(paths: &[PathBuf], times: Times, config: &Config) -> (Trace, Causes) {
    let wanted = Wanted { causes: true, ..Wanted::default() };
    let rules = ReadRules { wanted, times, ..ReadRules::default() };
    let sources: Vec<Source> = paths.iter().map(|path| Source::Path(path.clone())).collect();
    let trace = Trace::read(&sources, rules, config).expect("works");
    let causes = Causes::find(&trace, false).expect("works");
    (trace, causes)
}

/// Returns the number of an event among all.
fn number(event: EventId, trace: &Trace) -> Option<usize> {
    match event.key(trace) {
        EventKey::Key(key) => key.strip_prefix("r-")?.parse().ok(),
        EventKey::Pair { .. } => None,
    }
}

/// Returns the events of a trace.
fn events_of(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).expect("works");
    let mut trace: serde_json::Value = serde_json::from_str(&text).expect("works");
    serde_json::from_value(trace["traceEvents"].take()).expect("works")
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
