//! Reports of commands that write traces: `merge`, `slice`, `filter`, `convert`, `redact` and
//! `split`.

use super::head::{Run, base, id};
use super::object::Object;
use crate::outcome::remedies;
use serde_json::{Map, Value, json};
use tracemill_join::report::{ConvertReport, FilterReport, IdentityReport, MergeReport, RunReport};
use tracemill_pipeline::{RedactReport, SliceReport, SplitPart, SplitReport};
use tracemill_trace::output::target::{Compression, OutputConfig, Target};
use tracemill_trace::time::windows::TimeSpan;

/// Builds the report of `merge`. Without `output`, builds that of a dry run.
pub(crate) fn merge<'r>(
    report: &'r MergeReport,
    output: Option<&OutputConfig>,
    run: &Run<'_>,
) -> Object<'r> {
    let mut all = merged(report, output, run);
    all.set("dry_run", json!(output.is_none()));
    all
}

fn merged<'r>(report: &'r MergeReport, output: Option<&OutputConfig>, run: &Run<'_>) -> Object<'r> {
    let decisions = [
        ("threads", json!(report.run.threads)),
        ("tier", json!(report.run.tier.name())),
        ("spilled_runs", json!(report.spilled_runs)),
        ("delayed_chunks", json!(report.delayed_chunks)),
    ];
    let mut all = of_run("merge", &report.run, run, decisions);
    all.set("copies", json!(report.copies));
    all.set("output", output.map_or(Value::Null, |output| written(output, &report.run)));
    all.set("identity", identity(&report.identity));
    all.list("clocks", || report.clocks.iter().map(|clock| json!(clock)));
    all
}

/// Builds the keys that the reports of all commands that write traces have.
fn of_run<'r, const N: usize>(
    verb: &str,
    run_report: &'r RunReport,
    run: &Run<'_>,
    decisions: [(&'static str, Value); N],
) -> Object<'r> {
    let spooled = ("spooled_bytes", json!(run_report.spooled_bytes));
    let decisions = decisions.into_iter().chain([spooled]);
    let mut all = base(verb, &run_report.inputs, run_report.lost(), run, decisions);
    all.set("annotations", json!(run_report.annotations));
    all.set("keys_lost", json!(run_report.keys_lost));
    all.set("warnings", json!(remedies::warnings(&run_report.warnings)));
    all.set("viewer", json!(run_report.viewer));
    all
}

fn identity(identity: &IdentityReport) -> Object<'_> {
    let mut all = Object::from([
        ("metadata_dropped", json!(identity.metadata_dropped)),
        ("args_keys_absent", json!(identity.args_keys_absent)),
    ]);
    all.list("inputs", || identity.inputs.iter().map(|input| json!(input)));
    all
}

/// Builds the members about an output: name, format, compression, events and bytes.
fn written(output: &OutputConfig, run: &RunReport) -> Value {
    json!({
        "name": match &output.target {
            Target::Stdout | Target::Writer(_) => None,
            Target::File { path, .. } => Some(path.to_string_lossy()),
        },
        "format": run.format,
        "compression": compression(output.compression),
        "events": run.events,
        "bytes": run.bytes,
    })
}

pub(crate) fn convert<'r>(
    report: &'r ConvertReport,
    output: &OutputConfig,
    run: &Run<'_>,
) -> Object<'r> {
    let decisions = [("spilled_bytes", json!(report.spilled_bytes))];
    let mut all = of_run("convert", &report.run, run, decisions);
    let mut output = written(output, &report.run);
    output["style"] = json!(report.style);
    all.set("output", output);
    all
}

pub(crate) fn redact<'r>(
    report: &'r RedactReport,
    output: &OutputConfig,
    run: &Run<'_>,
) -> Object<'r> {
    let mut all = convert(&report.written, output, run);
    all.set("verb", json!("redact"));
    let replaced = report.replaced.iter().map(|&(name, count)| (name.to_owned(), json!(count)));
    all.set("replaced", Value::Object(replaced.collect()));
    all
}

pub(crate) fn filter<'r>(
    report: &'r FilterReport,
    output: &OutputConfig,
    run: &Run<'_>,
) -> Object<'r> {
    let decisions = [("spilled_bytes", json!(report.spilled_bytes))];
    let mut all = of_run("filter", &report.run, run, decisions);
    all.set("output", written(output, &report.run));
    let dropped = report.dropped.iter().map(|dropped| {
        json!({"reason": format!("--{}", dropped.reason), "events": dropped.events, "bytes": dropped.bytes})
    });
    all.set("dropped", dropped.collect::<Value>());
    all.set("unmatched", json!(report.unmatched));
    all.set("threshold_ns", json!(report.threshold_ns));
    all
}

pub(crate) fn slice<'r>(
    report: &'r SliceReport,
    output: &OutputConfig,
    run: &Run<'_>,
) -> Object<'r> {
    let mut all = merged(&report.written, Some(output), run);
    all.set("verb", json!("slice"));
    all.set("lost", json!(report.lost()));
    let side = |time: i64, limit: i64| (time != limit).then_some(time);
    let windows = report
        .windows
        .iter()
        .map(|&TimeSpan { from, to }| json!({"from_ns": side(from, i64::MIN), "to_ns": side(to, i64::MAX)}));
    let slice = json!({
        "windows": windows.collect::<Value>(),
        "edges": report.edges,
        "trace": report.trace.map(|(start, end)| json!({"start_ns": start, "end_ns": end})),
        "clipped": report.clipped,
        "opened": report.opened,
        "closed": report.closed,
        "counters": report.counters,
        "moved": report.moved,
        "rebased": report.rebased,
        "samples": report.samples,
        "flaws": report.flaws,
    });
    all.set("slice", slice);
    all
}

pub(crate) fn split<'r>(report: &'r SplitReport, dry_run: bool, run: &Run<'_>) -> Object<'r> {
    let decisions =
        [("spills", json!(report.spills)), ("delayed_chunks", json!(report.delayed_chunks))];
    let mut all = of_run("split", &report.run, run, decisions);
    all.set("format", json!(report.run.format));
    all.set("dry_run", json!(dry_run));
    all.list("parts", || parts(&report.parts));
    all
}

/// Builds the manifest that lists the parts of a `split`.
pub(crate) fn manifest(report: &SplitReport) -> Object<'_> {
    let mut all = Object::from([
        ("schema", json!(super::head::SCHEMA)),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
        ("format", json!(report.run.format)),
    ]);
    all.list("parts", || parts(&report.parts));
    all
}

fn parts(parts: &[SplitPart]) -> impl Iterator<Item = Value> {
    parts.iter().enumerate().map(|(number, part)| {
        let mut key = Map::new();
        key.extend(part.pid.as_ref().map(|pid| ("pid".to_owned(), id(pid))));
        key.extend(part.tid.as_ref().map(|tid| ("tid".to_owned(), id(tid))));
        key.extend(part.cat.as_ref().map(|cat| ("cat".to_owned(), json!(cat))));
        json!({
            "part": number + 1,
            "file": part.file.to_string_lossy(),
            "key": key,
            "events": part.events,
            "metadata": part.metadata,
            "copies": part.copies,
            "bytes": part.bytes,
            "start_ns": part.times_ns.map(|times| times.0),
            "end_ns": part.times_ns.map(|times| times.1),
        })
    })
}

fn compression(compression: Compression) -> Value {
    match compression {
        Compression::None => Value::Null,
        Compression::Gzip { level } => json!({"codec": "gz", "level": level}),
        Compression::Zstd { level } => json!({"codec": "zst", "level": level}),
    }
}

#[cfg(test)]
mod tests;
