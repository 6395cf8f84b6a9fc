//! The report as JSON: its keys are listed in [`crate::report`].

use crate::report::{Run, common, id};
use serde_json::{Value, json};
use tracemill_pipeline::{
    InfoReport, InputReport, ProcessInfo, ProfileCount, RealEvent, TopList, TopRow, Usage,
};

/// The report of `info`.
pub(super) fn json_of(report: &InfoReport, run: &Run<'_>) -> Value {
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    let full = report.args.is_some();
    let mut value = common("info", &report.inputs, lost, run);
    value["events"] = json!(report.events);
    value["event_bytes"] = json!(report.event_bytes);
    value["metadata"] = json!(report.metadata);
    value["untimed"] = json!(report.untimed);
    value["at_zero"] = json!(report.at_zero);
    value["time"] = match (report.start_ns, report.end_ns) {
        (Some(start), Some(end)) => json!({
            "start_ns": start,
            "end_ns": end,
            // the end is the later one; their distance may exceed what is signed
            "duration_ns": end.abs_diff(start),
        }),
        _ => Value::Null,
    };
    value["first"] = json!(report.first.as_ref().map(real_event));
    value["last"] = json!(report.last.as_ref().map(real_event));
    value["density"] = json!(report.density.as_ref().map(|density| json!({
        "start_ns": density.start_ns,
        "column_ns": density.column_ns,
        "events": density.events,
    })));
    let gap = |gap: &tracemill_pipeline::Gap| json!({"from_ns": gap.from_ns, "to_ns": gap.to_ns, "duration_ns": gap.length_ns()});
    value["gaps"] = json!({
        "least_ns": report.least_gap_ns,
        "longest": report.gaps.iter().map(gap).collect::<Value>(),
    });
    value["warnings"] = json!(report.warnings);
    value["sorted"] = json!(report.sorted);
    value["inversions"] = json!(report.inversions);
    let phases = report.phases.iter().map(|(phase, events)| (phase.clone(), json!(events)));
    value["phases"] = Value::Object(phases.collect());
    value["processes"] = report.processes.iter().map(|own| process(own, full)).collect();
    value["names"] = top_list(&report.names, full);
    value["categories"] = top_list(&report.categories, false);
    value["args"] = json!(report.args.as_ref().map(|args| top_list(args, false)));
    value["profiles"] = report.profiles.iter().map(profile_count).collect();
    value["keys"] = json!(report.keys);
    value
}

/// Sums behind what they are of.
fn with_usage(mut value: Value, usage: &Usage, has_self: bool) -> Value {
    value["events"] = json!(usage.events);
    value["bytes"] = json!(usage.bytes);
    value["time_ns"] = json!(usage.time_ns);
    if has_self {
        value["self_ns"] = json!(usage.self_ns);
    }
    value
}

fn top_list(list: &TopList, has_self: bool) -> Value {
    let rows = |rows: &[TopRow]| -> Value {
        rows.iter().map(|row| with_usage(json!({"name": row.name}), &row.usage, has_self)).collect()
    };
    let mut value = json!({
        "distinct": list.distinct,
        "by_bytes": rows(&list.by_bytes),
        "by_time": rows(&list.by_time),
    });
    if has_self {
        value["by_self"] = rows(&list.by_self);
    }
    value
}

fn real_event(event: &RealEvent) -> Value {
    json!({
        "ts_ns": event.ts_ns,
        "name": event.name,
        "ph": event.phase,
        "pid": id(&event.pid),
        "tid": id(&event.tid),
        "input": event.input,
        "offset": event.offset,
    })
}

fn process(process: &ProcessInfo, has_self: bool) -> Value {
    let threads = process.threads.iter().map(|thread| {
        with_usage(json!({"tid": id(&thread.tid), "name": thread.name}), &thread.usage, has_self)
    });
    let threads: Value = threads.collect();
    let own = json!({"pid": id(&process.pid), "name": process.name, "threads": threads});
    with_usage(own, &process.usage, has_self)
}

fn profile_count(profile: &ProfileCount) -> Value {
    json!({
        "pid": id(&profile.pid),
        "tid": id(&profile.tid),
        "id": id(&profile.id),
        "chunks": profile.chunks,
        "bytes": profile.bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::test_config;
    use std::time::Duration;

    #[test]
    fn times_are_exact() {
        let report = InfoReport {
            start_ns: Some(-1_700_000_000_000_000_123),
            end_ns: Some(1_700_000_000_000_000_123),
            phases: vec![("X".into(), 2), ("none".into(), 1)],
            ..InfoReport::default()
        };
        let run = Run { config: &test_config(), elapsed: Duration::ZERO };
        let value = json_of(&report, &run);
        let text = value.to_string();
        assert!(text.contains("\"end_ns\":1700000000000000123"), "{text}");
        assert_eq!(value["time"]["duration_ns"], json!(3_400_000_000_000_000_246_u64));
        assert_eq!(value["phases"], json!({"X": 2, "none": 1}));
        let empty = json_of(&InfoReport::default(), &run);
        for key in ["time", "first", "last", "density", "args"] {
            assert_eq!(empty[key], Value::Null, "{key}");
        }
    }

    #[test]
    fn self_times_are_there_if_they_were_asked_for() {
        let usage = Usage { events: 1, bytes: 2, time_ns: u64::MAX, self_ns: 3 };
        let names = TopList {
            distinct: 1,
            by_bytes: vec![TopRow { name: None, usage }],
            ..TopList::default()
        };
        let mut report = InfoReport { names, ..InfoReport::default() };
        let run = Run { config: &test_config(), elapsed: Duration::ZERO };
        let row = json!({"name": null, "events": 1, "bytes": 2, "time_ns": u64::MAX});
        let expected = json!({"distinct": 1, "by_bytes": [row], "by_time": []});
        assert_eq!(json_of(&report, &run)["names"], expected);
        report.args = Some(TopList::default());
        assert_eq!(json_of(&report, &run)["names"]["by_bytes"][0]["self_ns"], json!(3));
    }
}
