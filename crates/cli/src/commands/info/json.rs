//! The JSON report of `info`.

use crate::outcome::remedies;
use crate::report::{Object, Run, base, id};
use serde_json::{Value, json};
use tracemill_inspect::info::{
    InfoReport, ProcessInfo, ProfileCount, RealEvent, TopList, TopRow, Usage,
};
use tracemill_trace::run::losses::InputReport;

pub(super) fn json_of<'r>(report: &'r InfoReport, run: &Run<'_>) -> Object<'r> {
    let lost = report.inputs.iter().map(InputReport::lost).sum();
    let full = report.args.is_some();
    let mut all = base("info", &report.inputs, lost, run, []);
    all.set("events", json!(report.events));
    all.set("event_bytes", json!(report.event_bytes));
    all.set("metadata", json!(report.metadata));
    all.set("untimed", json!(report.untimed));
    all.set("at_zero", json!(report.at_zero));
    let time = match (report.start_ns, report.end_ns) {
        (Some(start), Some(end)) => json!({
            "start_ns": start,
            "end_ns": end,
            // the difference may exceed i64
            "duration_ns": end.abs_diff(start),
        }),
        _ => Value::Null,
    };
    all.set("time", time);
    all.set("window", json!(report.window));
    all.set("first", json!(report.first.as_ref().map(real_event)));
    all.set("last", json!(report.last.as_ref().map(real_event)));
    let density = report.density.as_ref().map(|density| {
        json!({
            "start_ns": density.start_ns,
            "column_ns": density.column_ns,
            "events": density.events,
        })
    });
    all.set("density", json!(density));
    let gap = |gap: &tracemill_inspect::info::Gap| json!({"from_ns": gap.from_ns, "to_ns": gap.to_ns, "duration_ns": gap.length_ns()});
    let longest: Value = report.gaps.iter().map(gap).collect();
    all.set("gaps", json!({"least_ns": report.least_gap_ns, "longest": longest}));
    all.set("warnings", json!(remedies::warnings(&report.warnings)));
    all.set("sorted", json!(report.sorted));
    all.set("inversions", json!(report.inversions));
    let phases = report.phases.iter().map(|(phase, events)| (phase.clone(), json!(events)));
    all.set("phases", Value::Object(phases.collect()));
    all.list("processes", move || report.processes.iter().map(move |entry| process(entry, full)));
    all.set("names", top_list(&report.names, full));
    if full {
        let tracemill_inspect::info::Unended { slices, self_ns } = report.unended;
        all.set("unended", json!({"slices": slices, "self_ns": self_ns}));
    }
    all.set("categories", top_list(&report.categories, false));
    all.set("args", json!(report.args.as_ref().map(|args| top_list(args, false))));
    all.list("profiles", || report.profiles.iter().map(profile_count));
    all.set("reported_losses", json!(report.reported_losses));
    all.set("keys", json!(report.keys));
    all
}

/// Adds counts and times to an object.
fn with_usage<'r>(mut of: Object<'r>, usage: &Usage, has_self: bool) -> Object<'r> {
    of.extend([
        ("events", json!(usage.events)),
        ("bytes", json!(usage.bytes)),
        ("time_ns", json!(usage.time_ns)),
    ]);
    if has_self {
        of.set("self_ns", json!(usage.self_ns));
    }
    of
}

fn top_list(list: &TopList, has_self: bool) -> Value {
    let rows = |rows: &[TopRow]| -> Value {
        let row = |row: &TopRow| {
            json!(with_usage(Object::from([("name", json!(row.name))]), &row.usage, has_self))
        };
        rows.iter().map(row).collect()
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

fn process(process: &ProcessInfo, has_self: bool) -> Object<'_> {
    let mut fields = Object::from([
        ("pid", id(&process.pid)),
        ("name", json!(process.name)),
        ("labels", json!(process.labels)),
    ]);
    fields.list("threads", move || {
        process.threads.iter().map(move |thread| {
            let object = Object::from([("tid", id(&thread.tid)), ("name", json!(thread.name))]);
            with_usage(object, &thread.usage, has_self)
        })
    });
    with_usage(fields, &process.usage, has_self)
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
    fn json_times_are_exact() {
        let report = InfoReport {
            start_ns: Some(-1_700_000_000_000_000_123),
            end_ns: Some(1_700_000_000_000_000_123),
            phases: vec![("X".into(), 2), ("none".into(), 1)],
            ..InfoReport::default()
        };
        let run = Run { config: &test_config(), elapsed: Duration::ZERO };
        let value = json!(json_of(&report, &run));
        let text = value.to_string();
        assert!(text.contains("\"end_ns\":1700000000000000123"), "{text}");
        assert_eq!(value["time"]["duration_ns"], json!(3_400_000_000_000_000_246_u64));
        assert_eq!(value["phases"], json!({"X": 2, "none": 1}));
        let report = InfoReport::default();
        let empty = json!(json_of(&report, &run));
        for key in ["time", "first", "last", "density", "args"] {
            assert_eq!(empty[key], Value::Null, "{key}");
        }
    }

    #[test]
    fn json_has_self_times_if_requested() {
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
        assert_eq!(json!(json_of(&report, &run))["names"], expected);
        report.args = Some(TopList::default());
        assert_eq!(json!(json_of(&report, &run))["names"]["by_bytes"][0]["self_ns"], json!(3));
    }
}
