//! Compares insights with those of DevTools' engine (`scripts/devtools-insights.mjs`).

use crate::common::engine::{engine, traces};
use crate::common::files::{files, shared};
use crate::insights::lines_of;
use crate::report::{read, report};
use crate::visited_page::page;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tracemill_report::{Insight, Report};
use tracemill_testkit::{Rng, seeds};

/// Returns the engine's name of an insight.
fn name(insight: &Insight) -> &'static str {
    match insight.details.id() {
        "document-latency" => "DocumentLatency",
        "character-set" => "CharacterSet",
        "viewport" => "Viewport",
        "modern-http" => "ModernHTTP",
        "cache" => "Cache",
        "font-display" => "FontDisplay",
        "image-delivery" => "ImageDelivery",
        "dom-size" => "DOMSize",
        "css-selectors" => "SlowCSSSelector",
        "lcp-discovery" => "LCPDiscovery",
        other => panic!("{other}"),
    }
}

/// Asserts that values are equal; numbers may differ in the last digits.
#[track_caller]
fn same(ours: &Value, theirs: &Value, place: &str) {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("a double"), b.as_f64().expect("a double"));
            assert!((a - b).abs() <= 1e-9 * b.abs(), "{place}: {a} {b}");
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).for_each(|(a, b)| same(a, b, place));
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            for (key, value) in b {
                same(a.get(key).unwrap_or(&Value::Null), value, &format!("{place} {key}"));
            }
        }
        _ => assert_eq!(ours, theirs, "{place}"),
    }
}

/// Checks all insights of a file. Returns the number of findings of each insight.
fn check(report: &Report, lines: &[Value], file: &str) -> BTreeMap<String, u64> {
    let mut findings = BTreeMap::new();
    let visits = report.visits.as_ref().expect("Chrome").as_ref().expect("pages");
    assert_eq!(visits.len(), report.insights.len(), "{file}");
    for line in lines {
        let key = line["navigation"].as_str();
        let at = visits.iter().position(|visit| visit.key.as_deref() == key).expect("the visit");
        let theirs = line["insight"].as_str().expect("a name");
        let Some(ours) = report.insights[at].iter().find(|insight| name(insight) == theirs) else {
            continue;
        };
        let place = format!("{file} {key:?} {theirs}");
        let is_unknown = line["warnings"] != json!([]) || line["error"].is_string();
        assert_eq!(ours.why.is_some(), is_unknown, "{place}: {ours:?} {line}");
        same(&json!(ours.details), &line["details"], &place);
        if line["error"].is_null() {
            same(&json!(ours.state), &line["state"], &place);
        }
        *findings.entry(theirs.to_owned()).or_default() += u64::from(line["state"] != "pass");
    }
    findings
}

/// Runs the engine on a file; `None` if it refuses the file.
fn ask(engine: &Path, file: &Path) -> Option<Vec<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/devtools-insights.mjs");
    let mut command = Command::new("node");
    lines_of(command.arg(script).arg(file).env("DEVTOOLS_ENGINE", engine))
}

#[test]
fn insights_of_recorded_pages_match_devtools() {
    let Some(engine) = engine() else { return };
    let mut all = traces();
    all.extend(files(&shared().join("oracle/samples")));
    let chrome = ["corpus/devtools", "corpus/chrome-devtools", "corpus/chromium-156"];
    chrome.iter().for_each(|folder| all.extend(files(&shared().join(folder))));
    let (mut compared, mut findings) = (0, 0);
    for file in all {
        let Some(lines) = ask(engine, &file).filter(|lines| !lines.is_empty()) else { continue };
        let report = report(&read(&file, 256 << 20));
        findings += check(&report, &lines, &file.display().to_string()).values().sum::<u64>();
        compared += 1;
    }
    assert!(compared > 3 && findings > 3, "{compared} {findings}");
}

#[test]
fn insights_of_random_pages_match_devtools() {
    let Some(engine) = engine() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut findings: BTreeMap<String, u64> = BTreeMap::new();
    for seed in seeds(1, 25) {
        let path = folder.path().join(format!("{seed}.json"));
        std::fs::write(&path, page(&mut Rng::new(seed)).to_string()).expect("a file");
        let lines = ask(engine, &path).expect("a trace of DevTools");
        let report = report(&read(&path, 64 << 20));
        for (name, count) in check(&report, &lines, &format!("seed {seed}")) {
            *findings.entry(name).or_default() += count;
        }
    }
    assert!(findings.len() == 10 && findings.values().all(|count| *count >= 3), "{findings:?}");
}
