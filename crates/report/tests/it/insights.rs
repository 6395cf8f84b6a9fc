//! Compares requests and page metrics with DevTools' engine (`../shared/oracle/insights.mjs`).

use crate::common::engine::{engine, traces};
use crate::common::files::{goldens, has_goldens, input_of, lines};
use crate::report::{ALL, read, report, rules};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tracemill_analysis::{ThreadChoice, Window};
use tracemill_report::Interaction;
use tracemill_report::Party;
use tracemill_report::Reflow;
use tracemill_report::Report;
use tracemill_report::ReportRules;
use tracemill_report::Request;
use tracemill_report::Visit;

/// Asserts that values are equal; numbers may differ in the last digits because of parsing.
#[track_caller]
fn same(ours: &Value, theirs: &Value, what: &str) {
    match (ours.as_f64(), theirs.as_f64()) {
        (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-12 * b.abs(), "{what}: {a} {b}"),
        _ => assert_eq!(ours, theirs, "{what}"),
    }
}

fn row(request: &Request) -> Value {
    json!([
        request.start,
        request.send,
        request.first_byte,
        request.finish,
        request.end,
        request.waiting,
        request.server,
        request.transfer,
        request.body,
        request.priority,
        request.initial_priority,
        request.render_blocking,
        request.resource,
        request.mime,
        request.status,
        request.protocol,
        request.cache,
        request.initiator,
        request.frame,
        request.url,
        request.key
    ])
}

/// Returns the rows after the head of a table.
fn rows<'l>(lines: &'l [Value], table: &str) -> &'l [Value] {
    let Some(at) = lines.iter().position(|line| line["table"] == table) else { return &[] };
    let rest = &lines[at + 1..];
    &rest[..rest.iter().take_while(|line| line.is_array()).count()]
}

fn check_interaction(interaction: &Interaction, theirs: &Value, what: &str) {
    let ours = json!([
        interaction.dur,
        interaction.ts,
        interaction.kind,
        interaction.id,
        interaction.delay(),
        interaction.handling(),
        interaction.presentation(),
        interaction.key
    ]);
    for (at, key) in [
        "value_us",
        "ts_us",
        "type",
        "interactionId",
        "inputDelay_us",
        "processing_us",
        "presentationDelay_us",
        "key",
    ]
    .into_iter()
    .enumerate()
    {
        same(&ours[at], &theirs[key], &format!("{what} {key}"));
    }
}

fn check_set(visit: &Visit, set: &Value, what: &str) -> u64 {
    let mut compared = 0;
    same(&json!(visit.key), &set["navigation"]["key"], what);
    if visit.key.is_some() {
        same(&json!(visit.url), &set["url"], what);
    }
    same(&json!(visit.bounds.0), &set["bounds"]["from_us"], what);
    same(&json!(visit.bounds.1), &set["bounds"]["to_us"], what);
    let fcp = set["fcp"].get("value_us");
    assert_eq!(visit.fcp.is_ok(), fcp.is_some(), "{what}: {:?}", visit.fcp);
    if let (Ok(ours), Some(theirs)) = (visit.fcp, fcp) {
        same(&json!(ours), theirs, what);
        compared += 1;
    }
    let lcp = &set["lcp"];
    assert_eq!(visit.lcp.is_ok(), lcp.get("value_ms").is_some(), "{what}: {:?}", visit.lcp);
    if let Ok(ours) = &visit.lcp {
        same(&json!(ours.time / 1000.0), &lcp["value_ms"], what);
        same(&json!(ours.key), &lcp["key"], what);
        same(&json!(ours.request), &lcp["request"], what);
        let parts = &lcp["parts"];
        assert_eq!(ours.parts.is_ok(), parts.get("ttfb").is_some(), "{what}: {:?}", ours.parts);
        if let Ok(ours) = &ours.parts {
            let part = |key: &str| parts[key].get("dur_us").cloned().unwrap_or(Value::Null);
            same(&json!(ours.first_byte), &part("ttfb"), what);
            same(&json!(ours.load.map(|visit| visit.0)), &part("loadDelay"), what);
            same(&json!(ours.load.map(|visit| visit.1)), &part("loadDuration"), what);
            same(&json!(ours.render), &part("renderDelay"), what);
            compared += 1;
        }
    }
    let inp = &set["inp"];
    assert_eq!(visit.inp.is_ok(), inp.get("longest").is_some(), "{what}: {:?}", visit.inp);
    if let Ok((longest, p98)) = &visit.inp {
        check_interaction(longest, &inp["longest"], what);
        check_interaction(p98, &inp["p98"], what);
        compared += 1;
    }
    let cls = &set["cls"];
    same(&json!(visit.cls()), &cls["value"], what);
    if let Some(worst) = &visit.shifts {
        same(&json!(worst.ts), &cls["worst"]["ts_us"], what);
        same(&json!(worst.dur), &cls["worst"]["dur_us"], what);
        same(&json!(worst.count), &cls["worst"]["shifts"], what);
        same(&json!(worst.worst), &cls["worst"]["worstShift"], what);
        compared += 1;
    }
    compared
}

/// Checks the third parties of a set. No company is known without a list.
fn check_parties(parties: &[Party], lines: &[Value], set: &Value, what: &str) -> u64 {
    let head = |line: &&Value| line["table"] == "thirdParties" && line["set"] == set["set"];
    let Some(at) = lines.iter().position(|line| head(&line)) else { return 0 };
    let rows = lines[at + 1..].iter().take_while(|line| line.is_array());
    let rows: Vec<&Value> = rows.collect();
    assert_eq!(parties.len(), rows.len(), "{what}: {parties:?} {rows:?}");
    for (party, theirs) in parties.iter().zip(&rows) {
        let flags = (u8::from(party.is_first), u8::from(party.is_known));
        let ours = json!([party.name, flags.0, flags.1, party.bytes]);
        for (at, ours) in ours.as_array().expect("a row").iter().enumerate() {
            // The engine's sum is NaN if data has no length.
            if at == 3 && theirs[at] == "NaN" {
                continue;
            }
            same(ours, &theirs[at], &format!("{what} {} column {at}", party.name));
        }
        // Equal to the last bit.
        assert_eq!(Some(party.own), theirs[4].as_f64(), "{what} {}", party.name);
    }
    rows.len() as u64
}

pub(crate) fn check(report: &Report, lines: &[Value], name: &str) -> (u64, u64) {
    let theirs = rows(lines, "requests");
    assert_eq!(report.requests.len(), theirs.len(), "{name}");
    for (request, theirs) in report.requests.iter().zip(theirs) {
        let ours = row(request);
        for at in 0..theirs.as_array().expect("a row").len() {
            same(&ours[at], &theirs[at], &format!("{name} {} column {at}", request.url));
        }
    }
    let mut compared = 0;
    for set in lines.iter().filter(|line| line["type"] == "set") {
        let visits = report.visits.as_ref().expect("Chrome").as_ref().expect("pages");
        let key = set["navigation"]["key"].as_str();
        let found = visits.iter().find(|visit| visit.key.as_deref() == key);
        compared += check_set(found.expect("the navigation"), set, name);
        let number = visits.iter().position(|visit| visit.key.as_deref() == key);
        let parties = number.and_then(|at| report.parties.get(at));
        compared += check_parties(parties.map_or(&[], |parties| parties), lines, set, name);
    }
    (theirs.len() as u64, compared)
}

#[test]
fn requests_and_pages_match_devtools() {
    let mut seen = (0, 0);
    for (name, golden) in goldens(".insights.jsonl.gz") {
        let lines = lines(&golden);
        if lines.iter().all(|line| line["table"] != "requests") {
            continue;
        }
        let (requests, figures) = check(&report(&read(&input_of(&name), 256 << 20)), &lines, &name);
        seen = (seen.0 + requests, seen.1 + figures);
    }
    assert!(!has_goldens() || seen.0 > 10 && seen.1 > 5, "{seen:?}");
}

#[test]
fn unknown_metrics_have_a_reason() {
    let of = |events: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.json");
        std::fs::write(&path, format!("[{events}]")).expect("a file");
        report(&read(&path, 64 << 20))
    };
    let started = r#"{"ph":"I","name":"TracingStartedInBrowser","cat":"c","pid":1,"tid":1,"ts":10,"args":{"data":{"frames":[{"frame":"F","url":"http://a.test/","processId":1}]}}}"#;
    let paint = r#"{"ph":"R","name":"firstContentfulPaint","cat":"c","pid":1,"tid":1,"ts":900,"args":{"frame":"F","data":{"navigationId":"N"}}}"#;
    let navigation = r#"{"ph":"R","name":"navigationStart","cat":"c","pid":1,"tid":1,"ts":100,"args":{"frame":"F","data":{"navigationId":"N","documentLoaderURL":"http://a.test/"}}}"#;
    let end = r#"{"ph":"X","name":"RunTask","cat":"c","pid":1,"tid":1,"ts":1000,"dur":5}"#;
    let report = of(&format!("{started},{paint},{end}"));
    let visits = report.visits.expect("Chrome").expect("a frame");
    assert_eq!(visits[0].fcp, Err("navigationStart is missing"));
    assert_eq!(visits[0].cls(), 0.0);
    let report = of(&format!("{started},{paint},{navigation},{end}"));
    let visits = report.visits.expect("Chrome").expect("a frame");
    assert_eq!((visits.len(), visits[0].fcp), (1, Ok(800.0)));
    let lcp = visits[0].lcp.as_ref().expect_err("there is none");
    assert!(lcp.contains("is missing"), "{lcp}");
    let page =
        r#"{"ph":"I","name":"TracingStartedInPage","cat":"c","pid":1,"tid":1,"ts":10,"args":{}}"#;
    assert_eq!(
        of(&format!("{page},{end}")).visits,
        Some(Err(
            "TracingStartedInBrowser is missing; record in DevTools' Performance panel to get LCP, INP and CLS"
        ))
    );
}

#[test]
fn requests_before_the_trace_start_are_reported() {
    let sends = |id: &str, ts: u32| {
        format!(
            r#"{{"ph":"I","name":"ResourceSendRequest","cat":"c","pid":1,"tid":1,"ts":{ts},"args":{{"data":{{"requestId":"{id}","url":"http://a.test/{id}"}}}}}}"#
        )
    };
    let started = r#"{"ph":"I","name":"TracingStartedInBrowser","cat":"c","pid":1,"tid":1,"ts":100,"args":{"data":{"frames":[{"frame":"F","url":"http://a.test/","processId":1}]}}}"#;
    let end = r#"{"ph":"X","name":"RunTask","cat":"c","pid":1,"tid":1,"ts":1000,"dur":5}"#;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.json");
    let (before, behind) = (sends("before", 50), sends("behind", 150));
    std::fs::write(&path, format!("[{before},{started},{behind},{end}]")).expect("a file");
    let trace = read(&path, 64 << 20);
    let ids = |window| {
        let threads = trace.choose(&ThreadChoice::default());
        let report =
            tracemill_report::report(&trace, &threads, &ReportRules { window, ..rules(ALL) })
                .expect("room");
        report.requests.into_iter().map(|request| request.id).collect::<Vec<String>>()
    };
    assert_eq!(ids(None), ["before", "behind"]);
    assert_eq!(ids(Some(Window { from: 0.1, to: 1.005 })), ["behind"]);
}

/// Checks forced layouts. The engine's table of functions covers one navigation, so only traces
/// with one are compared.
pub(crate) fn check_reflows(report: &Report, lines: &[Value], name: &str) -> usize {
    if lines.iter().filter(|line| line["table"] == "forcedReflowFunctions").count() != 1 {
        return 0;
    }
    let (all, functions) = (rows(lines, "forcedReflows"), rows(lines, "forcedReflowFunctions"));
    let none = Default::default();
    let reflows = report.reflows.as_ref().unwrap_or(&none);
    let micros = |ms: f64| (ms * 1000.0).round();
    assert_eq!(reflows.count, all.len() as u64, "{name}");
    let total: f64 = all.iter().filter_map(|row| row[2].as_f64()).sum();
    assert_eq!(micros(reflows.total), total, "{name}");
    // The table omits other frames and times outside the navigation.
    if functions.iter().filter_map(|row| row[6].as_u64()).sum::<u64>() < reflows.count {
        return 0;
    }
    let row = |row: &Value| json!([row[0], row[1], row[2], row[3], row[5], row[6]]);
    let mut theirs: Vec<Value> = functions.iter().map(row).collect();
    theirs.sort_by(|a, b| b[4].as_f64().partial_cmp(&a[4].as_f64()).expect("numbers"));
    let row = |reflow: &Reflow| {
        let place = &reflow.location;
        let url = (!place.url.is_empty()).then_some(&place.url);
        json!([reflow.function, url, place.line, place.column, micros(reflow.total), reflow.count])
    };
    let ours: Vec<Value> = reflows.functions.iter().map(row).collect();
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (ours, theirs) in ours.iter().zip(&theirs) {
        (0..6).for_each(|at| same(&ours[at], &theirs[at], name));
    }
    all.len()
}

#[test]
fn forced_layouts_match_devtools() {
    let mut compared = 0;
    for (name, golden) in goldens(".insights.jsonl.gz") {
        compared +=
            check_reflows(&report(&read(&input_of(&name), 256 << 20)), &lines(&golden), &name);
    }
    assert!(compared > 0 || !has_goldens());
}

/// Runs the engine on a file; `None` if it refuses the file.
pub(crate) fn ask(engine: &Path, file: &Path) -> Option<Vec<Value>> {
    let mut command = Command::new("node");
    lines_of(command.arg(engine.join("insights.mjs")).arg(file))
}

/// Runs a script of the engine; `None` if it refuses the file.
pub(crate) fn lines_of(command: &mut Command) -> Option<Vec<Value>> {
    let output = command.output().expect("the engine runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 2)), "{command:?}: {stderr}");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    (output.status.code() == Some(0)).then(|| lines.collect())
}

/// As with [`crate::common::engine`], of all that lies beside the project, or in a folder, if that is wanted.
#[test]
fn requests_and_pages_match_the_live_engine() {
    let Some(engine) = engine() else { return };
    let (mut figures, mut pages) = (0, 0);
    for file in traces() {
        let Some(lines) = ask(engine, &file) else { continue };
        let name = file.display().to_string();
        let report = report(&read(&file, 256 << 20));
        check_reflows(&report, &lines, &name);
        figures += check(&report, &lines, &name).1;
        let sets = lines.iter().filter(|line| line["type"] == "set").count();
        let count = report.visits.and_then(|visits| visits.ok()).map_or(0, |visit| visit.len());
        assert!(sets <= count, "{name}: {sets} {count}");
        pages += 1;
    }
    assert!(pages > 10, "{pages} {figures}");
}
