//! Describes renames as text for the report and provenance, and creates events that show labels.

use super::input_unit::{InputUnit, UnitDecision};
use super::rename::{RenamedUnit, Rewrite};
use super::spelling::{IdMap, Shift};
use crate::clock::push_clocks;
use crate::config::IdentityRules;
use crate::report::{InputClock, InputIdentity};
use std::path::Path;
use tracemill_trace::json::push_string;
use tracemill_trace::run::losses::InputReport;

pub(crate) struct InputNames<'n> {
    pub(crate) rules: &'n IdentityRules,
    pub(crate) inputs: &'n [InputReport],
}

impl InputNames<'_> {
    fn label(&self, input: usize) -> Option<String> {
        let name = &self.inputs[input].name;
        let path = Path::new(name);
        let is_it = |file: &Path| {
            file == path || path.file_name().is_some_and(|base_name| base_name == file.as_os_str())
        };
        let given = self.rules.labels.iter().find(|(file, _)| is_it(file));
        let pattern = self.rules.label_from_name.as_ref();
        given.map(|(_, label)| label.clone()).or_else(|| pattern?.capture(name))
    }
}

pub(crate) fn describe(
    units: &[InputUnit],
    decision: &UnitDecision,
    rewrite: &Rewrite,
    names: &InputNames<'_>,
) -> Vec<InputIdentity> {
    let of_unit = |(number, unit): (usize, &InputUnit)| {
        let renamed = &rewrite.units[number];
        InputIdentity {
            name: names.inputs[unit.input].name.clone(),
            label: names.label(unit.input),
            recording: decision.outcomes[number].recording,
            pids: new_pids(unit, renamed),
            ids: new_ids(renamed, names.rules),
        }
    };
    units.iter().enumerate().map(of_unit).collect()
}

fn new_pids(unit: &InputUnit, renamed: &RenamedUnit) -> Vec<(String, String)> {
    let Some(renames) = &renamed.renames else { return Vec::new() };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let processes = unit.processes.by_pid.iter();
    let new = processes
        .filter_map(|(key, process)| Some((text(&process.written), text(renames.pid(key)?))));
    new.collect()
}

fn new_ids(renamed: &RenamedUnit, rules: &IdentityRules) -> Vec<(String, String)> {
    let ids = renamed.renames.iter().flat_map(|renames| &renames.ids);
    let names = std::iter::once("id").chain(rules.args_keys.iter().map(String::as_str));
    let frames = renamed.frames.iter().map(|map| ("stackFrames", map));
    let all = names.zip(ids).chain(frames);
    all.filter(|(_, map)| **map != IdMap::default())
        .map(|(name, map)| (name.to_owned(), rule(map)))
        .collect()
}

/// Describes how ids change, per lexical form.
fn rule(map: &IdMap) -> String {
    let shift = |shift: Shift, hex: bool| match (shift, hex) {
        (Shift::Add(more), false) => format!("numbers + {more}"),
        (Shift::Add(more), true) => format!("hexadecimal + 0x{more:x}"),
        (Shift::Mix(bits), false) => format!("numbers xor {bits}"),
        (Shift::Mix(bits), true) => format!("hexadecimal xor 0x{bits:x}"),
    };
    let numbers = map.decimal.map(|decimal| shift(decimal, false));
    let hex = map.hex.map(|hex| shift(hex, true));
    let texts = map.tag.map(|tag| format!("texts with #{tag} behind them"));
    numbers.into_iter().chain(hex).chain(texts).collect::<Vec<_>>().join(", ")
}

/// Creates metadata events that label the processes of inputs and sort the processes in input
/// order.
///
/// `process_name` becomes `label: name (labels)`, which every viewer shows. `process_labels` and
/// `process_sort_index` serve viewers that support them.
pub(crate) fn label_events(
    units: &[InputUnit],
    rewrite: &Rewrite,
    names: &InputNames<'_>,
) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    for (unit, renamed) in units.iter().zip(&rewrite.units) {
        let Some(label) = names.label(unit.input) else { continue };
        for (key, process) in &unit.processes.by_pid {
            let new = renamed.renames.as_ref().and_then(|renames| renames.pid(key));
            let pid = String::from_utf8_lossy(new.unwrap_or(&process.written)).into_owned();
            let name = process.name.as_ref().map(|name| String::from_utf8_lossy(name));
            let full = name.map_or(label.clone(), |name| format!("{label}: {name}"));
            // PyTorch gives several processes one name; their labels identify the GPU
            let process_labels =
                process.labels.as_ref().map(|labels| String::from_utf8_lossy(labels));
            let full = process_labels
                .as_ref()
                .map_or(full.clone(), |process_labels| format!("{full} ({process_labels})"));
            let labels = process_labels
                .map_or(label.clone(), |process_labels| format!("{label}, {process_labels}"));
            let mut event = |name: &str, arg: &str, value: &dyn Fn(&mut Vec<u8>)| {
                let mut text = format!("{{\"args\":{{\"{arg}\":").into_bytes();
                value(&mut text);
                let rest = format!(
                    "}},\"cat\":\"__metadata\",\"name\":\"{name}\",\"ph\":\"M\",\"pid\":{pid},\"tid\":0,\"ts\":0}}"
                );
                text.extend_from_slice(rest.as_bytes());
                events.push(text);
            };
            event("process_name", "name", &|out| push_string(&full, out));
            event("process_labels", "labels", &|out| push_string(&labels, out));
            event("process_sort_index", "sort_index", &|out| {
                out.extend_from_slice(unit.input.to_string().as_bytes());
            });
        }
    }
    events
}

/// Appends the renames as JSON: `{"inputs":[{"path","label","recording","pids":{old:
/// new},"ids":{what: how}}],"clocks":…}`. Pids are JSON strings as in the trace; for clocks see
/// `push_clocks`.
pub fn push_provenance(inputs: &[InputIdentity], clocks: &[InputClock], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"inputs\":[");
    for (number, input) in inputs.iter().enumerate() {
        out.extend_from_slice(if number > 0 { b",{\"path\":" } else { b"{\"path\":" });
        push_string(&input.name, out);
        out.extend_from_slice(b",\"label\":");
        match &input.label {
            Some(label) => push_string(label, out),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(format!(",\"recording\":{}", input.recording).as_bytes());
        for (name, map) in [("pids", &input.pids), ("ids", &input.ids)] {
            out.extend_from_slice(format!(",\"{name}\":{{").as_bytes());
            for (at, (old, new)) in map.iter().enumerate() {
                out.extend_from_slice(if at > 0 { b"," } else { b"" });
                push_string(old, out);
                out.push(b':');
                push_string(new, out);
            }
            out.push(b'}');
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"],\"clocks\":");
    push_clocks(clocks, out);
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provenance_is_json() {
        let input = InputIdentity {
            name: "a\"b".into(),
            label: Some("rank\n0".into()),
            recording: 1,
            pids: vec![("\"7\"".into(), "\"7#2\"".into()), ("1".into(), "10000001".into())],
            ids: vec![("id".into(), "numbers + 10".into())],
        };
        let mut out = Vec::new();
        push_provenance(&[InputIdentity::default(), input], &[], &mut out);
        let value: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        assert_eq!(value["inputs"][0]["label"], serde_json::Value::Null);
        assert_eq!(value["inputs"][1]["path"], "a\"b");
        assert_eq!(value["inputs"][1]["pids"]["\"7\""], "\"7#2\"");
        assert_eq!(value["inputs"][1]["ids"]["id"], "numbers + 10");
    }
}
