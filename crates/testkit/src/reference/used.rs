//! Finds the stack frames that events and samples refer to, and counts the bytes of parts outside
//! events.

use std::collections::{BTreeMap, BTreeSet};

use super::format::Format;
use super::read::{Fields, elements, is_string, unescape};
use super::write;

fn stack_frames(keys: &[(String, String)]) -> Option<&str> {
    let (_, value) = keys.iter().rfind(|(k, _)| is_string(k, "stackFrames"))?;
    Some(value.as_str())
}

fn frames(keys: &[(String, String)]) -> Option<Vec<(&str, &str)>> {
    Some(Fields::parse(stack_frames(keys)?)?.0).filter(|frames| !frames.is_empty())
}

fn used_frames(keys: &[(String, String)], events: &[&str]) -> BTreeSet<usize> {
    let mut used = BTreeSet::new();
    let Some(frames) = frames(keys) else { return used };
    let id = |raw: &str| unescape(raw).unwrap_or_else(|| raw.as_bytes().to_vec());
    let numbers: BTreeMap<Vec<u8>, usize> =
        frames.iter().enumerate().map(|(number, (key, _))| (id(key), number)).collect();
    let samples = keys.iter().filter(|(k, _)| is_string(k, "samples"));
    let samples = samples.flat_map(|(_, samples)| elements(samples).unwrap_or_default());
    for named in events.iter().copied().chain(samples) {
        for (key, value) in Fields::parse(named).unwrap_or_default().0 {
            if !["sf", "esf", "stack", "estack"].iter().any(|name| is_string(key, name)) {
                continue;
            }
            for value in elements(value).unwrap_or_else(|| vec![value]) {
                let mut next = numbers.get(&id(value)).copied();
                while let Some(number) = next.filter(|&number| used.insert(number)) {
                    let frame = Fields::parse(frames[number].1).unwrap_or_default();
                    next = frame.get("parent").and_then(|parent| numbers.get(&id(parent)).copied());
                }
            }
        }
    }
    used
}

/// Returns the keys, with only the referenced frames in `stackFrames`.
pub(super) fn with_used_frames(
    keys: &[(String, String)],
    events: &[&str],
) -> Vec<(String, String)> {
    let mut part = keys.to_vec();
    let (Some(value), Some(all)) = (stack_frames(keys), frames(keys)) else { return part };
    let at = |part: &str| part.as_ptr() as usize - value.as_ptr() as usize;
    let text = |(id, frame): (&str, &str)| &value[at(id)..at(frame) + frame.len()];
    let used = used_frames(keys, events);
    let kept: Vec<&str> = used.iter().map(|&number| text(all[number])).collect();
    let table = part.iter_mut().rfind(|(k, _)| is_string(k, "stackFrames")).expect("it is there");
    table.1 = format!("{{{}}}", kept.join(","));
    part
}

pub(super) fn frame_bytes(keys: &[(String, String)], events: &[&str]) -> u64 {
    let Some(all) = frames(keys) else { return 0 };
    let text = |number: usize| {
        let (id, frame) = all[number];
        frame.as_ptr() as usize - id.as_ptr() as usize + frame.len()
    };
    // braces, and a comma each
    2 + used_frames(keys, events).into_iter().map(|number| text(number) as u64 + 1).sum::<u64>()
}

/// Returns the bytes of a part outside its events, without stack frames.
pub(super) fn overhead(format: Format, keys: &[(String, String)]) -> u64 {
    let mut keys = keys.to_vec();
    if frames(&keys).is_some() {
        let table = keys.iter_mut().rfind(|(k, _)| is_string(k, "stackFrames"));
        table.expect("it is there").1.clear();
    }
    let around = match format {
        Format::Object => "{\"traceEvents\":[".len() + "\n]".len() + "}\n".len(),
        Format::Array => "[".len() + "\n]\n".len(),
        Format::Ndjson => 1,
    };
    let keys: usize = match format {
        Format::Array => 0,
        Format::Object => keys.iter().map(|(k, v)| k.len() + v.len() + 3).sum(),
        Format::Ndjson if keys.is_empty() => 0,
        Format::Ndjson => write::trace(format, &[], &keys).len(),
    };
    (keys + around) as u64
}
