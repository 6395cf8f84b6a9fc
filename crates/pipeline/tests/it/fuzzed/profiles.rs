//! Compares streams of CPU profile chunks, a few bytes each, with the naive reassembler.

use super::ask::Ask;
use super::laws::assert_equal;
use super::{below, pick};
use crate::extract::{Extracted, extract, kinds};
use crate::run::{PLAIN, knobs};
use arbitrary::Unstructured;
use serde_json::Value;
use tracemill_testkit::reference;
use tracemill_trace::run::flaws::FlawKind::Unordered;

pub(crate) fn profiles(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let corner = knobs(below(&mut bytes, 256));
    let count = 1 + below(&mut bytes, 2);
    let inputs: Vec<Vec<u8>> = (0..count).map(|_| streams(&mut bytes)).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let has_profiles = reference::cpu_profiles(&inputs).is_ok_and(|found| !found.is_empty());
    let is_mended =
        |extracted: &Extracted| kinds(&extracted.info.flaws).iter().any(|f| f.0 != Unordered);
    if has_profiles && extract(&inputs, PLAIN).is_ok_and(|all| !all.iter().any(is_mended)) {
        crate::profiles::check("streams", &inputs, [corner].into_iter());
    } else {
        // orphans, samples of unknown nodes and duplicate nodes have no reference
        let answer = |corner| Ask::Profiles.answer(&inputs, corner, false);
        assert_equal("streams", &answer(PLAIN), &answer(corner));
    }
    check_again(&inputs);
}

/// Asserts that extracted profiles are valid, and that extracting them again only reorders nodes
/// defined before their parents.
fn check_again(inputs: &[&[u8]]) {
    let Ok(all) = extract(inputs, PLAIN) else { return };
    for Extracted { bytes, info } in &all {
        let again = extract(&[bytes], PLAIN).unwrap_or_else(|e| panic!("{e}: {info:?}"));
        assert_eq!(again.len(), 1, "{info:?}");
        assert!(again[0].info.flaws.is_empty(), "{:?}", again[0].info.flaws);
        if info.flaws.is_empty() {
            assert_eq!(by_id(bytes), by_id(&again[0].bytes), "extracted again");
        }
    }
}

fn by_id(file: &[u8]) -> Value {
    let mut profile: Value = serde_json::from_slice(file).expect("checked where it was extracted");
    let nodes = profile["nodes"].as_array_mut().expect("checked too");
    nodes.sort_by_key(|node| node["id"].as_u64());
    profile
}

fn streams(bytes: &mut Unstructured<'_>) -> Vec<u8> {
    let (mut time, mut next) = (100, [1, 1]);
    let mut events = Vec::new();
    for _ in 0..below(bytes, 17) {
        if bytes.is_empty() {
            break;
        }
        let stream = below(bytes, 2);
        time += below(bytes, 12) as i64 - 3;
        let key = format!(
            r#""ph":"P","pid":{},"tid":{},"id":"0x1","ts":{time}"#,
            stream + 1,
            below(bytes, 3)
        );
        events.push(match below(bytes, 8) {
            0 | 1 => format!(
                r#"{{"name":"Profile",{key},"args":{{"data":{{"startTime":{}}}}}}}"#,
                pick(bytes, &["100", "90", "103.5", "\"100\"", "null", "-4"])
            ),
            2 => {
                format!(r#"{{"name":"ProfileChunk",{key},"args":{{"data":{{"endTime":{time}}}}}}}"#)
            }
            3 => format!(r#"{{"name":"other",{key},"args":{{}}}}"#),
            _ => {
                let data = chunk(bytes, &mut next[stream]);
                format!(r#"{{"name":"ProfileChunk",{key},"args":{{"data":{{{data}}}}}}}"#)
            }
        });
    }
    format!("[{}]", events.join(",\n")).into_bytes()
}

/// Generates nodes, samples and time steps. `next` is the next id of a stream in order.
fn chunk(bytes: &mut Unstructured<'_>, next: &mut usize) -> String {
    let id = |bytes: &mut Unstructured<'_>, next: usize| match below(bytes, 8) {
        7 => below(bytes, 12),
        near => next.saturating_sub(1 + near % 3).max(1),
    };
    let mut nodes = Vec::new();
    for _ in 0..below(bytes, 4) {
        let node_id = if below(bytes, 12) == 11 { id(bytes, *next) } else { *next };
        *next += 1;
        let mut node = format!(
            r#"{{"id":{node_id},"callFrame":{{"functionName":"f{node_id}","scriptId":{}}}"#,
            pick(bytes, &["0", "\"7\"", "9"])
        );
        if node_id > 1 || below(bytes, 8) == 7 {
            node += &match below(bytes, 10) {
                9 => format!(r#","children":[{}]"#, id(bytes, *next)),
                _ => format!(r#","parent":{}"#, id(bytes, node_id)),
            };
        }
        nodes.push(node + "}");
    }
    let count = below(bytes, 5);
    let samples: Vec<String> = (0..count).map(|_| id(bytes, *next).to_string()).collect();
    let steps = if below(bytes, 12) == 11 { below(bytes, 5) } else { count };
    let step = |bytes: &mut Unstructured<'_>| match below(bytes, 32) {
        // 104 days: a few hundred of them exceed the 292 years of nanosecond times
        31 => 9_000_000_000_000,
        near => near as i64 % 16 - 4,
    };
    let steps: Vec<String> = (0..steps).map(|_| step(bytes).to_string()).collect();
    let lines = match below(bytes, 6) {
        5 => format!(r#","lines":[{}]"#, steps.join(",")),
        _ => String::new(),
    };
    format!(
        r#""cpuProfile":{{"nodes":[{}],"samples":[{}]}},"timeDeltas":[{}]{lines}"#,
        nodes.join(","),
        samples.join(","),
        steps.join(",")
    )
}
