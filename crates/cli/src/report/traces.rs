//! What verbs say that write traces: `merge`, `slice`, `filter`, `convert`, `split`.

use super::{Run, common, flaws, id};
use crate::manifest;
use serde_json::{Map, Value, json};
use tracemill_pipeline::{
    AnnotationReport, CheckFor, Compression, ConvertReport, Edges, FilterReport, Format,
    IdentityReport, InputClock, MergeReport, OutputConfig, SliceReport, SplitPart, SplitReport,
    Target, ViewerReport,
};

/// The report of `merge`.
pub(crate) fn merge(report: &MergeReport, output: &OutputConfig, run: &Run<'_>) -> Value {
    let mut value = common("merge", &report.inputs, report.lost(), run);
    value["decisions"]["threads"] = json!(report.threads);
    value["decisions"]["tier"] = json!(report.tier.name());
    value["decisions"]["spilled_runs"] = json!(report.spilled_runs);
    value["decisions"]["spooled_bytes"] = json!(report.spooled_bytes);
    value["decisions"]["delayed_chunks"] = json!(report.delayed_chunks);
    value["copies"] = json!(report.copies);
    value["output"] = written(output, report.format, (report.events, report.bytes));
    value["keys_lost"] = json!(report.keys_lost);
    value["warnings"] = json!(report.warnings);
    value["identity"] = identity(&report.identity);
    value["clocks"] = report.clocks.iter().map(clock).collect();
    value["annotations"] = annotations(&report.annotations);
    value["viewer"] = viewer(&report.viewer);
    value
}

fn clock(clock: &InputClock) -> Value {
    json!({
        "name": clock.name,
        "method": clock.method.as_ref().map(ToString::to_string),
        "offset_ns": clock.offset_ns,
        "scale": clock.scale,
        "matches": clock.matches,
        "residual_ns": clock.residual_ns,
        "uncertainty_ns": clock.uncertainty_ns,
        "drift_ppb": clock.drift_ppb,
    })
}

fn annotations(annotations: &AnnotationReport) -> Value {
    let dropped = annotations.dropped.iter();
    let dropped: Map<String, Value> =
        dropped.map(|(reason, count)| (reason.name().to_owned(), json!(count))).collect();
    json!({"kept": annotations.kept, "dropped": dropped})
}

fn viewer(report: &ViewerReport) -> Value {
    let changes = report.changes.iter().map(|&(name, count, _)| (name.to_owned(), json!(count)));
    json!({
        "for": report.viewer.map(CheckFor::name),
        "changes": Value::Object(changes.collect()),
    })
}

fn identity(identity: &IdentityReport) -> Value {
    let inputs = identity.inputs.iter().map(|input| {
        json!({
            "name": input.name,
            "label": input.label,
            "recording": input.recording,
            "pids": manifest::map(&input.pids),
            "ids": manifest::map(&input.ids),
        })
    });
    json!({"inputs": inputs.collect::<Value>(), "metadata_dropped": identity.metadata_dropped})
}

/// Where a trace was written, and what.
fn written(output: &OutputConfig, format: Format, (events, bytes): (u64, u64)) -> Value {
    json!({
        "name": match &output.target {
            Target::Stdout => None,
            Target::File { path, .. } => Some(path.to_string_lossy()),
        },
        "format": format.name(),
        "compression": compression(output.compression),
        "events": events,
        "bytes": bytes,
    })
}

/// The report of `convert`.
pub(crate) fn convert(report: &ConvertReport, output: &OutputConfig, run: &Run<'_>) -> Value {
    let mut value = common("convert", &report.inputs, report.lost(), run);
    value["decisions"]["spilled_bytes"] = json!(report.spilled_bytes);
    value["decisions"]["spooled_bytes"] = json!(report.spooled_bytes);
    value["output"] = written(output, report.format, (report.events, report.bytes));
    value["output"]["style"] = json!(report.style.name());
    value["keys_lost"] = json!(report.keys_lost);
    value["annotations"] = annotations(&report.annotations);
    value["warnings"] = json!(report.warnings);
    value
}

/// The report of `filter`.
pub(crate) fn filter(report: &FilterReport, output: &OutputConfig, run: &Run<'_>) -> Value {
    let mut value = common("filter", &report.inputs, report.lost(), run);
    value["decisions"]["spilled_bytes"] = json!(report.spilled_bytes);
    value["decisions"]["spooled_bytes"] = json!(report.spooled_bytes);
    value["output"] = written(output, report.format, (report.events, report.bytes));
    let dropped = report.dropped.iter().map(|dropped| {
        json!({"reason": dropped.reason, "events": dropped.events, "bytes": dropped.bytes})
    });
    value["dropped"] = dropped.collect();
    value["threshold_ns"] = json!(report.threshold_ns);
    value["keys_lost"] = json!(report.keys_lost);
    value["annotations"] = annotations(&report.annotations);
    value["warnings"] = json!(report.warnings);
    value
}

/// The report of `slice`.
pub(crate) fn slice(report: &SliceReport, output: &OutputConfig, run: &Run<'_>) -> Value {
    let mut value = merge(&report.written, output, run);
    value["verb"] = json!("slice");
    value["lost"] = json!(report.lost());
    let side = |time: i64, limit: i64| (time != limit).then_some(time);
    let windows = report
        .windows
        .iter()
        .map(|&(from, to)| json!({"from_ns": side(from, i64::MIN), "to_ns": side(to, i64::MAX)}));
    value["slice"] = json!({
        "windows": windows.collect::<Value>(),
        "edges": match report.edges {
            Edges::Clip => "clip",
            Edges::Keep => "keep",
            Edges::Drop => "drop",
        },
        "trace": report.trace.map(|(start, end)| json!({"start_ns": start, "end_ns": end})),
        "clipped": report.clipped,
        "opened": report.opened,
        "closed": report.closed,
        "counters": report.counters,
        "moved": report.moved,
        "rebased": report.rebased,
        "samples": report.samples,
        "flaws": flaws(&report.flaws),
    });
    value
}

/// The report of `split`.
pub(crate) fn split(report: &SplitReport, dry_run: bool, run: &Run<'_>) -> Value {
    let mut value = common("split", &report.inputs, report.lost(), run);
    value["decisions"]["spills"] = json!(report.spills);
    value["decisions"]["spooled_bytes"] = json!(report.spooled_bytes);
    value["decisions"]["delayed_chunks"] = json!(report.delayed_chunks);
    value["format"] = json!(report.format.name());
    value["dry_run"] = json!(dry_run);
    value["keys_lost"] = json!(report.keys_lost);
    value["annotations"] = annotations(&report.annotations);
    value["warnings"] = json!(report.warnings);
    value["parts"] = parts(&report.parts);
    value
}

/// The list of parts that `split` writes.
pub(crate) fn manifest(report: &SplitReport) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "format": report.format.name(),
        "parts": parts(&report.parts),
    })
}

fn parts(parts: &[SplitPart]) -> Value {
    let parts = parts.iter().enumerate().map(|(number, part)| {
        let mut key = serde_json::Map::new();
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
    });
    parts.collect()
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
