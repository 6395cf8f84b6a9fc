//! The interface of an engine that answers SQL, which another crate implements.
//!
//! The program `tracemill` has no engine, so that it stays small: `tracemill query` runs the program
//! `tracemill-query`, which is this library with an engine. So both have the same flags and messages.

pub use crate::messages::plain;
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::Path;
use tracemill_join::config::Config;
use tracemill_join::input_set::InputPlace;
use tracemill_join::read_plan::IndexOutcome;
use tracemill_join::report::warning::Warning;
use tracemill_pipeline::EventList;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::{Error, Source};

/// The format of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned columns
    Table,
    /// Comma-separated values with a header line
    Csv,
    /// An array with one object per row
    Json,
    /// One JSON object per line
    Ndjson,
    /// A Markdown table
    Markdown,
    /// Apache Parquet
    Parquet,
    /// Apache Arrow IPC stream
    Arrow,
    /// A trace of the events that the rows name by event_id, id, byte_offset or number
    Trace,
}

impl TableFormat {
    /// Returns the format that the extension of a file name means.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "csv" => Some(TableFormat::Csv),
            "json" => Some(TableFormat::Json),
            "ndjson" | "jsonl" => Some(TableFormat::Ndjson),
            "md" => Some(TableFormat::Markdown),
            "txt" => Some(TableFormat::Table),
            _ => TableFormat::binary_of_name(path),
        }
    }

    /// Returns the format for other programs that the extension of a file name means.
    pub(crate) fn binary_of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "parquet" => Some(TableFormat::Parquet),
            "arrow" | "arrows" => Some(TableFormat::Arrow),
            _ => None,
        }
    }

    /// Returns whether the format is not text.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, TableFormat::Parquet | TableFormat::Arrow)
    }
}

/// A query over traces.
pub struct Query<'a> {
    /// One SELECT statement, after any number of CREATE VIEW statements.
    pub sql: &'a str,
    /// The traces, readable any number of times.
    pub sources: &'a [Source],
    /// New pids and clock offsets of the inputs, by number. Empty if nothing changes.
    pub places: &'a [InputPlace],
    /// Limits of the run.
    pub config: &'a Config,
    /// An empty folder for temporary files, removed after the query, or on a signal.
    pub scratch: &'a Path,
    /// Format of the result.
    pub format: TableFormat,
    /// Whether to write the plan instead of the result.
    pub explain: bool,
}

/// The end of a query.
#[derive(Debug, Default)]
pub struct QueryEnd {
    /// One report per input that was read to its end.
    pub inputs: Vec<InputReport>,
    /// Warnings about inputs.
    pub warnings: Vec<Warning>,
    /// Number of rows of the result.
    pub rows: u64,
    /// The events that the rows name, for [`TableFormat::Trace`].
    pub events: Option<EventList>,
    /// How an index was used.
    pub index: IndexOutcome,
}

/// An error of a query.
#[derive(Debug)]
pub enum QueryError {
    /// The SQL is wrong, or asks for something that is refused.
    Sql(String),
    /// The result could not be written.
    Write(io::Error),
    /// Traces could not be read, or a limit was reached.
    Run(Error),
}

/// A table that queries can read.
#[derive(Clone, Debug)]
pub struct TableDescription {
    /// Name of the table.
    pub name: &'static str,
    /// One sentence about its rows.
    pub rows: &'static str,
    /// Columns: name, SQL type, description.
    pub columns: Vec<ColumnDescription>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct ColumnDescription {
    /// Name of the column.
    pub name: String,
    /// Its type in SQL.
    pub data_type: &'static str,
    /// One phrase about the values.
    pub meaning: &'static str,
}

/// An engine that answers SQL over traces.
pub trait QueryEngine: Sync {
    /// Answers a query, and writes the result to `output`. For [`TableFormat::Trace`], returns the
    /// events that the rows name instead.
    ///
    /// # Errors
    /// Returns an error if the SQL is wrong, a trace cannot be read, or the result cannot be
    /// written.
    fn run(&self, query: &Query<'_>, output: &mut dyn Write) -> Result<QueryEnd, QueryError>;

    /// Returns the tables.
    fn tables(&self) -> Vec<TableDescription>;
}
