//! The table `events`: one row per event, in file order.

use super::pushdown::conditions;
use super::table::TraceTable;
use crate::leaf::TraceScan;
use crate::traces::Traces;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Expr;
use std::sync::Arc;
use tracemill_arrow::{Condition, EventColumn, EventFilter, EventScan, ScanEnd, TakeBatch};
use tracemill_trace::Error;

/// The table `events`.
#[derive(Debug)]
pub struct EventsTable;

impl TraceTable for EventsTable {
    fn name(&self) -> &'static str {
        "events"
    }

    fn rows(&self) -> &'static str {
        "one row per event, in file order, with the fields of the event"
    }

    fn schema(&self) -> SchemaRef {
        EventColumn::schema(&EventColumn::ALL)
    }

    fn meaning(&self, column: usize) -> &'static str {
        EventColumn::ALL[column].meaning()
    }

    fn takes(&self, condition: &Expr) -> bool {
        conditions(condition).is_some()
    }

    fn scan(&self, columns: &[usize], filters: &[Expr]) -> Result<Arc<dyn TraceScan>> {
        let columns: Vec<_> = columns.iter().map(|&number| EventColumn::ALL[number]).collect();
        let mut all: Vec<Condition> = Vec::new();
        for filter in filters {
            let refused = || DataFusionError::Internal(format!("{filter} is no scan condition"));
            all.extend(conditions(filter).ok_or_else(refused)?);
        }
        Ok(Arc::new(EventScan::new(columns).filtered(EventFilter(all))))
    }
}

impl TraceScan for EventScan {
    fn schema(&self) -> SchemaRef {
        EventScan::schema(self)
    }

    fn conditions(&self) -> String {
        match self.filter().0.as_slice() {
            [] => String::new(),
            conditions => format!("{conditions:?}"),
        }
    }

    fn run(&self, traces: &Traces, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let scan = self.clone().at_places(traces.places.clone());
        EventScan::run(&scan, &traces.sources, &traces.config, take)
    }
}
