//! The report of `index`.

use super::head::{Run, base};
use super::object::Object;
use crate::outcome::remedies;
use serde_json::{Value, json};
use tracemill_index::IndexReport;
use tracemill_trace::run::losses::InputReport;

pub(crate) fn index<'r>(
    reports: &'r [IndexReport],
    inputs: &'r [InputReport],
    run: &Run<'_>,
) -> Object<'r> {
    let lost = inputs.iter().map(InputReport::lost).sum();
    let mut all = base("index", inputs, lost, run, []);
    all.list("indexes", || reports.iter().filter(|report| report.input.bytes > 0).map(one));
    let warnings = reports.iter().flat_map(|report| &report.warnings);
    all.set("warnings", warnings.map(|one| json!(remedies::warning(one))).collect::<Value>());
    all
}

fn one(report: &IndexReport) -> Value {
    json!({
        "file": report.path.display().to_string(),
        "bytes": report.bytes,
        "fresh": report.is_fresh,
        "same": report.is_same,
        "sections": report.sections,
        "left_out": report.left_out,
    })
}
