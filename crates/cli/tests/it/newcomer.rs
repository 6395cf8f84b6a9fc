//! Runs `scripts/newcomer`, which solves common tasks with shell lines.

use crate::support::{Folder, binary};
use std::path::Path;
use std::process::Command;

#[test]
fn common_tasks_are_solved() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/newcomer");
    let output = Command::new(script).arg(binary()).output().expect("the script runs");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{table}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(table.lines().filter(|line| line.contains("  done    ")).count(), 25, "{table}");
}

/// The events of this recording end early, so a busy function would be missing silently.
#[test]
fn samples_after_the_last_event_are_reported() {
    let folder = Folder::new().with(
        "a.json",
        r#"[{"ph":"X","name":"x","cat":"c","pid":7,"tid":8,"ts":1,"dur":1000,"args":{}},
        {"ph":"P","name":"Profile","cat":"c","pid":7,"tid":8,"id":"0x1","ts":1,"args":{"data":{"startTime":1}}},
        {"ph":"P","name":"ProfileChunk","cat":"c","pid":7,"tid":9,"id":"0x1","ts":2,"args":{"data":{"cpuProfile":{"nodes":[
        {"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},
        {"id":2,"parent":1,"callFrame":{"functionName":"busy","scriptId":1,"url":"a.js","lineNumber":0,"columnNumber":0}}],
        "samples":[2,2,2]},"timeDeltas":[500,50000,49000]}}}]"#,
    );
    let run = folder.run("top a.json").ends(0).says(&["after the last event", "--to "]);
    let to = run.stderr.split("--to ").nth(1).and_then(|rest| rest.split(' ').next());
    let to = to.expect("a time").trim_end();
    let whole = folder.run(&format!("top a.json --to {to}")).ends(0).quietly();
    let busy = |text: &str| {
        let row = text.lines().find(|line| line.contains("a.js")).map(str::to_owned);
        let time = row.and_then(|row| row.split_whitespace().next()?.parse::<f64>().ok());
        time.unwrap_or(0.0) / if text.contains("self µs") { 1000.0 } else { 1.0 }
    };
    assert!(busy(&whole.stdout) > 40.0, "{}", whole.stdout);
    assert!(busy(&run.stdout) < 2.0, "{}", run.stdout);
}
