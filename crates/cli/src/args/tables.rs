//! Flags of `convert` for tables.

use crate::outcome::exit::Failure;
use clap::Args;
use std::path::PathBuf;

/// Flags for tables.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Tables")]
pub(crate) struct TableArgs {
    /// Write these tables of `tracemill query`, separated by commas [default: events]
    ///
    /// Without -d, only one table can be written. `tracemill query --tables` lists all.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tables: Vec<String>,
    /// Write the tables of each input to DIR/TABLE/NAME.parquet, unless the file is newer than the input
    ///
    /// NAME is the path of the input below the folder that all inputs share, without its extension.
    /// Then DuckDB, polars and Spark read all traces of a folder as one table. The folder is created
    /// if needed.
    #[arg(short, long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) dir: Option<PathBuf>,
}

impl TableArgs {
    /// Returns whether flags are given that apply only to tables.
    pub(crate) fn is_given(&self) -> bool {
        !self.tables.is_empty() || self.dir.is_some()
    }

    /// Returns the names of the tables.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self.tables.is_empty() {
            true => vec!["events"],
            false => self.tables.iter().map(String::as_str).collect(),
        }
    }

    /// Returns the name of the table that a single file has.
    pub(crate) fn single(&self) -> Result<&str, Failure> {
        match self.names()[..] {
            [name] => Ok(name),
            _ => Err(Failure::usage("a file has one table: name a folder for several with -d")),
        }
    }
}
