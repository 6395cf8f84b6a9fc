//! Results that are traces: the same bytes as those of `filter`.

use std::process::Command;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::{Folder, Rng, Run, seeds};

fn command(folder: &Folder, verb: &str) -> Command {
    let mut command = folder.program(env!("CARGO_BIN_EXE_tracemill-query"), verb);
    command.env_remove("TRACEMILL_VERSION");
    command
}

fn run(folder: &Folder, verb: &str, words: &[&str]) -> Run {
    folder.run(command(folder, verb).args(words))
}

/// Conditions of SQL, and flags of `filter` with the same meaning.
const CONDITIONS: [(&str, [&str; 2]); 6] = [
    ("name = 'a'", ["--name", "^a$"]),
    ("name LIKE 'a%'", ["--name", "^a"]),
    ("ph = 'X'", ["--ph", "X"]),
    ("ph IN ('B', 'b', 'i')", ["--ph", "B,b,i"]),
    ("ph = 'E'", ["--ph", "E"]),
    ("name IN ('a', 'b')", ["--name", "^(a|b)$"]),
];

/// Asserts that a query and a filter end alike and write the same bytes.
fn assert_equal(folder: &Folder, sql: &str, flags: [&str; 2], limits: &[&str]) -> usize {
    let words = [&[sql, "a.json", "--format", "trace", "-q", "-f", "-o", "ours"], limits].concat();
    let ours = run(folder, "query", &words);
    let words = [&["a.json", "-q", "-f", "-o", "theirs"], &flags[..], limits].concat();
    let theirs = run(folder, "filter", &words);
    assert_eq!(ours.code, theirs.code, "{sql}: {ours:?} {theirs:?}");
    if ours.code > Some(1) {
        return 0;
    }
    let (ours, theirs) = (folder.bytes("ours"), folder.bytes("theirs"));
    assert!(ours == theirs, "{sql}: {} and {} bytes", ours.len(), theirs.len());
    ours.len()
}

#[test]
fn traces_of_results_are_those_of_filter() {
    let mut written = 0;
    for seed in seeds(0, 30) {
        let mut rng = Rng::new(seed);
        let shape = TraceShape { events: 150, ..TraceShape::arbitrary(&mut rng) };
        let folder = Folder::new().with("a.json", trace(seed, &shape));
        let (condition, flags) = CONDITIONS[rng.index(CONDITIONS.len())];
        let column = ["event_id", "byte_offset", "number"][rng.index(3)];
        let sql = format!("SELECT {column} FROM events WHERE {condition}");
        written += assert_equal(&folder, &sql, flags, &["-@", "2"]);
    }
    assert!(written > 10_000, "only {written} bytes were written");
}

#[test]
fn traces_of_large_results_need_little_memory() {
    let folder = Folder::new().with("a.json", trace(7, &TraceShape::plain(60_000)));
    // neither order nor repetition matters
    let twice = "(SELECT * FROM events UNION ALL SELECT * FROM events)";
    for (limits, sql) in [
        (["-m", "32M", "-@", "1"], format!("SELECT event_id FROM {twice}")),
        (["-m", "32M", "-@", "5"], format!("SELECT byte_offset FROM {twice}")),
        (["-m", "1G", "-@", "3"], format!("SELECT number FROM {twice} ORDER BY number DESC")),
    ] {
        for (condition, flags) in [CONDITIONS[2], CONDITIONS[3]] {
            let sql = sql.replace(twice, &format!("{twice} WHERE {condition}"));
            assert!(assert_equal(&folder, &sql, flags, &limits) > 100_000);
        }
    }
}

#[test]
fn traces_of_results_come_from_pipes_and_go_to_pipes() {
    let text = trace(3, &TraceShape::plain(500));
    let folder = Folder::new().with("a.json", &text);
    let filtered = run(&folder, "filter", &["a.json", "-q", "--ph", "X"]).ends(0).stdout;
    let sql = "SELECT byte_offset FROM events WHERE ph = 'X'";
    let words = [sql, "-", "--format", "trace", "-q"];
    let ours = folder.pipe(command(&folder, "query").args(words), &text).ends(0);
    assert!(ours.stdout == filtered && filtered.len() > 1000);
    run(&folder, "query", &[sql, "a.json", "--format", "trace", "-q", "-o", "b.json.gz"]).ends(0);
    let read = run(&folder, "filter", &["b.json.gz", "-q"]).ends(0);
    assert!(read.stdout == filtered);
}

#[test]
fn traces_of_several_inputs_need_event_id() {
    let events = |name: &str| {
        format!(r#"[{{"name":"x","ph":"X","ts":1,"dur":1}},{{"name":"{name}","ph":"i","ts":2}}]"#)
    };
    let folder = Folder::new().with("a.json", events("b")).with("b.json", events("c"));
    let query = |columns: &str, more: &[&str]| {
        let sql = format!("SELECT {columns} FROM events WHERE name = 'c'");
        run(
            &folder,
            "query",
            &[&[&sql, "a.json", "b.json", "--format", "trace", "-q"], more].concat(),
        )
    };
    query("event_id", &[]).ends(2).says(&["tracemill merge"]);
    query("byte_offset", &["--as-is"]).ends(2).says(&["event_id"]);
    let run = query("event_id", &["--as-is"]).ends(0);
    assert!(run.stdout.contains("\"c\"") && !run.stdout.contains("\"x\""), "{}", run.stdout);
}

#[test]
fn results_that_name_no_events_are_refused() {
    let folder = Folder::new().with("a.json", trace(1, &TraceShape::plain(20)));
    for (sql, part) in [
        ("SELECT name FROM events", "byte_offset or number"),
        ("SELECT id FROM events", "event_id"),
        (
            "SELECT a.number, b.number FROM events a JOIN events b ON a.tid = b.tid",
            "several columns",
        ),
        ("SELECT 5 AS byte_offset", "cannot be found"),
        ("SELECT 20 AS number", "cannot be found"),
        ("SELECT -1 AS event_id", "-1 is not"),
        ("SELECT nam FROM events", "nam"),
    ] {
        let words = [sql, "a.json", "--format", "trace", "-q", "-o", "out.json"];
        run(&folder, "query", &words).ends(2).says(&[part]);
        assert!(!folder.path("out.json").exists());
    }
    // events that are NULL, and events that a result names twice
    let sql =
        "SELECT NULLIF(number, 3) AS number FROM events WHERE number IN (2, 3) UNION ALL SELECT 2";
    run(&folder, "query", &[sql, "a.json", "--format", "trace", "-q", "-o", "out.json"]).ends(0);
}
