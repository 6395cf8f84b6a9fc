//! The manifest of a merge: its inputs with their labels, clocks and new pids. Users can edit it
//! and pass it to a later merge.
//!
//! ```text
//! {"version", "inputs": [{
//!     "path":       path of the input, relative to the working folder,
//!     "label":      null | label of its processes,
//!     "offset":     "1500ns", added to its times; without this key, --align decides,
//!     "scale":      null | "1.000012", factor of its times, applied before the offset,
//!     "recording":  number; inputs with the same number belong to one recording,
//!     "pids":       {"4711": "10004711", …}, new pids by old ones, as JSON (strings with quotes);
//!                   other pids are unchanged; without this key, --pid decides,
//!     "ids":        renamed ids; ignored when read
//! }]}
//! ```

use crate::outcome::exit::Failure;
use crate::report::{Object, map};
use crate::text::similar::suggestion;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tracemill_join::config::StatedInput;
use tracemill_join::report::{IdentityReport, InputClock};
use tracemill_tokenizer::Cursor;
use tracemill_trace::time::factor::Factor;
use tracemill_trace::time::parse_time;

#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) labels: Vec<(PathBuf, String)>,
    pub(crate) stated: Vec<StatedInput>,
    /// Clock offset of each input in nanoseconds.
    pub(crate) offsets: Vec<(PathBuf, i64)>,
    pub(crate) scales: Vec<(PathBuf, Factor)>,
}

/// Reads a manifest. Returns a usage error if the file is unreadable or not a valid manifest.
pub(crate) fn read(path: &Path) -> Result<Manifest, Failure> {
    let wrong = |problem: String| {
        Failure::usage(format!("the manifest {} cannot be used: {problem}", path.display()))
    };
    let bytes = std::fs::read(path).map_err(|e| wrong(e.to_string()))?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
    let inputs = value["inputs"].as_array();
    let inputs = inputs.ok_or_else(|| wrong("expected an array called inputs".into()))?;
    let mut manifest = Manifest::default();
    for (number, input) in inputs.iter().enumerate() {
        manifest.take(input).map_err(|problem| wrong(format!("input {number}: {problem}")))?;
    }
    Ok(manifest)
}

impl Manifest {
    fn take(&mut self, input: &Value) -> Result<(), String> {
        const KEYS: [&str; 7] = ["path", "label", "offset", "scale", "recording", "pids", "ids"];
        let members = input.as_object().ok_or("expected an object")?;
        if let Some(key) = members.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let suggestion = suggestion(key, KEYS);
            return Err(format!("unknown key {key}: expected {}{suggestion}", KEYS.join(", ")));
        }
        let path: PathBuf = input["path"].as_str().ok_or("expected a string called path")?.into();
        match &input["label"] {
            Value::Null => {}
            Value::String(label) => self.labels.push((path.clone(), label.clone())),
            _ => return Err("expected a string or null as label".into()),
        }
        match &input["offset"] {
            Value::Null => {}
            Value::String(offset) => self.offsets.push((path.clone(), parse_time(offset)?)),
            _ => return Err("expected a time with its unit as offset, \"1.5ms\"".into()),
        }
        match &input["scale"] {
            Value::Null => {}
            Value::String(factor) => self.scales.push((path.clone(), factor.parse()?)),
            _ => return Err("expected a decimal in quotes as scale, \"1.000012\"".into()),
        }
        if let Some(pids) = members.get("pids") {
            let pids = pids.as_object().ok_or("expected an object as pids")?;
            let pids =
                pids.iter().map(|(old, new)| Ok((id(old)?, id(new.as_str().unwrap_or(""))?)));
            let pids = pids.collect::<Result<_, String>>()?;
            let recording = input["recording"].as_u64();
            self.stated.push(StatedInput { path: path.clone(), pids, recording });
        }
        self.inputs.push(path);
        Ok(())
    }
}

/// Checks that a text is a pid in JSON: a number, or a string with quotes.
fn id(text: &str) -> Result<String, String> {
    // the tokenizer accepts half of a surrogate pair, and a space after the text shows whether a
    // string is complete
    let padded = format!("{text} ");
    let is_text =
        text.starts_with('"') && Cursor::new(padded.as_bytes()).value() == text.as_bytes();
    let is_number = || matches!(serde_json::from_str(text), Ok(Value::Number(_)));
    if is_text || is_number() {
        return Ok(text.to_owned());
    }
    Err(format!("expected pids as JSON, \"7\" or \"\\\"name\\\"\": {text}"))
}

/// Builds the manifest of a merge that has finished.
pub(crate) fn written<'r>(report: &'r IdentityReport, clocks: &'r [InputClock]) -> Object<'r> {
    let mut all = Object::from([("version", json!(env!("CARGO_PKG_VERSION")))]);
    all.list("inputs", move || inputs_once(report, clocks));
    all
}

/// Lists each input once. The events generated from a CPU profile are reported as another input
/// with the same name.
fn inputs_once(report: &IdentityReport, clocks: &[InputClock]) -> impl Iterator<Item = Value> {
    // if two inputs have the same name, the first one counts
    let by_name: HashMap<&str, &InputClock> =
        clocks.iter().rev().map(|clock| (&*clock.name, clock)).collect();
    let mut last = None;
    report.inputs.iter().filter_map(move |input| {
        let is_new = last.replace(&input.name) != Some(&input.name);
        // the input that is generated for a viewer has no clock
        let clock = by_name.get(&*input.name)?;
        is_new.then(|| {
            json!({
                "path": input.name,
                "label": input.label,
                "offset": format!("{}ns", clock.offset_ns),
                "scale": clock.scale,
                "recording": input.recording,
                "pids": map(&input.pids),
                "ids": map(&input.ids),
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_join::report::InputIdentity;

    #[test]
    fn written_manifests_can_be_read() {
        let input = InputIdentity {
            name: "a.json".into(),
            label: Some("rank 0".into()),
            recording: 3,
            pids: vec![("\"a\"".into(), "\"a#2\"".into())],
            ids: vec![("id".into(), "numbers + 10".into())],
        };
        let report =
            IdentityReport { inputs: vec![input.clone(), input], ..IdentityReport::default() };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("manifest");
        let clock = InputClock {
            name: "a.json".into(),
            offset_ns: -1_500,
            scale: Some("1.5".into()),
            ..InputClock::default()
        };
        std::fs::write(&path, serde_json::to_vec(&written(&report, &[clock])).unwrap()).unwrap();
        let manifest = read(&path).unwrap();
        assert_eq!(manifest.inputs, [PathBuf::from("a.json")]);
        assert_eq!(manifest.labels, [("a.json".into(), "rank 0".to_owned())]);
        let pids = vec![("\"a\"".to_owned(), "\"a#2\"".to_owned())];
        let stated = StatedInput { path: "a.json".into(), pids, recording: Some(3) };
        assert_eq!(manifest.stated, [stated]);
        assert_eq!(manifest.offsets, [("a.json".into(), -1_500)]);
        assert_eq!(manifest.scales, [("a.json".into(), "1.5".parse().unwrap())]);
    }

    /// Regression test: a manifest with such pids could be written but not read.
    #[test]
    fn half_a_surrogate_pair_is_a_pid() {
        let pid = r#""\uDE00""#;
        assert_eq!(id(pid), Ok(pid.to_owned()));
    }

    #[test]
    fn invalid_manifests_are_refused_with_the_reason() {
        for (input, problem) in [
            (json!({}), "called path"),
            (json!({"path": "a", "offsets": 1}), "unknown key offsets"),
            (json!({"path": "a", "offset": 1}), "with its unit"),
            (json!({"path": "a", "offset": "1.5ns"}), "whole nanoseconds"),
            (json!({"path": "a", "scale": "0"}), "above 0"),
            (json!({"path": "a", "scale": 1.5}), "in quotes"),
            (json!({"path": "a", "label": 1}), "as label"),
            (json!({"path": "a", "pids": {"7": "x"}}), "expected pids as JSON"),
            (json!({"path": "a", "pids": {"7": 8}}), "expected pids as JSON"),
            (json!({"path": "a", "pids": {"7": "\"x"}}), "expected pids as JSON"),
            (json!({"path": "a", "pids": {"7": "\"x\\\""}}), "expected pids as JSON"),
            (json!({"path": "a", "pids": {"7": "\"x\"y"}}), "expected pids as JSON"),
            (json!({"path": "a", "pids": {"\"": "8"}}), "expected pids as JSON"),
        ] {
            let error = Manifest::default().take(&input).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
