//! Tables: columns with their sources, and scans for some of them.

use crate::filter::Condition;
use crate::scan::{ScanEnd, TakeBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::fmt;
use std::sync::Arc;
use tracemill_join::config::Config;
use tracemill_join::input_set::InputPlace;
use tracemill_trace::{Error, Source};

/// The type of a column, and whether its values may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A 64-bit integer.
    Integer,
    /// A 64-bit integer or null.
    OptionalInteger,
    /// A double.
    Real,
    /// Text.
    Text,
    /// Text or null.
    OptionalText,
}

/// A column of a table, whose values come from `source`.
#[derive(Clone, Copy, Debug)]
pub struct TableColumn<S> {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the column.
    pub column_type: ColumnType,
    /// One phrase about the values.
    pub meaning: &'static str,
    /// Source of the values.
    pub source: S,
}

impl<S> TableColumn<S> {
    /// Returns the Arrow field of the column.
    pub fn field(&self) -> Field {
        let (data_type, is_nullable) = match self.column_type {
            ColumnType::Integer => (DataType::Int64, false),
            ColumnType::OptionalInteger => (DataType::Int64, true),
            ColumnType::Real => (DataType::Float64, false),
            ColumnType::Text => (DataType::Utf8View, false),
            ColumnType::OptionalText => (DataType::Utf8View, true),
        };
        Field::new(self.name, data_type, is_nullable)
    }

    /// Returns the schema of some columns.
    pub fn schema(columns: &[TableColumn<S>]) -> SchemaRef {
        Arc::new(Schema::new(columns.iter().map(TableColumn::field).collect::<Vec<_>>()))
    }
}

/// Declares the columns of a table: name, type, source, meaning.
macro_rules! columns {
    ($($name:literal $column_type:ident $source:expr, $meaning:literal;)+) => {
        &[$($crate::table::TableColumn {
            name: $name,
            column_type: $crate::table::ColumnType::$column_type,
            meaning: $meaning,
            source: $source,
        }),+]
    };
}
pub(crate) use columns;

/// The inputs of a scan.
#[derive(Clone, Copy)]
pub struct TraceInputs<'t> {
    /// Sources that can be read more than once.
    pub sources: &'t [Source],
    /// New pids and clock offsets by the number of the input; empty if nothing changes.
    pub places: &'t [InputPlace],
    /// Limits of the run.
    pub config: &'t Config,
}

/// A scan for some columns of a table.
pub trait RowScan: fmt::Debug + Send + Sync {
    /// Returns the schema of the batches.
    fn schema(&self) -> SchemaRef;

    /// Returns the conditions that all rows satisfy.
    fn conditions(&self) -> &[Condition] {
        &[]
    }

    /// Passes batches to `take` until it breaks, always in the same order.
    ///
    /// # Errors
    /// Returns an error if a trace cannot be read, or a limit is reached.
    fn run(&self, inputs: &TraceInputs<'_>, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error>;
}
