//! `scripts/newcomer`: what people want of large traces, as shell lines.

use crate::support::binary;
use std::path::Path;
use std::process::Command;

#[test]
fn what_people_want_is_done() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/newcomer");
    let output = Command::new(script).arg(binary()).output().expect("the script runs");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{table}\n{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(table.lines().filter(|line| line.contains("  done    ")).count(), 21, "{table}");
}
