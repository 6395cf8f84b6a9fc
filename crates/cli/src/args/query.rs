//! Flags of `query`.

use super::index::IndexFlag;
use super::{CommonArgs, InputArgs, OutputArgs};
use crate::engine::{QueryParam, TableDescription, TableFormat};
use crate::outcome::exit::Failure;
use clap::Args;
use std::io::Read;
use std::path::{Path, PathBuf};

pub(super) const ABOUT: &str = "\
Answers SQL over traces of any size, in bounded memory. The dialect is PostgreSQL's; the tables are those of \
--tables.

The first word is the query, the others are traces. Queries are read-only: one SELECT, after any number of CREATE VIEW \
statements. Times are nanoseconds. Several inputs are read as the one trace that `tracemill merge` makes of them; the \
column file says from which input a row is.

Only the columns that a query uses are decoded, and conditions on ts_ns, dur_ns, name, cat, ph, pid, tid, file and \
byte_offset are checked before that. With an index (`tracemill index`), conditions on ts_ns read only the parts of the \
trace in that time.

With --format trace the result is a trace: the events that the rows name by event_id, byte_offset or number, \
by the rules of `tracemill filter`. Metadata stays, B and E stay together, and bytes do not change.

This verb needs the program tracemill-query, of the same version, in the folder of tracemill or on PATH.";

pub(super) const EXAMPLES: &str = "\
Examples:
  Which names take the time?
    tracemill query \"SELECT name, sum(dur_ns) FROM events GROUP BY 1\" trace.json

  Which events take longer than 1 ms?
    tracemill query \"SELECT name FROM events WHERE dur_ns > 1e6\" trace.json

  Which columns are there?
    tracemill query --tables=events

  The events that take longer than 100 ns, as a trace:
    tracemill query \"SELECT number FROM events WHERE dur_ns > 100\" a.json --format trace -o c.json

  An argument of all complete events, as CSV:
    tracemill query \"SELECT args->'data'->>'url' FROM events WHERE ph = 'X'\" trace.json -o urls.csv

  One row per file of a folder:
    tracemill query \"SELECT file, count(*) FROM events GROUP BY 1\" traces";

/// Long help of the positional arguments.
const INPUTS: &str = "\
The query, then traces [default: -]

Traces are files, folders (recursively), or - for standard input. With --sql-file, all words are traces.";

/// Flags of `query`.
#[derive(Debug, Args)]
#[command(mut_arg("inputs", |arg| {
    let help = INPUTS.lines().next().unwrap_or_default();
    arg.value_name("SQL|INPUT").help(help).long_help(INPUTS)
}))]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Read the query from FILE; - is standard input
    #[arg(long, value_name = "FILE", help_heading = "Query")]
    sql_file: Option<PathBuf>,
    /// The query, taken from the first input.
    #[arg(skip)]
    sql: Option<String>,
    /// Value of $KEY: a number or text ('VAL' is text)
    #[arg(long = "param", value_name = "KEY=VAL", value_parser = QueryParam::parse, help_heading = "Query")]
    pub(crate) params: Vec<QueryParam>,
    /// List the tables, or the columns of one table
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["sql_file", "explain"], help_heading = "Query")]
    pub(crate) tables: Option<String>,
    /// Write the plan of the query instead of its result
    #[arg(long, help_heading = "Query")]
    pub(crate) explain: bool,
    /// Keep the pids and times of several inputs as they are
    #[arg(long, help_heading = "Input")]
    pub(crate) as_is: bool,
    #[command(flatten)]
    pub(crate) index: IndexFlag,
    /// Format of the result [default: from the name of -o, else table on a terminal, else csv]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    format: Option<TableFormat>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl QueryArgs {
    /// Takes the query from the inputs, unless a file or `--tables` replaces it.
    pub(crate) fn take_sql(&mut self) {
        if self.sql_file.is_none() && self.tables.is_none() && !self.input.inputs.is_empty() {
            let first = self.input.inputs.remove(0);
            self.sql = Some(first.to_string_lossy().into_owned());
        }
    }

    /// Returns the query.
    pub(crate) fn sql(&self) -> Result<String, Failure> {
        let Some(path) = &self.sql_file else {
            return self.sql.clone().ok_or_else(|| {
                Failure::usage("a query is missing: give SQL as the first word, or --sql-file")
            });
        };
        let mut text = String::new();
        let read = match path == Path::new("-") {
            true => std::io::stdin().lock().read_to_string(&mut text).map(drop),
            false => std::fs::read_to_string(path).map(|read| text = read),
        };
        let path = path.display();
        read.map_err(|error| Failure::usage(format!("cannot read the query {path}: {error}")))?;
        Ok(text)
    }

    /// Returns the list of tables, or of the columns of the table with a name, as text or JSON.
    pub(crate) fn describe(
        &self,
        tables: &[TableDescription],
        name: &str,
    ) -> Result<String, Failure> {
        if !name.is_empty() {
            refuse_unknown(tables, name)?;
        }
        let is_named = |table: &&TableDescription| name.is_empty() || table.name == name;
        let found: Vec<&TableDescription> = tables.iter().filter(is_named).collect();
        match self.format {
            Some(TableFormat::Json) => return Ok(serde_json::json!(found).to_string() + "\n"),
            None | Some(TableFormat::Table) => {}
            Some(_) => return Err(Failure::usage("--tables has the formats table and json")),
        }
        let mut text = String::new();
        let mut row = |name: &str, meaning: &str| text.push_str(&format!("{name:<28}{meaning}\n"));
        for table in found {
            if name.is_empty() {
                row(table.name, table.rows);
                continue;
            }
            for column in &table.columns {
                row(&format!("{:<18}{}", column.name, column.data_type), column.meaning);
            }
        }
        Ok(text)
    }

    /// Returns whether the query comes from standard input.
    pub(crate) fn is_sql_from_stdin(&self) -> bool {
        self.sql_file.as_deref() == Some(Path::new("-"))
    }

    /// Returns the format of the result.
    pub(crate) fn format(&self, is_terminal: bool) -> TableFormat {
        let by_name = || self.output.file().and_then(|path| TableFormat::of_name(path));
        let usual = if is_terminal { TableFormat::Table } else { TableFormat::Csv };
        self.format.or_else(by_name).unwrap_or(usual)
    }
}

/// Returns an error if there is no table with a name.
pub(crate) fn refuse_unknown(tables: &[TableDescription], name: &str) -> Result<(), Failure> {
    if tables.iter().any(|table| table.name == name) {
        return Ok(());
    }
    let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
    let names = names.join(", ");
    Err(Failure::usage(format!("there is no table {name}; there are {names}")))
}
