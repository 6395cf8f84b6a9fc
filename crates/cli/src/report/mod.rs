//! Reports as JSON: `--report`, and `info --json`. Keys are added over time, never renamed.
//!
//! ```text
//! {
//!   "version":  tracemill's, "verb": "merge" | "info" | "profile list" | "profile extract" | "check" | "convert" |
//!               "filter" | "split" | "slice" | "top" | "tree" | "calls" (these with no keys of their own),
//!   "inputs":   [{"name", "bytes" (after unpacking), "events", "encoding": null | "gzip" | …,
//!                 "losses": [{"kind", "count", "bytes",
//!                             "examples": [{"offset", "noticed", "bytes", "excerpt"}]}],
//!                 "lapses": as losses: what is not JSON and was kept, or, with --repair or --for, mended,
//!                 "unclosed", "odd_separators", "profiles": of .cpuprofile inputs, "flaws": of those}],
//!   "lost":     pieces lost in all; status 1 if not 0, or if lapses were kept
//!   "seconds":  wall time
//!   "decisions": {"threads", "tier", "memory" (bytes), "tmp_dir", "strict", "repair",
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

mod findings;
mod object;
mod traces;

pub(crate) use findings::{check, profiles};
pub(crate) use object::Object;
pub(crate) use traces::{convert, filter, manifest, merge, slice, split};

use serde_json::{Value, json};
use std::time::Duration;
use tracemill_pipeline::{Config, Flaws, InputReport, Tally, Tier};

/// What a report says of the run itself.
pub(crate) struct Run<'r> {
    /// Its knobs.
    pub(crate) config: &'r Config,
    /// How long it took.
    pub(crate) elapsed: Duration,
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

/// What all reports begin with; `decisions` are those of the verb.
pub(crate) fn common<'r, const N: usize>(
    verb: &str,
    inputs: &'r [InputReport],
    lost: u64,
    run: &Run<'_>,
    decisions: [(&'static str, Value); N],
) -> Object<'r> {
    let Run { config, elapsed } = run;
    let mut all = Object::from([
        ("threads", json!(config.threads)),
        ("tier", json!(config.tier.unwrap_or_else(Tier::best).name())),
        ("memory", json!(config.memory)),
        ("tmp_dir", json!(config.tmp_dir.to_string_lossy())),
        ("strict", json!(config.strict)),
        ("repair", json!(config.repair)),
    ]);
    all.extend(decisions);
    let mut report = Object::from([
        ("version", json!(env!("CARGO_PKG_VERSION"))),
        ("verb", json!(verb)),
        ("lost", json!(lost)),
        ("seconds", json!(elapsed.as_secs_f64())),
    ]);
    report.list("inputs", || inputs.iter().map(input));
    report.set("decisions", all);
    report
}

fn input(input: &InputReport) -> Value {
    json!({
        "name": input.name,
        "bytes": input.bytes,
        "events": input.events,
        "encoding": input.encoding,
        "losses": tallies(input.losses.iter().map(|(kind, tally)| (kind.name(), tally))),
        "lapses": tallies(input.lapses.iter().map(|(kind, tally)| (kind.name(), tally))),
        "unclosed": input.unclosed,
        "odd_separators": input.odd_separators,
        "profiles": input.profiles,
        "flaws": flaws(&input.flaws),
    })
}

/// Losses or lapses, by the names of their kinds.
fn tallies<'t>(tallies: impl Iterator<Item = (&'static str, &'t Tally)>) -> Value {
    let tallies = tallies.map(|(kind, tally)| {
        let examples = tally.examples.iter().map(|example| {
            json!({
                "offset": example.offset,
                "noticed": example.noticed,
                "bytes": example.bytes,
                "excerpt": example.excerpt,
            })
        });
        json!({
            "kind": kind,
            "count": tally.count,
            "bytes": tally.bytes,
            "examples": examples.collect::<Value>(),
        })
    });
    tallies.collect()
}

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
}
