//! Tables of many traces as files.

use crate::support::rows;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tracemill_testkit::{Folder, Run};

const TRACE: &str = r#"[{"ph":"X","ts":1,"dur":5,"name":"a","pid":1,"tid":2}]"#;

fn convert(folder: &Folder, words: &[&str]) -> Run {
    let mut command = folder.program(env!("CARGO_BIN_EXE_tracemill-query"), "convert");
    command.env_remove("TRACEMILL_VERSION").args(words);
    folder.run(&mut command)
}

fn set_time(path: &Path, time: SystemTime) {
    std::fs::File::open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn each_trace_of_a_folder_becomes_a_file_per_table() {
    let folder = Folder::new();
    for name in ["in", "in/1", "in/2", "in/2/deep"] {
        folder.folder(name);
    }
    let folder = folder
        .with("in/1/p.json", TRACE)
        .with("in/2/deep/p.json", TRACE.replace("\"a\"", "\"b\""))
        .with("in/README.md", "not a trace");
    convert(&folder, &["in", "--tables", "events,call", "-d", "out"])
        .ends(0)
        .says(&["1 file left out"]);
    let files = ["events/1/p", "events/2/deep/p", "call/1/p", "call/2/deep/p"];
    let files = files.map(|name| folder.path(&format!("out/{name}.parquet")));
    assert!(files.iter().all(|path| path.is_file()));
    assert!(!folder.path("out/events/README.parquet").exists());

    // files that are newer than their input are kept
    let past = SystemTime::now() - Duration::from_secs(1000);
    for name in ["in/1/p.json", "in/2/deep/p.json"] {
        set_time(&folder.path(name), past - Duration::from_secs(1000));
    }
    files.iter().for_each(|path| set_time(path, past));
    let time = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
    convert(&folder, &["in", "--tables", "events,call", "-d", "out"])
        .ends(0)
        .says(&["4 files newer", "left out"]);
    assert!(files.iter().all(|path| time(path) == past));
    set_time(&folder.path("in/1/p.json"), past + Duration::from_secs(10));
    convert(&folder, &["in", "--tables", "events,call", "-d", "out"])
        .ends(0)
        .says(&["2 files newer", "left out"]);
    assert_eq!(files.map(|path| time(&path) == past), [false, true, false, true]);
}

#[test]
fn a_file_has_the_rows_of_its_table() {
    let folder = Folder::new().with("a.json", TRACE);
    convert(&folder, &["a.json", "-o", "a.parquet"]).ends(0);
    let file = std::fs::File::open(folder.path("a.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let count: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    let expected = rows(&folder.path("a.json"), "SELECT count(*) AS n FROM events");
    assert_eq!(vec![vec![json!(count)]], expected);
}

#[test]
fn impossible_requests_are_refused() {
    let folder = Folder::new().with("a.json", TRACE);
    folder.folder("b");
    folder.file("b/a.json", TRACE);
    convert(&folder, &["a.json", "--tables", "events,call", "-o", "a.parquet"])
        .ends(2)
        .says(&["-d"]);
    convert(&folder, &["a.json", "--tables", "nosuch", "-d", "out"])
        .ends(2)
        .says(&["no table nosuch"]);
    convert(&folder, &["a.json", "--tables", "call", "-o", "b.json"]).ends(2).says(&["parquet"]);
    convert(&folder, &["a.json", "-d", "out", "-o", "b.parquet"]).ends(2);
    convert(&folder, &["b", "-d", "b/out"]).ends(2).says(&["input folder"]);
    convert(&folder, &["-", "-d", "out"]).ends(2).says(&["name files"]);
    assert!(!folder.path("out").exists());
}
