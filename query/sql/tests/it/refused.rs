//! SQL that is refused, and errors that name their place.

use crate::support::{Knobs, answer};
use tracemill::engine::{QueryError, TableFormat};
use tracemill_testkit::Folder;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_trace::ErrorKind;

fn error(sql: &str, events: usize, knobs: Knobs) -> QueryError {
    let folder = Folder::new();
    let file = folder.file("a.json", trace(1, &TraceShape::plain(events)));
    let answered = answer(&[file], sql, TableFormat::Csv, knobs);
    answered.expect_err(sql)
}

fn refusal(sql: &str) -> String {
    match error(sql, 3, Knobs::default()) {
        QueryError::Sql(text) => text,
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn statements_that_write_are_refused() {
    for sql in [
        "",
        "COPY events TO 'x.csv'",
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'x.csv'",
        "CREATE TABLE t AS SELECT 1",
        "CREATE TABLE t AS SELECT 1; SELECT * FROM t",
        "INSERT INTO events VALUES (1)",
        "SET datafusion.execution.batch_size = 1",
        "SET datafusion.execution.batch_size = 1; SELECT 1",
        "DELETE FROM events",
        "DROP TABLE events",
        "SELECT 1; SELECT 2",
        "SELECT * INTO t FROM events",
        "SELECT * FROM 'a.json'",
        "SELECT * FROM 'https://example.com/a.parquet'",
        "EXPLAIN ANALYZE SELECT 1",
    ] {
        refusal(sql);
    }
}

#[test]
fn wrong_sql_is_explained() {
    for (sql, part) in [
        ("SELECT nam FROM events", "name"),
        ("SELECT name FROM event", "did you mean events?"),
        ("SELECT name FROM thread_slices", "did you mean thread_slice?"),
        ("SELECT name FROM x", "query --tables lists"),
        ("INCLUDE PERFETTO MODULE android.startup;\nSELECT 1", "slices.with_context and slices"),
        ("include perfetto module slices.self_dur;\n\nSELECT name FRM events", "Line: 3"),
        ("SELECT name FRM events", "Line: 1"),
        ("SELECT nosuch(name) FROM events", "nosuch"),
        ("SELECT extract_arg(args, name) FROM events", "must be text"),
        ("SELECT extract_arg(arg_set_id, 'k') FROM (SELECT 1 AS arg_set_id)", "has args"),
    ] {
        let text = refusal(sql);
        assert!(text.contains(part), "{sql}: {text}");
    }
}

#[test]
fn views_are_for_one_query() {
    let folder = Folder::new();
    let file = folder.file("a.json", r#"[{"name":"a","dur":1},{"name":"b"}]"#);
    let sql = "CREATE VIEW long AS SELECT name FROM events WHERE dur_ns > 0; SELECT count(*) AS n FROM long";
    let bytes = answer(&[file], sql, TableFormat::Csv, Knobs::default()).unwrap();
    assert_eq!(bytes, b"n\n1\n");
}

#[test]
fn deep_and_long_sql_ends() {
    refusal(&format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000)));
    refusal(&format!("SELECT {}", "a".repeat(1 << 20)));
}

#[test]
fn joins_beyond_the_memory_name_the_limit() {
    let sql = "SELECT count(*) FROM (SELECT a.event FROM events a, events b ORDER BY 1, b.args)";
    let knobs = Knobs { threads: 2, memory: 32 << 20 };
    let sorted = "SELECT a.event || b.event AS e FROM events a CROSS JOIN events b ORDER BY e";
    for sql in [sql, sorted] {
        let folder = Folder::new();
        let file = folder.file("a.json", trace(1, &TraceShape::plain(600)));
        match answer(&[file], sql, TableFormat::Csv, knobs) {
            Ok(_) => {}
            Err(QueryError::Run(error)) => {
                assert!(matches!(error.kind(), ErrorKind::Exceeded { .. }), "{error}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}
