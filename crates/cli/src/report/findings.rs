//! What verbs say that judge or list: `check`, `profile list` and `profile extract`.

use super::head::{Run, common, flaws, id};
use super::object::Object;
use crate::remedies;
use serde_json::{Value, json};
use tracemill_pipeline::{
    CheckFor, CheckReport, Finding, InputReport, ProfileInfo, ProfilesReport, Severity,
};

/// The report of `check`.
pub(crate) fn check<'r>(
    report: &'r CheckReport,
    viewers: &[CheckFor],
    run: &Run<'_>,
) -> Object<'r> {
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    let mut all = common("check", &report.inputs, lost, run, []);
    all.set("events", json!(report.events));
    all.set("for", viewers.iter().map(|viewer| viewer.name()).collect::<Value>());
    all.set("errors", json!(report.count(Severity::Error)));
    all.set("warnings", json!(report.count(Severity::Warning)));
    all.set("notes", json!(report.count(Severity::Note)));
    all.list("findings", || report.findings.iter().map(finding));
    all.set("messages", json!(remedies::warnings(&report.warnings)));
    all
}

fn finding(finding: &Finding) -> Value {
    let places = finding.places.iter().map(|place| {
        json!({
            "input": place.input,
            "offset": place.offset,
            "excerpt": place.excerpt,
            "event": place.event.as_ref().map(|event| json!({
                "ph": event.phase,
                "name": event.name,
                "pid": id(&event.pid),
                "tid": id(&event.tid),
                "ts_ns": event.ts_ns,
            })),
            "expected": place.expected,
            "noticed": place.noticed,
        })
    });
    json!({
        "kind": finding.kind,
        "severity": finding.severity.name(),
        "count": finding.count,
        "sentence": finding.sentence,
        "remedy": remedies::of_finding(&finding.kind),
        "places": places.collect::<Value>(),
    })
}

/// The report of `profile list` and `profile extract`.
pub(crate) fn profiles<'r>(verb: &str, report: &'r ProfilesReport, run: &Run<'_>) -> Object<'r> {
    let decisions = [("spills", json!(report.spills))];
    let mut all = common(verb, &report.inputs, report.lost(), run, decisions);
    all.list("profiles", || report.profiles.iter().map(profile));
    all.set("warnings", json!(remedies::warnings(&report.warnings)));
    all
}

fn profile(profile: &ProfileInfo) -> Value {
    json!({
        "pid": id(&profile.pid),
        "tid": id(&profile.tid),
        "id": id(&profile.id),
        "process": profile.process_name,
        "thread": profile.thread_name,
        "source": profile.source.map(|source| source.name()),
        "start_ns": profile.start_ns,
        "own_start_ns": profile.own_start_ns,
        "end_ns": profile.end_ns,
        "duration_ns": profile.end_ns.abs_diff(profile.start_ns),
        "samples": profile.samples,
        "nodes": profile.nodes,
        "chunks": profile.chunks,
        "order": profile.order.name(),
        "flaws": flaws(&profile.flaws),
        "file": profile.file.as_ref().map(|file| file.to_string_lossy()),
    })
}
