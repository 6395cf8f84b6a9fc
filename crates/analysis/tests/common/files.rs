//! Files of traces, and the stored answers of DevTools' engine.

use serde_json::Value;
use std::path::{Path, PathBuf};
use tracemill_testkit::packing;

/// Returns the folder of shared test data next to the checkout.
pub(crate) fn shared() -> PathBuf {
    let manifest = std::env::var("CARGO_MANIFEST_DIR");
    let manifest = manifest.unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    Path::new(&manifest).join("../../../shared")
}

/// Traces with times in quotes. DevTools concatenates them as strings (`"10" + 5` is `"105"`); we
/// parse the numbers.
pub(crate) const TIMES_IN_QUOTES: [&str; 7] = [
    "hermes/hermes-cli-0.12-sample-profiling.json",
    "perfetto/inline-invalid_string_ts_and_dur.json",
    "perfetto/inline-string_ts_and_dur.json",
    "perfetto/inline-string_ts_trailing_chars.json",
    "perfetto/inline-string_tts_and_tdur.json",
    "speedscope-trace-event/multi-thread-with-samples.json",
    "xray/xray-log-18.json",
];

/// Reads a file, unpacking it if it is packed.
pub(crate) fn unpacked(path: &Path) -> Vec<u8> {
    packing::unpacked(std::fs::read(path).expect("a file"))
}

pub(crate) fn lines(golden: &Path) -> Vec<Value> {
    let text = String::from_utf8(unpacked(golden)).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Returns the trace of a golden file.
pub(crate) fn input_of(name: &str) -> PathBuf {
    match name.strip_prefix("samples/") {
        Some(sample) => shared().join("oracle/samples").join(sample),
        None => shared().join("corpus").join(name),
    }
}

pub(crate) fn has_goldens() -> bool {
    goldens_folder().is_dir()
}

fn goldens_folder() -> PathBuf {
    shared().join("oracle/golden-trees")
}

/// Returns stored results with this file name ending, and the names of their traces.
pub(crate) fn goldens(ending: &str) -> Vec<(String, PathBuf)> {
    let folder = goldens_folder();
    let name = |golden: PathBuf| {
        let inside = golden.strip_prefix(&folder).expect("below it").to_string_lossy();
        let name = inside.strip_suffix(ending).filter(|name| !TIMES_IN_QUOTES.contains(name))?;
        Some((name.to_owned(), golden.clone()))
    };
    files(&folder).into_iter().filter_map(name).collect()
}

/// Reads a trace in JSON, or a small profile, since profiles are not shortened.
pub(crate) fn trace_of(path: &Path) -> Option<Value> {
    let bytes = unpacked(path);
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    let is_profile = value["nodes"].is_array() && bytes.len() < 60_000;
    (value.is_array() || value["traceEvents"].is_array() || is_profile).then_some(value)
}
