//! Runs queries in tests.

use serde_json::Value;
use std::path::PathBuf;
use tracemill::engine::{Query, QueryEnd, QueryEngine, QueryError, QueryParam, TableFormat};
use tracemill_join::config::Config;
use tracemill_join::input_set::InputSet;
use tracemill_sql::SqlEngine;
use tracemill_testkit::Folder;
use tracemill_trace::{Limits, Source};

/// Limits of a run. They change no answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knobs {
    pub(crate) threads: usize,
    pub(crate) memory: u64,
}

impl Default for Knobs {
    fn default() -> Self {
        Knobs { threads: 2, memory: 256 << 20 }
    }
}

impl Knobs {
    pub(crate) fn config(self) -> Config {
        Config::of(Limits::new(self.threads, self.memory, std::env::temp_dir()))
    }
}

/// Answers a query over files, as bytes of a format.
pub(crate) fn answer(
    files: &[PathBuf],
    sql: &str,
    format: TableFormat,
    knobs: Knobs,
) -> Result<Vec<u8>, QueryError> {
    answer_with(files, sql, &[], format, knobs)
}

/// Answers a query with parameters.
pub(crate) fn answer_with(
    files: &[PathBuf],
    sql: &str,
    params: &[QueryParam],
    format: TableFormat,
    knobs: Knobs,
) -> Result<Vec<u8>, QueryError> {
    let config = knobs.config().as_merged();
    answered(files, sql, params, format, &config).map(|answered| answered.bytes)
}

/// The bytes of an answer, and the report of the engine.
pub(crate) struct Answered {
    pub(crate) bytes: Vec<u8>,
    pub(crate) end: QueryEnd,
}

/// Answers a query over files by the rules of `config`.
pub(crate) fn answered(
    files: &[PathBuf],
    sql: &str,
    params: &[QueryParam],
    format: TableFormat,
    config: &Config,
) -> Result<Answered, QueryError> {
    let sources: Vec<Source> = files.iter().cloned().map(Source::Path).collect();
    let places = InputSet::places(&sources, config).map_err(QueryError::Run)?;
    let scratch = Folder::new();
    let query = Query {
        sql,
        params,
        sources: &sources,
        places: &places,
        config,
        scratch: &scratch.path(""),
        format,
        explain: false,
    };
    let mut bytes = Vec::new();
    let end = SqlEngine.run(&query, &mut bytes)?;
    Ok(Answered { bytes, end })
}

/// Returns the rows of an answer, in order, as lists of their values.
pub(crate) fn rows_with(files: &[PathBuf], sql: &str, knobs: Knobs) -> Vec<Vec<Value>> {
    let bytes = answer(files, sql, TableFormat::Ndjson, knobs);
    let bytes = bytes.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let text = String::from_utf8(bytes).unwrap();
    let row = |line: &str| {
        let object: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
        object.into_iter().map(|(_, value)| value).collect()
    };
    text.lines().map(row).collect()
}

/// Returns the rows of an answer over one file.
pub(crate) fn rows(file: &PathBuf, sql: &str) -> Vec<Vec<Value>> {
    rows_with(std::slice::from_ref(file), sql, Knobs::default())
}

/// Sorts rows whose order is not defined.
pub(crate) fn sorted(mut rows: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    rows.sort_by_key(|row| serde_json::to_string(row).unwrap());
    rows
}
