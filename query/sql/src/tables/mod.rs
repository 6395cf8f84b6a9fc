//! The tables that queries read.

mod columns;
mod events;
pub mod pushdown;
pub mod views;

pub use events::EventsTable;

use crate::leaf::{TraceScan, leaf};
use crate::traces::Traces;
use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::fmt;
use std::sync::Arc;
use tracemill::engine::{ColumnDescription, TableDescription};

/// A table whose rows come from a scan of the traces.
pub trait TraceTable: fmt::Debug + Send + Sync {
    /// Returns the name.
    fn name(&self) -> &'static str;

    /// Returns one sentence about the rows.
    fn rows(&self) -> &'static str;

    /// Returns the columns.
    fn schema(&self) -> SchemaRef;

    /// Returns one phrase about the values of a column.
    fn meaning(&self, column: usize) -> &'static str;

    /// Returns whether a scan can check a condition exactly.
    fn takes(&self, _: &Expr) -> bool {
        false
    }

    /// Returns a scan for some columns of the rows that satisfy conditions which the table
    /// [takes](TraceTable::takes).
    ///
    /// # Errors
    /// Returns an error if the table does not take a condition.
    fn scan(&self, columns: &[usize], conditions: &[Expr]) -> Result<Arc<dyn TraceScan>>;
}

/// Returns all tables.
pub fn all() -> Vec<Arc<dyn TraceTable>> {
    let mut all: Vec<Arc<dyn TraceTable>> = vec![Arc::new(EventsTable)];
    all.extend(columns::tables());
    all
}

/// Returns the description of a table.
pub fn description(table: &dyn TraceTable) -> TableDescription {
    let schema = table.schema();
    let columns = schema.fields().iter().enumerate().map(|(number, field)| ColumnDescription {
        name: field.name().clone(),
        data_type: match field.data_type() {
            DataType::Int64 => "BIGINT",
            DataType::Float64 => "DOUBLE",
            DataType::Boolean => "BOOLEAN",
            _ => "TEXT",
        },
        meaning: table.meaning(number),
    });
    TableDescription { name: table.name(), rows: table.rows(), columns: columns.collect() }
}

/// A table of some traces, for DataFusion.
#[derive(Debug)]
pub struct TableOfTraces {
    traces: Arc<Traces>,
    table: Arc<dyn TraceTable>,
}

impl TableOfTraces {
    /// Creates the table.
    pub fn new(traces: &Arc<Traces>, table: Arc<dyn TraceTable>) -> Self {
        TableOfTraces { traces: Arc::clone(traces), table }
    }
}

#[async_trait]
impl TableProvider for TableOfTraces {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| match self.table.takes(filter) {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = match projection {
            Some(numbers) => numbers.clone(),
            None => (0..self.table.schema().fields().len()).collect(),
        };
        Ok(leaf(&self.traces, self.table.scan(&columns, filters)?, limit))
    }
}
