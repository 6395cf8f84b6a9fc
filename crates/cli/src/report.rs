//! Reports as JSON: `--report`, and `info --json`. Keys are added over time, never renamed.
//!
//! ```text
//! {
//!   "version":  tracemill's, "verb": "merge" | "info" | "profile list" | "profile extract" | "check" | "convert" |
//!               "filter" | "split" | "slice",
//!   "inputs":   [{"name", "bytes" (after unpacking), "events", "encoding": null | "gzip" | …,
//!                 "losses": [{"kind", "count", "bytes",
//!                             "examples": [{"offset", "noticed", "bytes", "excerpt"}]}],
//!                 "unclosed", "odd_separators", "profiles": of .cpuprofile inputs, "flaws": of those}],
//!   "lost":     pieces lost in all; status 1 if not 0
//!   "seconds":  wall time
//!   "decisions": {"threads", "tier", "memory" (bytes), "tmp_dir", "strict",
//!                 merge: "spilled_runs", "spooled_bytes", "delayed_chunks"},
//!
//!   merge:
//!   "output":   {"name": null for standard output, "format", "compression": null | {"codec", "level"},
//!                "events", "bytes" (before packing)},
//!   "copies": events left out that split had repeated at cuts, "keys_lost", "warnings": [sentence],
//!   "identity": {"inputs": [{"name", "label": null | text, "recording": inputs of one number are parts of one,
//!                            "pids": {old: new} (as JSON has them: strings with their quotes),
//!                            "ids": {"id" | an --args-key | "stackFrames": what was done}}], of which CPU profiles
//!                           in an input have some of their own,
//!                "metadata_dropped": with --dedup-metadata},
//!   "clocks":   [{"name", "method": null (nothing to go by) | "start" | "base-time" | "marker:NAME" | "clock-sync" |
//!                 "given", "offset_ns": added to all times, after they were multiplied by "scale": null | decimal text,
//!                 "matches": events, "residual_ns": null | of the worst match, "uncertainty_ns": null | of the offset,
//!                 "drift_ppb": null | by how many 10^-9 the clock falls behind}],
//!   "annotations": {"kept", "dropped": {reason: count}} of DevTools (metadata.modifications); of convert, filter and
//!                  split too,
//!   "viewer":   {"for": null | "devtools" | "perfetto", "changes": {kind: how many, where there are any}},
//!
//!   convert:
//!   "output":   as of merge, and "style"; "keys_lost", "warnings"; decisions: "spilled_bytes", "spooled_bytes",
//!
//!   filter:
//!   "output", "keys_lost", "warnings": as of merge; decisions as of convert,
//!   "dropped":  [{"reason": the flag that the events failed first, "events", "bytes"}],
//!   "threshold_ns": null | with --shrink-to: what is shorter went,
//!
//!   info:
//!   "events", "event_bytes", "metadata", "untimed", "at_zero",
//!   "time":     null | {"start_ns", "end_ns", "duration_ns"} (integers, exact; above 2^53 at times since 1970),
//!   "first", "last": null | {"ts_ns", "name": null | string, "ph", "pid", "tid", "input", "offset"},
//!   "density":  null | {"start_ns", "column_ns", "events": [how many begin in each column]},
//!   "gaps":     {"least_ns": shorter ones are not looked for, "longest": [{"from_ns", "to_ns", "duration_ns"}]},
//!   "sorted", "inversions",
//!   "phases":   {"X": events, …, "none": events},
//!   "processes": [{"pid", "name": null | string, "events", "bytes", "time_ns",
//!                  "threads": [{"tid", "name", "events", "bytes", "time_ns"}]}],
//!   "names", "categories": {"distinct", "by_bytes", "by_time": [{"name": null | string, "events", "bytes", "time_ns"}]},
//!   "args":     null without --full, else as names; bytes are those of key and value,
//!               with --full "self_ns" where there is "time_ns" of processes, threads and names, and names "by_self",
//!   "profiles": [{"pid", "tid": null without a Profile event, "id", "chunks", "bytes"}],
//!   "keys":     [name],
//!
//!   profile list, profile extract (of decisions also "spills"):
//!   "profiles": [{"pid", "tid", "id", "process": null | string, "thread": null | string, "source": null | string,
//!                 "start_ns", "end_ns", "duration_ns", "samples", "nodes", "chunks",
//!                 "order": "both" | "time" | "input" | "neither",
//!                 "flaws": [{"kind", "count", "lost": whether anything is, "input", "offset": of the first}],
//!                 "file": null | string}],
//!
//!   check:
//!   "events", "for": ["devtools" | "perfetto"], "errors", "warnings", "notes": kinds of findings of each severity
//!                                               ("lost" is what could not be read at all),
//!   "findings": [{"kind", "severity": "error" | "warning" | "note", "count", "sentence", "remedy",
//!                 "places": [{"input", "offset", "excerpt", "expected": null | what should have stood there,
//!                             "noticed": null | of what could not be read: where that was noticed}]}], the worst first,
//!   "messages": [sentence],
//!
//!   split (of decisions also "spills", "spooled_bytes", "delayed_chunks"):
//!   "format", "dry_run", "keys_lost", "warnings",
//!   "parts":    [{"part": from 1 on, "file", "key": {"pid", "tid", "cat"} as far as parts are of those,
//!                 "events": in the file, "metadata": of those ph M, "copies": of those repeated B,
//!                 "bytes" (before packing), "start_ns": of the first event, null if none has a time, "end_ns": of the last}]
//!   slice: as merge, and
//!   "slice":    {"windows": [{"from_ns": null | integer, "to_ns": null | integer}] (as they stand in the trace),
//!                "edges": "clip" | "keep" | "drop", "trace": null | {"start_ns", "end_ns"},
//!                "clipped", "opened", "closed", "counters", "moved", "rebased", "samples",
//!                "flaws": of re-based CPU profiles}
//! }
//!
//! The manifest of split is {"version", "format", "parts"} of these.
//! ```
//!
//! pid and tid are JSON as it stood in the trace: an integer or a string; null if there was none, and a string of what
//! was written if it was something else. Offsets are bytes in the unpacked input.

use crate::manifest;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tracemill_pipeline::{
    AnnotationReport, CheckFor, CheckReport, Compression, Config, ConvertReport, Edges,
    FilterReport, Finding, Flaws, Format, IdentityReport, InputClock, InputReport, Losses,
    MergeReport, OutputConfig, ProfileInfo, ProfilesReport, Severity, SliceReport, SplitPart,
    SplitReport, Target, Tier, ViewerReport,
};

/// What a report says of the run itself.
pub(crate) struct Run<'r> {
    /// Its knobs.
    pub(crate) config: &'r Config,
    /// How long it took.
    pub(crate) elapsed: Duration,
}

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

/// The report of `check`.
pub(crate) fn check(report: &CheckReport, viewers: &[CheckFor], run: &Run<'_>) -> Value {
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    let mut value = common("check", &report.inputs, lost, run);
    value["events"] = json!(report.events);
    value["for"] = viewers.iter().map(|viewer| viewer.name()).collect();
    value["errors"] = json!(report.count(Severity::Error));
    value["warnings"] = json!(report.count(Severity::Warning));
    value["notes"] = json!(report.count(Severity::Note));
    value["findings"] = report.findings.iter().map(finding).collect();
    value["messages"] = json!(report.warnings);
    value
}

fn finding(finding: &Finding) -> Value {
    let places = finding.places.iter().map(|place| {
        json!({
            "input": place.input,
            "offset": place.offset,
            "excerpt": place.excerpt,
            "expected": place.expected,
            "noticed": place.noticed,
        })
    });
    json!({
        "kind": finding.kind,
        "severity": finding.severity.name(),
        "count": finding.count,
        "sentence": finding.sentence,
        "remedy": finding.remedy,
        "places": places.collect::<Value>(),
    })
}

/// The report of `profile list` and `profile extract`.
pub(crate) fn profiles(verb: &str, report: &ProfilesReport, run: &Run<'_>) -> Value {
    let mut value = common(verb, &report.inputs, report.lost(), run);
    value["decisions"]["spills"] = json!(report.spills);
    value["profiles"] = report.profiles.iter().map(profile).collect();
    value["warnings"] = json!(report.warnings);
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

fn profile(profile: &ProfileInfo) -> Value {
    json!({
        "pid": id(&profile.pid),
        "tid": id(&profile.tid),
        "id": id(&profile.id),
        "process": profile.process_name,
        "thread": profile.thread_name,
        "source": profile.source.map(|source| source.name()),
        "start_ns": profile.start_ns,
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

fn flaws(flaws: &Flaws) -> Value {
    let all = flaws.iter().map(|(kind, flaw)| {
        json!({
            "kind": kind.name(),
            "count": flaw.count,
            "lost": kind.is_loss(),
            "input": flaw.input,
            "offset": flaw.offset,
        })
    });
    all.collect()
}

/// What all reports begin with.
pub(crate) fn common(verb: &str, inputs: &[InputReport], lost: u64, run: &Run<'_>) -> Value {
    let Run { config, elapsed } = run;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "verb": verb,
        "inputs": inputs.iter().map(input).collect::<Value>(),
        "lost": lost,
        "seconds": elapsed.as_secs_f64(),
        "decisions": {
            "threads": config.threads,
            "tier": config.tier.unwrap_or_else(Tier::best).name(),
            "memory": config.memory,
            "tmp_dir": config.tmp_dir.to_string_lossy(),
            "strict": config.strict,
        },
    })
}

fn input(input: &InputReport) -> Value {
    json!({
        "name": input.name,
        "bytes": input.bytes,
        "events": input.events,
        "encoding": input.encoding,
        "losses": losses(&input.losses),
        "unclosed": input.unclosed,
        "odd_separators": input.odd_separators,
        "profiles": input.profiles,
        "flaws": flaws(&input.flaws),
    })
}

fn losses(losses: &Losses) -> Value {
    let tallies = losses.iter().map(|(kind, tally)| {
        let examples = tally.examples.iter().map(|example| {
            json!({
                "offset": example.offset,
                "noticed": example.noticed,
                "bytes": example.bytes,
                "excerpt": example.excerpt,
            })
        });
        json!({
            "kind": kind.name(),
            "count": tally.count,
            "bytes": tally.bytes,
            "examples": examples.collect::<Value>(),
        })
    });
    tallies.collect()
}

fn compression(compression: Compression) -> Value {
    match compression {
        Compression::None => Value::Null,
        Compression::Gzip { level } => json!({"codec": "gz", "level": level}),
        Compression::Zstd { level } => json!({"codec": "zst", "level": level}),
    }
}

/// One key a phase; names that differ only in what cannot be shown are added up.
/// An id as it was written, if JSON can carry it exactly.
pub(crate) fn id(written: &str) -> Value {
    if written.is_empty() {
        return Value::Null;
    }
    match serde_json::from_str(written) {
        Ok(Value::Number(number)) if number.is_i64() || number.is_u64() => Value::Number(number),
        Ok(Value::String(text)) => Value::String(text),
        _ => Value::String(written.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::test_config;
    use tracemill_pipeline::{AnnotationDrop, ClockMethod, DamageKind, Format, InputIdentity};
    use tracemill_tokenizer::Damage;

    #[test]
    fn ids_are_exact_or_text() {
        assert_eq!(id(""), Value::Null);
        assert_eq!(id("12"), json!(12));
        assert_eq!(id("-1"), json!(-1));
        assert_eq!(id("18446744073709551615"), json!(u64::MAX));
        assert_eq!(id("18446744073709551616"), json!("18446744073709551616"));
        assert_eq!(id("1.50"), json!("1.50"));
        assert_eq!(id("\"Spans\""), json!("Spans"));
        assert_eq!(id("{\"a\":1}"), json!("{\"a\":1}"));
    }

    #[test]
    fn clocks_are_reported_whole() {
        let moved = InputClock {
            name: "a".into(),
            method: Some(ClockMethod::Marker("m".into())),
            offset_ns: -5,
            scale: Some("1.5".into()),
            matches: 4,
            residual_ns: Some(3),
            uncertainty_ns: Some(2),
            drift_ppb: None,
        };
        let expected = json!({
            "name": "a", "method": "marker:m", "offset_ns": -5, "scale": "1.5", "matches": 4,
            "residual_ns": 3, "uncertainty_ns": 2, "drift_ppb": null,
        });
        assert_eq!(clock(&moved), expected);
    }

    /// Of a merge of which there is something to say in each respect.
    fn merge_report(input: InputReport) -> MergeReport {
        MergeReport {
            inputs: vec![input],
            events: 3,
            bytes: 40,
            format: Format::Array,
            tier: Tier::Scalar,
            threads: 2,
            spilled_runs: 1,
            spooled_bytes: 2,
            delayed_chunks: 3,
            copies: 5,
            keys_lost: 4,
            identity: IdentityReport {
                inputs: vec![InputIdentity {
                    name: "a".into(),
                    label: None,
                    recording: 1,
                    pids: vec![("7".into(), "10000007".into())],
                    ids: Vec::new(),
                }],
                metadata_dropped: 2,
            },
            clocks: Vec::new(),
            annotations: AnnotationReport {
                kept: 6,
                dropped: vec![(AnnotationDrop::Malformed, 2), (AnnotationDrop::Frame, 1)],
            },
            viewer: ViewerReport {
                viewer: Some(CheckFor::Devtools),
                changes: vec![("pairs", 6, "pairs of B and E")],
            },
            warnings: vec!["hm".into()],
        }
    }

    #[test]
    fn a_merge_is_reported_whole() {
        let mut input = InputReport { name: "a".into(), bytes: 9, ..InputReport::default() };
        let lost = b"{\"x";
        input.losses.add(&Damage { kind: DamageKind::Truncated, offset: 5, noticed: 8, lost });
        let report = merge_report(input);
        let output = OutputConfig {
            target: Target::File { path: "o.gz".into(), replace: false },
            format: None,
            compression: Compression::Gzip { level: 6 },
        };
        let run = Run { config: &test_config(), elapsed: Duration::from_millis(1500) };
        let expected = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "verb": "merge",
            "inputs": [{
                "name": "a", "bytes": 9, "events": 0, "encoding": null,
                "losses": [{"kind": "truncated", "count": 1, "bytes": 3, "examples": [
                    {"offset": 5, "noticed": 8, "bytes": 3, "excerpt": "{\"x"},
                ]}],
                "unclosed": 0, "odd_separators": 0, "profiles": 0, "flaws": [],
            }],
            "lost": 5,
            "seconds": 1.5,
            "decisions": {
                "threads": 2, "tier": "scalar", "memory": 64 << 20, "tmp_dir": "/t", "strict": false,
                "spilled_runs": 1, "spooled_bytes": 2, "delayed_chunks": 3,
            },
            "output": {
                "name": "o.gz", "format": "array", "compression": {"codec": "gz", "level": 6},
                "events": 3, "bytes": 40,
            },
            "copies": 5,
            "keys_lost": 4,
            "warnings": ["hm"],
            "identity": {
                "inputs": [{
                    "name": "a", "label": null, "recording": 1, "pids": {"7": "10000007"}, "ids": {},
                }],
                "metadata_dropped": 2,
            },
            "clocks": [],
            "annotations": {"kept": 6, "dropped": {"malformed": 2, "frames": 1}},
            "viewer": {"for": "devtools", "changes": {"pairs": 6}},
        });
        assert_eq!(merge(&report, &output, &run), expected);
    }
}
