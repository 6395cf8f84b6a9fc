//! Formats of results, read back.

use crate::support::{Knobs, answer, rows};
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use std::path::PathBuf;
use tracemill::engine::TableFormat;
use tracemill_testkit::Folder;
use tracemill_testkit::generate::{TraceShape, trace};

const SQL: &str = "SELECT number, name, dur_ns FROM events";

fn text(file: &PathBuf, sql: &str, format: TableFormat) -> String {
    let bytes = answer(std::slice::from_ref(file), sql, format, Knobs::default()).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Returns the rows of batches with the columns of [`SQL`].
fn values(batches: &[RecordBatch]) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for batch in batches {
        let (number, dur) = (batch.column(0), batch.column(2));
        let (number, dur) = (number.as_primitive::<Int64Type>(), dur.as_primitive::<Int64Type>());
        let name = batch.column(1).as_string::<i32>();
        for row in 0..batch.num_rows() {
            rows.push(vec![
                json!(number.value(row)),
                if name.is_null(row) { Value::Null } else { json!(name.value(row)) },
                if dur.is_null(row) { Value::Null } else { json!(dur.value(row)) },
            ]);
        }
    }
    rows
}

#[test]
fn parquet_and_arrow_have_the_rows_of_text() {
    for seed in 0..5 {
        let folder = Folder::new();
        let shape = TraceShape { odd: 10, ..TraceShape::plain(500) };
        let file = folder.file("a.json", trace(seed, &shape));
        let expected = rows(&file, SQL);
        let ask =
            |format| answer(std::slice::from_ref(&file), SQL, format, Knobs::default()).unwrap();
        let parquet = folder.file("a.parquet", ask(TableFormat::Parquet));
        let opened = std::fs::File::open(parquet).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(opened).unwrap();
        let facts = builder.metadata().file_metadata().key_value_metadata().unwrap();
        let fact = |key| facts.iter().find(|fact| fact.key == key).unwrap().value.clone();
        assert_eq!(fact("tracemill.inputs"), file.to_str().map(str::to_owned));
        assert_eq!(fact("tracemill.events"), Some(expected.len().to_string()));
        assert_eq!(fact("tracemill.lost").as_deref(), Some("0"));
        let batches: Vec<RecordBatch> = builder.build().unwrap().map(Result::unwrap).collect();
        assert_eq!(values(&batches), expected, "seed {seed}");
        let arrow = ask(TableFormat::Arrow);
        let reader = StreamReader::try_new(&arrow[..], None).unwrap();
        let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
        assert_eq!(values(&batches), expected, "seed {seed}");
    }
}

#[test]
fn text_formats_are_as_documented() {
    let folder = Folder::new();
    let text_of = r#"[{"name":"a, \"b\"","dur":1.5},{"name":"line\nbreak | \u202e"},{"dur":-2}]"#;
    let file = folder.file("a.json", text_of);
    let csv =
        "number,name,dur_ns\n0,\"a, \"\"b\"\"\",1500\n1,\"line\nbreak | \u{202e}\",\n2,,-2000\n";
    assert_eq!(text(&file, SQL, TableFormat::Csv), csv);
    let table = "number  name                    dur_ns\n     0  a, \"b\"                    1500\n     1  line\\nbreak | \\u{202e}\n     2                           -2000\n";
    assert_eq!(text(&file, SQL, TableFormat::Table), table);
    let markdown = "| number | name | dur_ns |\n| --: | --- | --: |\n| 0 | a, \"b\" | 1500 |\n| 1 | line\\nbreak \\| \\u{202e} |  |\n| 2 |  | -2000 |\n";
    assert_eq!(text(&file, SQL, TableFormat::Markdown), markdown);
    let all: Value = serde_json::from_str(&text(&file, SQL, TableFormat::Json)).unwrap();
    let lines = text(&file, SQL, TableFormat::Ndjson);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all, Value::Array(lines));
    assert_eq!(all[1], json!({"number": 1, "name": "line\nbreak | \u{202e}", "dur_ns": null}));
}

#[test]
fn results_without_rows_have_their_columns() {
    let folder = Folder::new();
    let file = folder.file("a.json", "[]");
    assert_eq!(text(&file, SQL, TableFormat::Csv), "number,name,dur_ns\n");
    assert_eq!(text(&file, SQL, TableFormat::Table), "number  name  dur_ns\n");
    assert_eq!(text(&file, SQL, TableFormat::Json), "[\n]\n");
    assert_eq!(text(&file, SQL, TableFormat::Ndjson), "");
    let parquet = answer(&[file], SQL, TableFormat::Parquet, Knobs::default()).unwrap();
    let parquet = folder.file("a.parquet", parquet);
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(parquet).unwrap()).unwrap();
    assert_eq!(reader.schema().fields().len(), 3);
}
