//! Laws that hold for all traces and queries.

use crate::support::{Knobs, rows, rows_with, sorted};
use serde_json::{Value, json};
use std::path::PathBuf;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::{Folder, Rng, seeds};

/// A random condition that the scan can check.
fn condition(rng: &mut Rng) -> String {
    let number = ["ts_ns", "dur_ns", "pid", "tid", "byte_offset"][rng.index(5)];
    let text = ["name", "cat", "ph", "file", "pid_text", "tid_text"][rng.index(6)];
    let value = rng.range(0, 3000);
    match rng.below(9) {
        0 => format!("{number} > {value}"),
        1 => format!("{number} <= {value}000"),
        2 => format!("{value} = {number}"),
        3 => format!("{number} BETWEEN {value} AND {}", value * 100),
        4 => format!("{number} IN ({value}, 1, 2, 3, 4711)"),
        5 => {
            format!("{text} = '{}'", ["X", "B", "a", "b", "gc", "null", "", "1", "2"][rng.index(9)])
        }
        6 => format!("{text} IN ('X', 'E', 'i', 'a', '1')"),
        7 => format!("{text} LIKE '{}%'", ["a", "", "X", "dev", "ü"][rng.index(5)]),
        _ => format!("{number} >= {value}.5"),
    }
}

fn random_trace(seed: u64, folder: &Folder) -> PathBuf {
    let mut rng = Rng::new(seed);
    let shape = TraceShape { events: 150, ..TraceShape::arbitrary(&mut rng) };
    folder.file("a.json", trace(seed, &shape))
}

#[test]
fn conditions_of_the_scan_select_the_rows_of_other_conditions() {
    let mut found = 0;
    for seed in seeds(0, 60) {
        let folder = Folder::new();
        let file = random_trace(seed, &folder);
        let mut rng = Rng::new(seed);
        for _ in 0..4 {
            let condition = format!("{} AND {}", condition(&mut rng), condition(&mut rng));
            let pushed = rows(&file, &format!("SELECT number, utid FROM events WHERE {condition}"));
            // the scan does not know CASE
            let other = format!(
                "SELECT number, utid FROM events WHERE CASE WHEN {condition} THEN true ELSE false END"
            );
            assert_eq!(pushed, rows(&file, &other), "seed {seed}: {condition}");
            found += pushed.len();
        }
    }
    assert!(found > 500, "only {found} rows were selected");
}

#[test]
fn columns_and_limits_do_not_change_rows() {
    for seed in seeds(100, 15) {
        let folder = Folder::new();
        let file = random_trace(seed, &folder);
        let all = rows(&file, "SELECT number, name, args FROM events");
        let numbers = rows(&file, "SELECT number FROM events");
        assert!(all.iter().map(|row| &row[..1]).eq(numbers.iter().map(|row| &row[..])));
        let limit = (seed % 9) as usize;
        let first = rows(&file, &format!("SELECT number, name, args FROM events LIMIT {limit}"));
        assert_eq!(first[..], all[..limit.min(all.len())]);
        assert_eq!(rows(&file, "SELECT count(*) FROM events"), [[json!(all.len())]]);
    }
}

#[test]
fn answers_do_not_depend_on_threads_or_memory() {
    let queries = [
        "SELECT * FROM events WHERE dur_ns > 5",
        "SELECT name, number FROM events ORDER BY name LIMIT 50",
        "SELECT name, avg(dur_ns), avg(ts_ns), sum(dur_ns) FROM events GROUP BY 1 ORDER BY 1",
        "SELECT a.number, b.number FROM events a JOIN events b ON a.tid = b.tid AND a.ts_ns = b.ts_ns",
        "SELECT name, count(*) FROM events GROUP BY 1",
    ];
    for seed in seeds(200, 3) {
        let folder = Folder::new();
        let files = [
            random_trace(seed, &folder),
            folder.file("b.json", trace(seed + 1, &TraceShape::plain(700))),
        ];
        for sql in queries {
            let usual = rows_with(&files, sql, Knobs::default());
            for knobs in [(1, 32), (7, 32), (1, 1024), (7, 1024)] {
                let knobs = Knobs { threads: knobs.0, memory: knobs.1 << 20 };
                let other = rows_with(&files, sql, knobs);
                match sql.contains("ORDER") || !sql.contains("GROUP") && !sql.contains("JOIN") {
                    true => assert_eq!(usual, other, "seed {seed}, {knobs:?}: {sql}"),
                    false => assert_eq!(sorted(usual.clone()), sorted(other), "{knobs:?}: {sql}"),
                }
            }
        }
    }
}

#[test]
fn averages_of_integers_are_exact() {
    let folder = Folder::new();
    // their sum as doubles depends on the order
    let times: Vec<i64> = (0..2000).map(|n| 9_007_199_254_740_993 / 1000 * (n % 7) + n).collect();
    let events = times.iter().map(|ts| format!("{{\"ph\":\"i\",\"ts\":{ts}}}"));
    let text = format!("[{}]", events.collect::<Vec<_>>().join(",\n"));
    let file = folder.file("a.json", text);
    let sum: i128 = times.iter().map(|ts| i128::from(*ts) * 1000).sum();
    let mean = (sum / 2000) as f64 + (sum % 2000) as f64 / 2000.0;
    assert_eq!(rows(&file, "SELECT avg(ts_ns) FROM events"), [[json!(mean)]]);
    let sql = "SELECT avg(number) AS mean, count(*) FROM events WHERE number < 2";
    assert_eq!(rows(&file, sql), [[json!(0.5), json!(2)]]);
}

#[test]
fn null_is_smallest_and_ties_have_an_order() {
    let folder = Folder::new();
    let file = folder.file("a.json", r#"[{"name":"b","dur":1},{"name":"c"},{"name":"a","dur":1}]"#);
    let names =
        |sql: &str| rows(&file, sql).into_iter().map(|row| row[0].clone()).collect::<Vec<Value>>();
    assert_eq!(names("SELECT name FROM events ORDER BY dur_ns DESC"), ["a", "b", "c"]);
    assert_eq!(names("SELECT name FROM events ORDER BY dur_ns"), ["c", "a", "b"]);
}

#[test]
fn members_of_args_are_read() {
    let folder = Folder::new();
    let text = r#"[{"name":"a","args":{"url":"x","n":{"deep":[1,2]}}},{"name":"b","args":{"url":"y"}},{"name":"c"}]"#;
    let file = folder.file("a.json", text);
    let sql = "SELECT name FROM events WHERE args->>'url' = 'x'";
    assert_eq!(rows(&file, sql), [[json!("a")]]);
    let sql = "SELECT args->'n'->'deep'->>1 FROM events WHERE name = 'a'";
    assert_eq!(rows(&file, sql), [[json!("2")]]);
    assert_eq!(rows(&file, "SELECT count(args->>'url') FROM events"), [[json!(2)]]);
}

#[test]
fn extract_arg_reads_the_args_of_its_row() {
    let folder = Folder::new();
    let text = r#"[{"name":"a","args":{"url":"x","n":{"deep":[1,{"k":true}]}}},{"name":"b","args":{"url":"y"}},{"name":"c"}]"#;
    let file = folder.file("a.json", text);
    let sql = "SELECT name, extract_arg(args, 'url') FROM events";
    let expected = [["a", "x"], ["b", "y"]].map(|row| row.map(|text| json!(text)).to_vec());
    assert_eq!(rows(&file, sql)[..2], expected);
    assert_eq!(rows(&file, sql)[2], [json!("c"), json!(null)]);
    let sql = "SELECT EXTRACT_ARG(args, 'n.deep[1].k') AS k FROM events WHERE extract_arg(args, 'n.deep[0]') = '1'";
    assert_eq!(rows(&file, sql), [[json!("true")]]);
    // as in PerfettoSQL, where tables have arg_set_id
    let view = "CREATE VIEW s AS SELECT number AS arg_set_id, args, name FROM events; ";
    let sql = "SELECT extract_arg(t.arg_set_id, 'args.url') AS url, count(*) FROM s t GROUP BY 1 ORDER BY 1";
    let expected = [json!(null), json!("x"), json!("y")].map(|url| vec![url, json!(1)]);
    assert_eq!(rows(&file, &format!("{view}{sql}")), expected);
    let sql = "SELECT name FROM s WHERE extract_arg(arg_set_id, 'args.url') = 'y'";
    assert_eq!(rows(&file, &format!("{view}{sql}")), [[json!("b")]]);
}

#[test]
fn processes_of_different_recordings_stay_separate() {
    let folder = Folder::new();
    let text = |name: &str| {
        format!(
            r#"[{{"ph":"M","name":"process_name","pid":1,"args":{{"name":"{name}"}}}},{{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"name":"{name}"}}]"#
        )
    };
    let files = [folder.file("a.json", text("a")), folder.file("b.json", text("b"))];
    let sql = "SELECT count(DISTINCT pid), count(DISTINCT upid), count(DISTINCT file) FROM events";
    let ours = rows_with(&files, sql, Knobs::default());
    assert_eq!(ours, [[json!(2), json!(2), json!(2)]]);
}
