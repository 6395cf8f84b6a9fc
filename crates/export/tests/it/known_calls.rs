//! Calls written for a merge, with index entries recorded as they are written.

use std::sync::{Arc, Mutex};
use tracemill_analysis::{ReadRules, TableRules, ThreadChoice, Trace};
use tracemill_export::{draft_calls, write_calls};
use tracemill_join::config::{Config, PidPolicy};
use tracemill_pipeline::merge;
use tracemill_trace::Source;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::losses::InputReport;

fn config(pid: PidPolicy) -> Config {
    let mut config = Config::new(2, 256 << 20, std::env::temp_dir());
    config.identity.pid = pid;
    config
}

/// The recorded entries equal those of a scan, for any functions and times.
#[test]
fn recorded_calls_equal_scanned_calls() {
    let long = "x".repeat(20_000);
    let names = ["a", "ProfileChunk", "Profile", "CpuProfile", "TracingStartedInBrowser", &long];
    let starts = ["1000", "0", "-3000", "-2000.5", "1700000000000000", "9000000000000000"];
    let mut calls = 0;
    for (name, start) in names.iter().flat_map(|name| starts.map(|start| (name, start))) {
        let node = |id: u32, name: &str, children: &str| {
            format!(
                r#"{{"id":{id},"callFrame":{{"functionName":"{name}","scriptId":"1","url":"a.js","lineNumber":0,"columnNumber":{id}}}{children}}}"#
            )
        };
        let (count, steps) = (500, ["0", "700", "1000.25", "3000"]);
        let samples: Vec<String> = (0..count).map(|at| (1 + at % 4).to_string()).collect();
        let steps: Vec<&str> = (0..count).map(|at| steps[at % 3]).collect();
        let text = format!(
            r#"{{"nodes":[{},{},{},{}],"startTime":{start},"endTime":{start},"samples":[{}],"timeDeltas":[{}]}}"#,
            node(1, "(root)", r#","children":[2,4]"#),
            node(2, name, r#","children":[3]"#),
            node(3, "b", ""),
            node(4, "c", ""),
            samples.join(","),
            steps.join(",")
        );
        let of = || Source::bytes("p.cpuprofile", text.clone());
        let trace = Trace::read(&[of()], ReadRules::default(), &config(PidPolicy::Auto))
            .expect("a profile");
        let (rules, threads) = (TableRules::default(), trace.choose(&ThreadChoice::default()));
        let mut bytes = Vec::new();
        let write = |chunk: &[u8]| {
            bytes.extend_from_slice(chunk);
            Ok(())
        };
        let written = write_calls(&trace, &threads, rules, None, write).expect("memory takes it");
        let (drafted, known) = draft_calls(&trace, &threads, rules, None, "calls").expect("room");
        let merged = |calls: &[Source], pid: PidPolicy| {
            let bytes = Arc::new(Mutex::new(Vec::new()));
            let config = config(pid);
            let to = OutputConfig::writer(Arc::clone(&bytes));
            let sources = [&[of()][..], calls].concat();
            let report = merge(&sources, &to, &config).expect("they merge").run;
            let of_input = |input_report: &InputReport| {
                (input_report.events, input_report.bytes, input_report.span)
            };
            let inputs: Vec<_> = report.inputs.iter().map(of_input).collect();
            let bytes = bytes.lock().expect("nothing panicked");
            (inputs, format!("{:?}", report.warnings), bytes.clone())
        };
        for pid in [PidPolicy::Keep, PidPolicy::Auto] {
            let scanned = merged(&[Source::bytes("calls", bytes.clone())], pid);
            assert!(scanned == merged(&known, pid), "{start} {}", &name[..1]);
        }
        assert_eq!(written, drafted);
        calls += drafted.calls;
    }
    assert!(calls > 1000, "{calls}");
}
