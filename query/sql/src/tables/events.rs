//! The table `events`: one row per event, in file order.

use super::pushdown::{all_conditions, conditions, described};
use super::table::TraceTable;
use crate::leaf::{Access, TraceScan};
use crate::traces::Traces;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::{ScalarValue, Statistics};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use std::sync::Arc;
use tracemill_arrow::{EventColumn, EventFilter, EventScan, ScanEnd, TakeBatch};
use tracemill_index::IndexedEvents;
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
        Ok(Arc::new(EventScan::new(columns).filtered(EventFilter(all_conditions(filters)?))))
    }
}

impl TraceScan for EventScan {
    fn schema(&self) -> SchemaRef {
        EventScan::schema(self)
    }

    fn conditions(&self) -> String {
        described(&self.filter().0)
    }

    fn access(&self, traces: &Traces) -> Result<Access, Error> {
        if self.filter().0.is_empty() {
            let statistics = traces.indexed_events()?.map(|events| statistics(self, &events));
            return Ok(Access { statistics, ..Access::default() });
        }
        let reads = match self.filter().times() {
            Some(times) if traces.explain && !self.counts_events() => {
                traces.reads_of_plan(&times)?
            }
            Some(_) if self.counts_events() => COUNTS.to_owned(),
            _ => String::new(),
        };
        Ok(Access { reads, ..Access::default() })
    }

    fn run(&self, traces: &Traces, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let scan = self.clone().at_places(traces.places.clone());
        let times = self.filter().times().filter(|_| !self.counts_events());
        if let Some(times) = times
            && let Some(plan) = traces.plan(&times)?
        {
            if let Some(end) = scan.run_planned(&plan, &traces.config, &mut *take)? {
                traces.used(&plan.index, plan.bytes);
                return Ok(end);
            }
            traces.reject(&plan)?;
        }
        EventScan::run(&scan, &traces.sources, &traces.config, take)
    }
}

/// Explains why a scan with a condition on time reads everything.
const COUNTS: &str = "all, because event_id, number, utid and upid count all events";

/// Returns the statistics of all rows of a scan.
fn statistics(scan: &EventScan, events: &IndexedEvents) -> Statistics {
    let schema = scan.schema();
    let mut statistics = Statistics::new_unknown(&schema);
    statistics.num_rows = Precision::Exact(events.input.events as usize);
    let columns = schema.fields().iter().zip(&mut statistics.column_statistics);
    for (field, column) in columns {
        if let (Some((least, greatest)), "ts_ns") = (events.times, &**field.name()) {
            let exact = |time: i64| Precision::Exact(ScalarValue::Int64(Some(time)));
            (column.min_value, column.max_value) = (exact(least), exact(greatest));
        }
    }
    statistics
}
