//! Checks that the cost of each kind of input grows linearly, and that memory stays within the
//! budget.
//!
//! Each row of the table makes one thing grow and runs a verb at `n` and `4 n`, with one thread.
//! Two doublings may cost at most 2.6 times each, in processor time (user and system). Other
//! processes can only add cost, so the cheapest run of each length counts, and a row is repeated up
//! to [`ATTEMPTS`] times until it keeps the bound.
//!
//! A linear cost may exceed the bound once, when the data no longer fits a cache. So a row that
//! fails is measured again from `4 n` to `16 n`, where a quadratic cost would fail again.

mod inputs;

use std::path::Path;
use std::process::{Command, Stdio};

/// Maximum number of runs per length.
const ATTEMPTS: usize = 12;
/// Maximum cost factor of two doublings.
const MOST: f64 = 2.6 * 2.6;

/// Returns the rows to run: those whose names contain `TRACEMILL_GROWTH_ROW`, or all.
fn chosen(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let part = std::env::var("TRACEMILL_GROWTH_ROW").unwrap_or_default();
    rows.iter().filter(move |row| row.name.contains(&part))
}

/// Returns the factor for all lengths of [`inputs::ROWS`]: `TRACEMILL_GROWTH_FACTOR`, or 1.
fn factor() -> usize {
    let factor = std::env::var("TRACEMILL_GROWTH_FACTOR");
    factor.map_or(1, |factor| factor.parse().expect("a whole number"))
}

/// A test case that grows in one dimension.
struct Row {
    name: &'static str,
    /// The shorter length.
    n: usize,
    /// Generator of inputs of a length.
    inputs: fn(usize) -> Vec<String>,
    /// The verb and its flags, followed by the inputs.
    verb: &'static [&'static str],
}

/// Returns the command with one thread, run by a shell script.
fn command(script: &str, row: &Row, files: &[String], folder: &Path) -> Command {
    let mut command = Command::new("bash");
    command
        .args(["-c", script])
        .arg(env!("CARGO_BIN_EXE_tracemill"))
        .args(row.verb)
        .args(files)
        .args(["-@1", "-q"])
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

fn write_inputs(row: &Row, n: usize, folder: &Path) -> Vec<String> {
    let write = |(number, text): (usize, String)| {
        let name = format!("{n}.{number}.json");
        std::fs::write(folder.join(&name), text).expect("room for inputs");
        name
    };
    (row.inputs)(n).into_iter().enumerate().map(write).collect()
}

/// Returns the processor time of a run in seconds.
fn cost(row: &Row, files: &[String], folder: &Path) -> f64 {
    let script = "TIMEFORMAT='%3U %3S'; time \"$0\" \"$@\" >/dev/null 2>said";
    let output = command(script, row, files, folder).output().expect("bash is there");
    let status = output.status.code();
    let stderr = std::fs::read_to_string(folder.join("said")).unwrap_or_default();
    assert!(matches!(status, Some(0 | 1)), "{}: {status:?}: {stderr}", row.name);
    let times = String::from_utf8_lossy(&output.stderr).replace(',', ".");
    let times = times.split_whitespace().map(|time| time.parse::<f64>().expect("a time"));
    times.sum()
}

/// Returns how much more the longer of two lengths costs, as `Err` if that exceeds the bound.
fn judge_step(row: &Row, lengths: [usize; 2]) -> Result<f64, f64> {
    let folder = tempfile::tempdir().expect("a folder");
    let inputs = lengths.map(|n| write_inputs(row, n, folder.path()));
    let mut best = [f64::MAX; 2];
    let mut factor = f64::MAX;
    for _ in 0..ATTEMPTS {
        for (best, files) in best.iter_mut().zip(&inputs) {
            *best = best.min(cost(row, files, folder.path()));
        }
        factor = best[1] / best[0].max(0.001);
        if factor <= MOST {
            return Ok(factor);
        }
    }
    Err(factor)
}

/// Returns why a row fails, if it does.
fn judge(row: &Row) -> Result<(), String> {
    let n = row.n * factor();
    let Err(first) = judge_step(row, [n, 4 * n]) else { return Ok(()) };
    let Err(second) = judge_step(row, [4 * n, 16 * n]) else { return Ok(()) };
    let name = row.name;
    Err(format!("{name}: 4 times as many cost {first:.1} times as much, 4 times those {second:.1}"))
}

#[test]
fn cost_grows_with_the_length_of_what_grows() {
    let failed: Vec<String> = chosen(&inputs::ROWS).filter_map(|row| judge(row).err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Runs a row within 64 MiB, enforced by RLIMIT_DATA with 32 MiB more for stacks and allocator
/// overhead. Returns the status and the messages.
fn run_within_budget(row: &Row, n: usize, folder: &Path) -> (Option<i32>, String) {
    let files = write_inputs(row, n, folder);
    let script = "ulimit -d 98304 -s 512 && exec \"$0\" \"$@\" -m64M >/dev/null";
    let mut command = command(script, row, &files, folder);
    let output = command.env("RUST_BACKTRACE", "0").output().expect("bash is there");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn data_outside_events_stays_within_the_budget() {
    let folder = tempfile::tempdir().expect("a folder");
    for row in chosen(&inputs::LARGE) {
        let (status, stderr) = run_within_budget(row, row.n, folder.path());
        assert!(matches!(status, Some(0 | 1)), "{}: {stderr}", row.name);
    }
}

#[test]
fn unspillable_data_beyond_the_budget_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for row in chosen(&inputs::COUNTED) {
        let (status, stderr) = run_within_budget(row, row.n, folder.path());
        let refused = stderr.contains("more than the memory budget of 64 MiB has room for");
        assert!(status == Some(4) && refused, "{}: {status:?}: {stderr}", row.name);
        let (status, stderr) = run_within_budget(row, row.n / 16, folder.path());
        assert!(matches!(status, Some(0 | 1)), "{}, fewer: {status:?}: {stderr}", row.name);
    }
}
