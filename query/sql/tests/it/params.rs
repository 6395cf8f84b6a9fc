//! Parameters of queries.

use crate::support::{Knobs, answer, answer_with};
use tracemill::engine::{QueryError, QueryParam, TableFormat};
use tracemill_testkit::Folder;
use tracemill_testkit::generate::{TraceShape, trace};

const TRACE: &str = r#"[{"ph":"X","ts":1,"dur":5,"pid":7,"name":"it's $x","args":{"007":"a"}},
    {"ph":"X","ts":2,"dur":7.5,"pid":-8,"name":"b"}]"#;

fn params(words: &[&str]) -> Vec<QueryParam> {
    words.iter().map(|word| QueryParam::parse(word).unwrap()).collect()
}

fn csv(text: &str, sql: &str, words: &[&str]) -> Result<String, QueryError> {
    let file = Folder::new();
    let file = [file.file("a.json", text)];
    let csv = TableFormat::Csv;
    let bytes = answer_with(&file, sql, &params(words), csv, Knobs::default())?;
    Ok(String::from_utf8(bytes).unwrap())
}

#[test]
fn parameters_are_literals() {
    for (sql, words, rows) in [
        ("SELECT name FROM events WHERE pid = $pid", &["pid=7"][..], "name\nit's $x\n"),
        ("SELECT dur_ns FROM events WHERE pid = $p", &["p=-8"], "dur_ns\n7500\n"),
        ("SELECT name FROM events WHERE dur_ns > $d", &["d=5000.5"], "name\nb\n"),
        ("SELECT name FROM events WHERE dur_ns > $d", &["d=5e3"], "name\nb\n"),
        ("SELECT pid FROM events WHERE name = $n", &["n=it's $x"], "pid\n7\n"),
        ("SELECT pid FROM events WHERE name = $n", &["n='it's $x'"], "pid\n7\n"),
        ("SELECT args->>$k AS v FROM events LIMIT $n", &["k='007'", "n=1"], "v\na\n"),
        ("SELECT $a + 1 AS n, $b AS t", &["a=41", "b="], "n,t\n42,\n"),
        ("SELECT $a AS n", &["a=1", "a=2"], "n\n2\n"),
        ("SELECT $1 || $nan AS t", &["1=x", "nan=NaN"], "t\nxNaN\n"),
        (
            "CREATE VIEW v AS SELECT pid FROM events WHERE name LIKE $n; SELECT pid FROM v WHERE pid < $p",
            &["n=b%", "p=0"],
            "pid\n-8\n",
        ),
        (
            "SELECT count(*) AS n FROM events WHERE pid IN (SELECT pid FROM events WHERE name = $n)",
            &["n=b"],
            "n\n1\n",
        ),
    ] {
        assert_eq!(csv(TRACE, sql, words).unwrap(), rows, "{sql}");
    }
}

#[test]
fn values_change_no_sql() {
    for text in ["' OR 1 = 1 --", "'; DROP TABLE events; --", "$pid", "\\", "a''b", "\u{0}"] {
        let name = serde_json::to_string(text).unwrap();
        let trace =
            format!(r#"[{{"ph":"i","ts":1,"name":{name}}},{{"ph":"i","ts":2,"name":"c"}}]"#);
        let word = format!("name='{text}'");
        let rows = csv(&trace, "SELECT ts_ns FROM events WHERE name = $name", &[&word]).unwrap();
        assert_eq!(rows, "ts_ns\n1000\n", "{text}");
    }
}

#[test]
fn names_that_do_not_match_are_listed() {
    for (sql, words, part) in [
        (
            "SELECT $pidd",
            &["pid=7", "tid=8"][..],
            "$pidd has no value; there are values of $pid, $tid",
        ),
        ("SELECT $pid", &[], "$pid has no value; there are no values"),
        (
            "SELECT $b, $a",
            &["a=1", "b=1", "c=1"],
            "the query has no $c; there are parameters of $a, $b",
        ),
        ("SELECT 1", &["c=1"], "the query has no $c; there are no parameters"),
    ] {
        match csv(TRACE, sql, words) {
            Err(QueryError::Sql(text)) => assert!(text.contains(part), "{sql}: {text}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
    for word in ["", "a", "=1"] {
        QueryParam::parse(word).unwrap_err();
    }
}

#[test]
fn conditions_with_parameters_have_the_rows_of_literals() {
    for seed in 0..10 {
        let folder = Folder::new();
        let file = [folder.file("a.json", trace(seed, &TraceShape::plain(300)))];
        let sql = |tid: &str, ts: &str| {
            format!("SELECT number, name FROM events WHERE tid = {tid} AND ts_ns >= {ts}")
        };
        let written = sql("2", "1500.5");
        let written = answer(&file, &written, TableFormat::Csv, Knobs::default()).unwrap();
        let given = params(&["tid=2", "ts=1500.5"]);
        let named = sql("$tid", "$ts");
        let named = answer_with(&file, &named, &given, TableFormat::Csv, Knobs::default()).unwrap();
        assert_eq!(named, written, "seed {seed}");
    }
}
