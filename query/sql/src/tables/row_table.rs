//! A table as its columns and a function that passes its rows.

use super::rows::RowBuilder;
use super::table::TraceTable;
use crate::leaf::TraceScan;
use crate::traces::Traces;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use std::fmt;
use std::sync::Arc;
use tracemill_arrow::{ScanEnd, TakeBatch};
use tracemill_trace::Error;

/// A column of a table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    name: &'static str,
    data_type: DataType,
    meaning: &'static str,
}

pub(super) const fn number(name: &'static str, meaning: &'static str) -> Column {
    Column { name, data_type: DataType::Int64, meaning }
}

pub(super) const fn real(name: &'static str, meaning: &'static str) -> Column {
    Column { name, data_type: DataType::Float64, meaning }
}

pub(super) const fn text(name: &'static str, meaning: &'static str) -> Column {
    Column { name, data_type: DataType::Utf8View, meaning }
}

pub(super) const fn flag(name: &'static str, meaning: &'static str) -> Column {
    Column { name, data_type: DataType::Boolean, meaning }
}

/// A table whose rows a function passes to a [`RowBuilder`].
pub(super) struct RowTable {
    pub(super) name: &'static str,
    pub(super) rows: &'static str,
    pub(super) columns: &'static [Column],
    /// Reads the traces, and passes all rows.
    pub(super) push: fn(&Traces, &mut RowBuilder<'_>) -> Result<ScanEnd, Error>,
}

impl fmt::Debug for RowTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl TraceTable for &'static RowTable {
    fn name(&self) -> &'static str {
        self.name
    }

    fn rows(&self) -> &'static str {
        self.rows
    }

    fn schema(&self) -> SchemaRef {
        let field = |column: &Column| Field::new(column.name, column.data_type.clone(), true);
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    fn meaning(&self, column: usize) -> &'static str {
        self.columns[column].meaning
    }

    fn scan(&self, columns: &[usize], _: &[Expr]) -> Result<Arc<dyn TraceScan>> {
        let schema = Arc::new(TraceTable::schema(self).project(columns)?);
        Ok(Arc::new(RowScan { table: self, columns: columns.to_vec(), schema }))
    }
}

/// A scan for some columns of a table.
#[derive(Debug)]
struct RowScan {
    table: &'static RowTable,
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl TraceScan for RowScan {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn run(&self, traces: &Traces, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let mut rows = RowBuilder::new(&self.schema, &self.columns, take);
        let pushed = (self.table.push)(traces, &mut rows);
        let pushed = pushed.and_then(|end| rows.finish().map(|()| end));
        match rows.is_stopped() {
            true => Ok(ScanEnd::default()),
            false => pushed,
        }
    }
}
