//! Extracts CPU profiles with given knobs, and asserts the rules that every `.cpuprofile` must
//! follow.

use crate::run::{Folder, Knobs, config, over, read};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use tracemill_index::{extract_profiles, list_profiles};
use tracemill_join::config::Config;
use tracemill_pipeline::{ProfileChoice, ProfileInfo, ProfileTarget, ProfilesReport};
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::{Error, Source};

/// An extracted profile: its description and its file.
#[derive(Debug)]
pub(crate) struct Extracted {
    pub(crate) info: ProfileInfo,
    pub(crate) bytes: Vec<u8>,
}

/// Returns the kinds of problems with their count and the offset of the first.
pub(crate) fn kinds(flaws: &Flaws) -> Vec<(FlawKind, u64, u64)> {
    flaws.iter().map(|(kind, flaw)| (kind, flaw.count, flaw.offset)).collect()
}

pub(crate) fn extract(inputs: &[&[u8]], knobs: Knobs) -> Result<Vec<Extracted>, Error> {
    over(inputs, knobs, |sources| extract_sources(sources, &config(knobs)))
}

/// Extracts profiles. Asserts that every file follows the rules and that a failed run leaves none.
pub(crate) fn extract_sources(
    sources: &[Source],
    config: &Config,
) -> Result<Vec<Extracted>, Error> {
    let folder = Folder::new();
    let dir = folder.path("profiles");
    let target =
        ProfileTarget::Folder { dir: dir.clone(), template: None, replace: false, reserved: None };
    let result = extract_profiles(sources, &ProfileChoice::default(), &target, config);
    let count = std::fs::read_dir(&dir).map_or(0, Iterator::count);
    let written = |report: &ProfilesReport| {
        report.profiles.iter().filter(|profile| profile.file.is_some()).count()
    };
    assert_eq!(count, result.as_ref().map_or(0, written), "{result:?}");
    let profiles = result?.profiles.into_iter().filter_map(|info| {
        let bytes = read(info.file.as_ref()?);
        check_rules(&bytes);
        Some(Extracted { info, bytes })
    });
    Ok(profiles.collect())
}

pub(crate) fn list(inputs: &[&[u8]], knobs: Knobs) -> Result<ProfilesReport, Error> {
    let all = ProfileChoice::default();
    over(inputs, knobs, |sources| list_profiles(sources, &all, &config(knobs)))
}

/// Asserts the properties that readers of a `.cpuprofile` rely on. Returns the profile.
#[track_caller]
pub(crate) fn check_rules(file: &[u8]) -> Value {
    let show = || String::from_utf8_lossy(&file[..file.len().min(600)]).into_owned();
    assert!(file.starts_with(b"{\"nodes\":[") && file.ends_with(b"}\n"), "{}", show());
    let profile: Value = serde_json::from_slice(file).unwrap_or_else(|e| panic!("{e}: {}", show()));
    let ids = check_tree(&profile["nodes"]);
    let samples = list_of(&profile, "samples");
    let unknown = samples.iter().find(|id| !id.as_u64().is_some_and(|id| ids.contains(&id)));
    assert_eq!(unknown, None, "a sample names nobody: {}", show());
    for key in ["timeDeltas", "lines", "columns"] {
        if key == "timeDeltas" || profile.get(key).is_some() {
            let numbers = list_of(&profile, key);
            assert_eq!(numbers.len(), samples.len(), "{key}: {}", show());
            assert!(numbers.iter().all(Value::is_number), "{key}: {}", show());
        }
    }
    assert!(profile["startTime"].is_number() && profile["endTime"].is_number(), "{}", show());
    if let Some(trace_ids) = profile.get("trace_ids") {
        let mut named = trace_ids.as_object().expect("an object").values();
        assert!(named.all(|id| id.as_u64().is_some_and(|id| ids.contains(&id))), "{}", show());
    }
    profile
}

#[track_caller]
fn list_of<'p>(profile: &'p Value, key: &str) -> &'p Vec<Value> {
    profile[key].as_array().unwrap_or_else(|| panic!("no {key}"))
}

/// Asserts that the nodes form one tree below the first. Returns their ids.
#[track_caller]
fn check_tree(nodes: &Value) -> HashSet<u64> {
    let nodes = nodes.as_array().expect("nodes");
    let id = |value: &Value| {
        let id = value.as_u64().filter(|&id| id < 1 << 53);
        id.unwrap_or_else(|| panic!("no id: {value}"))
    };
    let children: HashMap<u64, Vec<u64>> = nodes
        .iter()
        .map(|node| {
            let list = node.get("children").map(|list| list.as_array().expect("a list"));
            (id(&node["id"]), list.into_iter().flatten().map(id).collect())
        })
        .collect();
    assert_eq!(children.len(), nodes.len(), "ids are unique");
    for node in nodes {
        let frame = &node["callFrame"];
        let texts = ["functionName", "scriptId", "url"];
        assert!(texts.iter().all(|key| frame[*key].is_string()), "{node}");
        let numbers = [&frame["lineNumber"], &frame["columnNumber"], &node["hitCount"]];
        assert!(numbers.iter().all(|number| number.is_number()), "{node}");
    }
    let mut reached = HashSet::new();
    let mut open = vec![id(&nodes[0]["id"])];
    while let Some(node) = open.pop() {
        assert!(reached.insert(node), "{node} is below two nodes, or below itself");
        open.extend(children.get(&node).unwrap_or_else(|| panic!("child {node} is no node")));
    }
    assert_eq!(reached.len(), nodes.len(), "all nodes are below the first");
    reached
}
