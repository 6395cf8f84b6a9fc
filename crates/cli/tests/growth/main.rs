//! Growth: each dimension of an input that somebody may have much of costs its length, not its square; and what an input has
//! more of than events does not go beyond the budget.
//!
//! Every row of the table makes one thing grow and runs a verb on it at `n` and at `4 n`. Two doublings may cost at most
//! 2.6 times each. What is compared are lengths of one process against each other: nothing here says how many seconds a run
//! may take, so a slow or busy machine changes no verdict. Instructions would be the exact count, but where tests run nobody
//! may read the counters; a count of calls or allocations sees no loop that compares. So it is processor time, user and
//! system together (the kernel counts the sum exactly and shares it out by ticks), of one thread. Others on the machine can
//! only make a run dearer, so of each length the cheapest of some runs counts, and the row is run again until it keeps the
//! bound, [`ATTEMPTS`] times at most.
//!
//! Of a cost that is linear in instructions, a step may still be dearer than that: what fitted into a cache at `n` does not
//! at `4 n`. Such a step is taken once. What grows with the square grows the faster the longer it is, at `n` times four and
//! at `4 n` times four and more. So a row that does not keep the bound has to keep it from `4 n` to `16 n`.

mod inputs;

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs of each length at most.
const ATTEMPTS: usize = 12;
/// What two doublings may cost.
const MOST: f64 = 2.6 * 2.6;

/// Returns the rows to run: those with the text of `TRACEMILL_GROWTH_ROW` in their names, or all.
fn chosen(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let part = std::env::var("TRACEMILL_GROWTH_ROW").unwrap_or_default();
    rows.iter().filter(move |row| row.name.contains(&part))
}

/// Returns how many times its length each row of [`inputs::ROWS`] starts at: `TRACEMILL_GROWTH_FACTOR`, or 1.
fn factor() -> usize {
    let factor = std::env::var("TRACEMILL_GROWTH_FACTOR");
    factor.map_or(1, |factor| factor.parse().expect("a whole number"))
}

/// One thing that grows.
struct Row {
    name: &'static str,
    /// The shorter length.
    n: usize,
    /// The inputs of a length.
    inputs: fn(usize) -> Vec<String>,
    /// The verb and its flags; inputs stand behind it.
    verb: &'static [&'static str],
}

/// The command in a shell that says what it took; with one thread.
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

/// Seconds of processor time of a run.
fn cost(row: &Row, files: &[String], folder: &Path) -> f64 {
    let script = "TIMEFORMAT='%3U %3S'; time \"$0\" \"$@\" >/dev/null 2>said";
    let output = command(script, row, files, folder).output().expect("bash is there");
    let status = output.status.code();
    let said = std::fs::read_to_string(folder.join("said")).unwrap_or_default();
    assert!(matches!(status, Some(0 | 1)), "{}: {status:?}: {said}", row.name);
    let times = String::from_utf8_lossy(&output.stderr).replace(',', ".");
    let times = times.split_whitespace().map(|time| time.parse::<f64>().expect("a time"));
    times.sum()
}

/// How much more the longer of two lengths costs; `Ok` if that is no more than it may be.
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

/// Why a row fails, if it does.
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

/// A run within 64 MiB: RLIMIT_DATA ends who maps more than the budget and 32 MiB for stacks and what the allocator does not
/// use. Returns its status and what it said.
fn run_within_budget(row: &Row, n: usize, folder: &Path) -> (Option<i32>, String) {
    let files = write_inputs(row, n, folder);
    let script = "ulimit -d 98304 -s 512 && exec \"$0\" \"$@\" -m64M >/dev/null";
    let mut command = command(script, row, &files, folder);
    let output = command.env("RUST_BACKTRACE", "0").output().expect("bash is there");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_stands_around_events_stays_within_the_budget() {
    let folder = tempfile::tempdir().expect("a folder");
    for row in chosen(&inputs::LARGE) {
        let (status, said) = run_within_budget(row, row.n, folder.path());
        assert!(matches!(status, Some(0 | 1)), "{}: {said}", row.name);
    }
}

/// What cannot be on disk is counted: a run that has no room for it says so, and does not grow beyond its budget. A
/// sixteenth of it has room.
#[test]
fn what_must_stay_in_memory_is_refused_where_the_budget_has_no_room() {
    let folder = tempfile::tempdir().expect("a folder");
    for row in chosen(&inputs::COUNTED) {
        let (status, said) = run_within_budget(row, row.n, folder.path());
        let refused = said.contains("more than the memory budget of 64 MiB has room for");
        assert!(status == Some(4) && refused, "{}: {status:?}: {said}", row.name);
        let (status, said) = run_within_budget(row, row.n / 16, folder.path());
        assert!(matches!(status, Some(0 | 1)), "{}, fewer: {status:?}: {said}", row.name);
    }
}
