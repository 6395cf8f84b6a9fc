//! The interface of an engine that answers SQL and opens inputs on other machines, which another
//! crate implements.
//!
//! The program `tracemill` has no engine, so that it stays small: `tracemill query` runs the program
//! `tracemill-query`, which is this library with an engine. So both have the same flags and messages.

pub use crate::messages::plain;
pub use crate::text::similar::suggestion;
use clap::ValueEnum;
use serde::Serialize;
use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use tracemill_join::config::Config;
use tracemill_join::input_set::InputPlace;
use tracemill_join::read_plan::IndexOutcome;
use tracemill_join::report::warning::Warning;
use tracemill_pipeline::EventList;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::{Error, Source};

/// The name of the program with an engine.
pub const PROGRAM: &str = "tracemill-query";
/// The variable with which a program passes its version to the other.
pub(crate) const VERSION: &str = "TRACEMILL_VERSION";

/// Returns the command that runs [`PROGRAM`]: in the folder of `near`, in that of this program, or on
/// PATH. Returns `None` if the program is in none of them.
pub fn program(near: &Path) -> Option<Command> {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let this = env::current_exe().ok();
    let folders = [near].into_iter().chain(this.as_deref());
    let folders = folders.filter_map(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let path = env::var_os("PATH").unwrap_or_default();
    let all = folders.map(Path::to_owned).chain(env::split_paths(&path));
    let program = all.map(|folder| folder.join(&name)).find(|path| path.is_file())?;
    let mut command = Command::new(program);
    command.env(VERSION, env!("CARGO_PKG_VERSION"));
    Some(command)
}

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

/// A parameter of a query: `$name` in its SQL.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryParam {
    /// Name, without `$`.
    pub name: String,
    /// Value.
    pub value: ParamValue,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// BIGINT.
    Integer(i64),
    /// DOUBLE, finite.
    Float(f64),
    /// TEXT.
    Text(String),
}

impl QueryParam {
    /// Parses `KEY=VAL`. The value is an integer, a finite number, or text; text in single quotes is
    /// the text between them.
    ///
    /// # Errors
    /// Returns an error if there is no name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').unwrap_or_default();
        if name.is_empty() {
            return Err("expected KEY=VAL".to_owned());
        }
        let quoted = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
        let value = match (quoted, value.parse(), value.parse::<f64>()) {
            (Some(text), ..) => ParamValue::Text(text.to_owned()),
            (None, Ok(number), _) => ParamValue::Integer(number),
            (None, _, Ok(number)) if number.is_finite() => ParamValue::Float(number),
            _ => ParamValue::Text(value.to_owned()),
        };
        Ok(QueryParam { name: name.to_owned(), value })
    }
}

/// A query over traces.
pub struct Query<'a> {
    /// One SELECT statement, after any number of CREATE VIEW statements.
    pub sql: &'a str,
    /// Values of the parameters in the SQL.
    pub params: &'a [QueryParam],
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
#[derive(Clone, Debug, Serialize)]
pub struct TableDescription {
    /// Name of the table.
    pub name: &'static str,
    /// One sentence about its rows.
    pub rows: &'static str,
    /// Columns: name, SQL type, description.
    pub columns: Vec<ColumnDescription>,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnDescription {
    /// Name of the column.
    pub name: String,
    /// Its type in SQL.
    #[serde(rename = "type")]
    pub data_type: &'static str,
    /// One phrase about the values.
    pub meaning: &'static str,
}

/// A request to open an input on another machine.
pub struct OpenAddress<'a> {
    /// The address, such as `s3://bucket/trace.json`.
    pub address: &'a str,
    /// A path for a folder of local files. The engine creates the folder.
    pub folder: &'a Path,
    /// How the command reads the input.
    pub access: AddressAccess,
}

/// How a command reads an input on another machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressAccess {
    /// Once, from its start to its end.
    Once,
    /// Only parts, if there is an index.
    Ranges,
    /// As a file.
    File,
}

/// An engine that answers SQL over traces, and opens inputs on other machines.
pub trait QueryEngine: Sync {
    /// Answers a query, and writes the result to `output`. For [`TableFormat::Trace`], returns the
    /// events that the rows name instead.
    ///
    /// # Errors
    /// Returns an error if the SQL is wrong, a trace cannot be read, or the result cannot be
    /// written.
    fn run(&self, query: &Query<'_>, output: &mut dyn Write) -> Result<QueryEnd, QueryError>;

    /// Opens an input on another machine: a stream, or a remote file next to its index.
    ///
    /// # Errors
    /// Returns an error if the address cannot be read.
    fn open(&self, request: &OpenAddress<'_>) -> Result<Source, Error>;

    /// Returns the tables.
    fn tables(&self) -> Vec<TableDescription>;
}
