//! Small tables of facts about inputs.

use crate::support::{Knobs, rows, rows_with};
use serde_json::json;
use tracemill_testkit::Folder;
use tracemill_testkit::generate::{TraceShape, trace};

const TRACE: &str = r#"{"displayTimeUnit":"ns","n":7,"metadata":{"os-name":"Linux"},"traceEvents":[
{"ph":"M","name":"process_name","ts":0},
{"ph":"X","ts":5,"dur":20,"name":"a"},{"ph":"i","ts":7,"name":"b"}],"text":"a\u0062"}"#;

#[test]
fn inputs_are_described() {
    let folder = Folder::new();
    let files = [
        folder.file("a.json", TRACE),
        folder.file("b.json", r#"[{"ph":"i","ts":9},{"ph":"i","ts":8},{"ph":"#),
    ];
    let sql = "SELECT size, encoding, events, sorted, lost, indexed FROM trace_file ORDER BY file";
    let expected = [
        vec![json!(TRACE.len()), json!(null), json!(3), json!(true), json!(0), json!(false)],
        vec![json!(43), json!(null), json!(2), json!(false), json!(1), json!(false)],
    ];
    assert_eq!(rows_with(&files, sql, Knobs::default()), expected);
    let sql = "SELECT name, severity, value FROM stats";
    let expected = [[json!("truncated"), json!("data_loss"), json!(1)]];
    assert_eq!(rows_with(&files, sql, Knobs::default()), expected);
    let sql = "SELECT count(*) FROM trace_file WHERE events > 2";
    assert_eq!(rows_with(&files, sql, Knobs::default()), [[json!(1)]]);
}

#[test]
fn top_level_keys_are_rows() {
    let folder = Folder::new();
    let file = folder.file("a.json", TRACE);
    let sql = "SELECT name, key_type, int_value, str_value FROM metadata";
    let row = |name: &str, int: serde_json::Value, text: &str| {
        vec![json!(name), json!("single"), int, json!(text)]
    };
    let expected = [
        row("displayTimeUnit", json!(null), "ns"),
        row("n", json!(7), "7"),
        row("metadata", json!(null), r#"{"os-name":"Linux"}"#),
        row("text", json!(null), "ab"),
    ];
    assert_eq!(rows(&file, sql), expected);
    let packed = folder.file("a.json.gz", tracemill_testkit::packing::gz(TRACE.as_bytes(), 100));
    assert_eq!(rows(&packed, sql), expected);
    let sql = "SELECT str_value->>'os-name' AS os FROM metadata WHERE name = 'metadata'";
    assert_eq!(rows(&file, sql), [[json!("Linux")]]);
}

#[test]
fn bounds_are_those_of_info() {
    let folder = Folder::new();
    let file = folder.file("a.json", TRACE);
    assert_eq!(rows(&file, "SELECT * FROM trace_bounds"), [[json!(5000), json!(25000)]]);
    let sql = "SELECT trace_start(), trace_end(), trace_dur()";
    assert_eq!(rows(&file, sql), [[json!(5000), json!(25000), json!(20000)]]);
    let sql = "SELECT name FROM events WHERE ts_ns > trace_start()";
    assert_eq!(rows(&file, sql), [[json!("b")]]);
    let empty = folder.file("empty.json", "[]");
    assert_eq!(rows(&empty, "SELECT * FROM trace_bounds"), [[json!(null), json!(null)]]);
    assert_eq!(rows(&empty, "SELECT trace_dur()"), [[json!(null)]]);
}

#[test]
fn bounds_of_several_inputs_are_those_of_their_events() {
    let folder = Folder::new();
    let files = [1, 2]
        .map(|seed| folder.file(&format!("{seed}.json"), trace(seed, &TraceShape::plain(200))));
    let bounds = rows_with(&files, "SELECT * FROM trace_bounds", Knobs::default());
    let sql = "SELECT min(ts_ns), max(ts_ns + coalesce(dur_ns, 0)) FROM events WHERE ph <> 'M'";
    let [least, greatest] = &rows_with(&files, sql, Knobs::default())[0][..] else { panic!() };
    assert_eq!(&bounds[0][0], least);
    assert!(bounds[0][1].as_i64() >= greatest.as_i64());
}

#[test]
fn gaps_are_those_of_info() {
    let folder = Folder::new();
    let file = folder.file(
        "a.json",
        r#"[{"ph":"X","ts":1000000,"dur":5,"name":"a"},{"ph":"i","ts":1000007},
            {"ph":"X","ts":4000000,"dur":1,"name":"b"},{"ph":"i","ts":6500000}]"#,
    );
    let expected = [[2_999_993_000_i64, 1_000_007_000], [2_499_999_000, 4_000_001_000]]
        .map(|[dur, ts]| [json!(ts), json!(dur)]);
    assert_eq!(rows(&file, "SELECT ts, dur FROM gap"), expected);
}
