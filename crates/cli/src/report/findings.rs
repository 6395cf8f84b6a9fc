//! Reports of the commands that check or list: `check`, `profile list` and `profile extract`.

use super::head::{Run, base};
use super::object::Object;
use crate::outcome::remedies;
use serde_json::{Value, json};
use tracemill_inspect::check::{CheckReport, Finding, Severity};
use tracemill_join::config::CheckFor;
use tracemill_pipeline::{ProfileInfo, ProfilesReport};
use tracemill_trace::run::losses::InputReport;

pub(crate) fn check<'r>(
    report: &'r CheckReport,
    viewers: &[CheckFor],
    run: &Run<'_>,
) -> Object<'r> {
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    let mut all = base("check", &report.inputs, lost, run, []);
    all.set("events", json!(report.events));
    all.set("for", json!(viewers));
    all.set("errors", json!(report.count(Severity::Error)));
    all.set("warnings", json!(report.count(Severity::Warning)));
    all.set("notes", json!(report.count(Severity::Note)));
    all.list("findings", || report.findings.iter().map(finding));
    all.set("messages", json!(remedies::warnings(&report.warnings)));
    all
}

/// Returns a finding as JSON, with its suggestion.
fn finding(finding: &Finding) -> Value {
    let mut all = json!(finding);
    all["remedy"] = json!(remedies::of_finding(&finding.kind));
    all
}

pub(crate) fn profiles<'r>(verb: &str, report: &'r ProfilesReport, run: &Run<'_>) -> Object<'r> {
    let decisions = [("spills", json!(report.spills))];
    let mut all = base(verb, &report.inputs, report.lost(), run, decisions);
    all.list("profiles", || report.profiles.iter().map(profile));
    all.set("warnings", json!(remedies::warnings(&report.warnings)));
    all
}

/// Returns a CPU profile as JSON, with its duration and the mean time between samples.
fn profile(profile: &ProfileInfo) -> Value {
    let mut all = json!(profile);
    all["duration_ns"] = json!(profile.end_ns.abs_diff(profile.start_ns));
    all["interval_ns"] = json!(profile.interval_ns());
    all
}
