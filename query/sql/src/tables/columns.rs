//! Tables of PerfettoSQL whose rows come from scans of `tracemill-arrow`.

use super::pushdown::{all_conditions, conditions, described};
use super::table::TraceTable;
use crate::leaf::TraceScan;
use crate::traces::Traces;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use std::fmt;
use std::sync::Arc;
use tracemill_arrow::{
    COUNTER_COLUMNS, COUNTER_TRACK_COLUMNS, Condition, CounterScan, CounterTrackScan, FLOW_COLUMNS,
    FlowScan, INSTANT_COLUMNS, InstantScan, PROCESS_COLUMNS, RowScan, SLICE_COLUMNS, ScanEnd,
    SliceScan, THREAD_COLUMNS, TableColumn, TakeBatch, ThreadScan, TraceInputs,
};
use tracemill_trace::Error;

/// Returns the tables.
pub(super) fn tables() -> Vec<Arc<dyn TraceTable>> {
    vec![
        slice_table("slice", "one row per interval: X events, pairs of B and E, async operations"),
        slice_table("slices", "the table slice by another name"),
        Arc::new(ColumnTable {
            name: "instant",
            rows: "one row per i, I or R event",
            columns: INSTANT_COLUMNS,
            takes_conditions: true,
            scan: |columns, conditions| Box::new(InstantScan::new(columns, conditions)),
        }),
        Arc::new(ColumnTable {
            name: "flow",
            rows: "one row per arrow between slices, by s, t and f events or bind_id",
            columns: FLOW_COLUMNS,
            takes_conditions: false,
            scan: |columns, _| Box::new(FlowScan::new(columns)),
        }),
        Arc::new(ColumnTable {
            name: "counter",
            rows: "one row per number in the args of a C event",
            columns: COUNTER_COLUMNS,
            takes_conditions: false,
            scan: |columns, _| Box::new(CounterScan::new(columns)),
        }),
        Arc::new(ColumnTable {
            name: "counter_track",
            rows: "one row per counter of a process and member of its args",
            columns: COUNTER_TRACK_COLUMNS,
            takes_conditions: false,
            scan: |columns, _| Box::new(CounterTrackScan::new(columns)),
        }),
        Arc::new(ColumnTable {
            name: "thread",
            rows: "one row per thread, in order of first events",
            columns: THREAD_COLUMNS,
            takes_conditions: false,
            scan: |columns, _| Box::new(ThreadScan::threads(columns)),
        }),
        Arc::new(ColumnTable {
            name: "process",
            rows: "one row per process, in order of first events",
            columns: PROCESS_COLUMNS,
            takes_conditions: false,
            scan: |columns, _| Box::new(ThreadScan::processes(columns)),
        }),
    ]
}

fn slice_table(name: &'static str, rows: &'static str) -> Arc<dyn TraceTable> {
    Arc::new(ColumnTable {
        name,
        rows,
        columns: SLICE_COLUMNS,
        takes_conditions: true,
        scan: |columns, conditions| Box::new(SliceScan::new(columns, conditions)),
    })
}

/// Creates a scan for some columns of the rows that satisfy conditions.
type NewScan<S> = fn(Vec<TableColumn<S>>, Vec<Condition>) -> Box<dyn RowScan>;

/// A table of columns with sources of type `S`.
struct ColumnTable<S: 'static> {
    name: &'static str,
    rows: &'static str,
    columns: &'static [TableColumn<S>],
    /// Whether a scan checks conditions.
    takes_conditions: bool,
    scan: NewScan<S>,
}

impl<S> fmt::Debug for ColumnTable<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<S: Copy + Send + Sync> TraceTable for ColumnTable<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn rows(&self) -> &'static str {
        self.rows
    }

    fn schema(&self) -> SchemaRef {
        TableColumn::schema(self.columns)
    }

    fn meaning(&self, column: usize) -> &'static str {
        self.columns[column].meaning
    }

    fn takes(&self, condition: &Expr) -> bool {
        self.takes_conditions && conditions(condition).is_some()
    }

    fn scan(&self, columns: &[usize], filters: &[Expr]) -> Result<Arc<dyn TraceScan>> {
        let columns = columns.iter().map(|&number| self.columns[number]).collect();
        Ok(Arc::new(ScanOfRows((self.scan)(columns, all_conditions(filters)?))))
    }
}

/// A scan of `tracemill-arrow` as that of a plan.
#[derive(Debug)]
struct ScanOfRows(Box<dyn RowScan>);

impl TraceScan for ScanOfRows {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn conditions(&self) -> String {
        described(self.0.conditions())
    }

    fn run(&self, traces: &Traces, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let Traces { sources, places, config, .. } = traces;
        self.0.run(&TraceInputs { sources, places, config }, take)
    }
}
