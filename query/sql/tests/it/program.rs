//! The built program, as users run it.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::{Folder, Run};

const TRACE: &str =
    r#"[{"ph":"X","ts":1,"dur":5,"name":"a"},{"ph":"X","ts":2,"dur":7,"name":"b"}]"#;

fn query(folder: &Folder, words: &[&str]) -> Run {
    folder.run(command(folder).args(words))
}

fn command(folder: &Folder) -> Command {
    let mut command = folder.program(env!("CARGO_BIN_EXE_tracemill-query"), "query");
    command.env_remove("TRACEMILL_VERSION");
    command
}

#[test]
fn answers_go_to_standard_output_or_a_file() {
    let folder = Folder::new().with("a.json", TRACE);
    let sql = "SELECT name, dur_ns FROM events ORDER BY 2 DESC";
    let run = query(&folder, &[sql, "a.json", "-q"]).ends(0);
    assert_eq!(run.stdout, "name,dur_ns\nb,7000\na,5000\n");
    query(&folder, &[sql, "a.json", "-q", "-o", "b.json"]).ends(0);
    let rows: serde_json::Value = serde_json::from_str(&folder.read("b.json")).unwrap();
    assert_eq!(rows[0]["name"], "b");
    query(&folder, &[sql, "a.json", "-q", "-o", "b.json"]).ends(2).says(&["exists already"]);
    query(&folder, &[sql, "a.json", "-f", "-o", "a.json"]).ends(2).says(&["inputs"]);
    query(&folder, &[sql, "a.json", "-q", "-f", "-o", "b.parquet"]).ends(0);
    assert!(folder.bytes("b.parquet").starts_with(b"PAR1"));
}

#[test]
fn queries_and_traces_come_from_pipes() {
    let folder =
        Folder::new().with("a.json", TRACE).with("q.sql", "SELECT count(*) AS n FROM events");
    let run = folder.pipe(command(&folder).args(["--sql-file", "q.sql", "-q"]), TRACE.as_bytes());
    assert_eq!(run.ends(0).stdout, "n\n2\n");
    let sql = b"SELECT count(*) AS n FROM events";
    let run = folder.pipe(command(&folder).args(["--sql-file", "-", "a.json", "-q"]), sql);
    assert_eq!(run.ends(0).stdout, "n\n2\n");
    // a pipe that two tables of a join read
    let sql = "SELECT count(*) AS n FROM events a JOIN events b ON a.name = b.name";
    let run = folder.pipe(command(&folder).args([sql, "-", "-q"]), TRACE.as_bytes());
    assert_eq!(run.ends(0).stdout, "n\n2\n");
    folder
        .pipe(command(&folder).args(["--sql-file", "-"]), sql.as_bytes())
        .ends(2)
        .says(&["name the traces"]);
}

#[test]
fn statuses_are_those_of_other_verbs() {
    let folder = Folder::new().with("a.json", TRACE).with("cut.json", &TRACE[..60]);
    query(&folder, &["SELECT nam FROM events", "a.json"]).ends(2).says(&["nam"]);
    query(&folder, &["SELECT 1", "missing.json"]).ends(0);
    query(&folder, &["SELECT count(*) FROM events", "missing.json"])
        .ends(3)
        .says(&["missing.json"]);
    let run = query(&folder, &["SELECT count(*) AS n FROM events", "cut.json", "-q"]).ends(1);
    assert_eq!(run.stdout, "n\n1\n");
    let run = query(&folder, &["SELECT count(*) FROM events", "cut.json", "--strict"]).ends(3);
    assert_eq!(run.stdout, "");
    query(&folder, &["SELECT 1 FROM evnts", "a.json"]).ends(2).says(&["table 'evnts' not found"]);
    query(&folder, &[]).ends(2).says(&["a query is missing"]);
    query(&folder, &["SELECT 1", "a.json", "--nosuch"]).ends(2);
}

#[test]
fn parameters_are_flags() {
    let folder = Folder::new().with("a.json", TRACE);
    let sql = "SELECT name FROM events WHERE dur_ns > $least AND name <> $name";
    let words = ["-q", sql, "a.json", "--param", "least=1000"];
    let run = query(&folder, &[&words[..], &["--param", "name=b"]].concat()).ends(0);
    assert_eq!(run.stdout, "name\na\n");
    query(&folder, &words).ends(2).says(&["$name has no value; there are values of $least"]);
    let run = query(&folder, &[&words[..], &["--param", "least"]].concat()).ends(2);
    assert!(run.stderr.contains("expected KEY=VAL"), "{}", run.stderr);
}

#[test]
fn tables_and_plans_are_shown() {
    let folder = Folder::new().with("a.json", TRACE);
    let json = query(&folder, &["--tables=events", "--format", "json"]).ends(0).stdout;
    let tables: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(tables[0]["columns"][1]["type"], "BIGINT");
    query(&folder, &["--tables", "--format", "csv"]).ends(2).says(&["table and json"]);
    assert!(query(&folder, &["--tables"]).ends(0).stdout.starts_with("events "));
    let columns = query(&folder, &["--tables=events"]).ends(0).stdout;
    assert!(columns.lines().any(|line| line.starts_with("byte_offset       BIGINT")), "{columns}");
    query(&folder, &["--tables=nosuch"]).ends(2).says(&["there is no table nosuch"]);
    let sql = "SELECT name FROM events WHERE dur_ns > 5";
    let plan = query(&folder, &["--explain", sql, "a.json", "-q"]).ends(0).stdout;
    assert!(plan.contains("DataSourceExec") && plan.contains("conditions="), "{plan}");
    assert!(!plan.contains("FilterExec"), "the scan filters: {plan}");
}

/// Returns the number of files and folders in a folder and its folders.
fn entries(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| 1 + entries_of(&entry.unwrap().path())).sum()
}

fn entries_of(path: &Path) -> usize {
    if path.is_dir() { entries(path) } else { 0 }
}

#[test]
fn interrupted_queries_leave_no_files() {
    let folder = Folder::new().with("a.json", trace(1, &TraceShape::plain(3000)));
    let temporary = folder.folder("tmp");
    let sql = "SELECT a.event || b.event AS e FROM events a CROSS JOIN events b ORDER BY e";
    let words = [sql, "a.json", "-m", "32M", "-o", "out.csv", "-T", "tmp"];
    let mut running = command(&folder).args(words).spawn().unwrap();
    // until the sort uses the disk
    let begun = Instant::now();
    while entries(&temporary) < 3 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(entries(&temporary) >= 3, "nothing is on disk");
    let interrupt = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert_eq!(entries(&temporary), 0, "temporary files are left");
    assert!(!folder.path("out.csv").exists());
}

#[test]
fn programs_of_different_versions_refuse_each_other() {
    let folder = Folder::new().with("a.json", TRACE);
    let mut command = command(&folder);
    command.args(["SELECT 1", "a.json"]).env("TRACEMILL_VERSION", "0.0.0");
    folder.run(&mut command).ends(2).says(&["version 0.0.0", "the same version"]);
}
