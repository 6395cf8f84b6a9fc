//! The table `flow`: arrows between slices, by the Trace Event Format and Perfetto.
//!
//! ```text
//!   scan ─┬─ slices ── sorted by track ──┐
//!         └─ points ── sorted by track ──┴─ bound to slices ── sorted by flow ── arrows ── sorted by id ─> rows
//! ```
//!
//! | point | slice |
//! |---|---|
//! | `s`, `t`, `f` with `"bp":"e"` | the innermost slice that is open at the time, or begins at it |
//! | `f` | the first slice that begins at the time or later |
//! | `bind_id` with `flow_out`, `flow_in` | the event |
//!
//! The points of a flow have the same input, categories, name and id, or the same `bind_id`. Each
//! point after the first makes an arrow from the last slice with `s`, `t` or `flow_out`. Points
//! without a slice are left out. The slice that begins earlier is `slice_out`, as in Perfetto.
//!
//! All sorts spill to disk.

mod bind;

use crate::rows::batch;
use crate::scan::{ROWS, ScanEnd, TakeBatch};
use crate::slice::{SliceFacts, SlicesByTrack};
use crate::table::{RowScan, TableColumn, TraceInputs, columns};
use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::SchemaRef;
use bind::{Arrow, bind, connect};
use std::sync::Arc;
use tracemill_trace::Error;
use tracemill_trace::order::KeySorter;
use tracemill_trace::run::memory::Share;

/// The source of a column of `flow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowValue {
    /// The event at which the flow arrives.
    Event,
    /// The slice that the arrow leaves.
    SliceOut,
    /// The slice that the arrow reaches.
    SliceIn,
}

/// A column of `flow`.
pub type FlowColumn = TableColumn<FlowValue>;

/// The columns of `flow`.
pub const FLOW_COLUMNS: &[FlowColumn] = columns! {
    "id" Integer FlowValue::Event, "event at which the flow arrives, unique over all inputs";
    "slice_out" Integer FlowValue::SliceOut, "slice from which the arrow leads";
    "slice_in" Integer FlowValue::SliceIn, "slice to which the arrow leads";
};

/// A scan for some columns of `flow`.
#[derive(Clone, Debug)]
pub struct FlowScan {
    columns: Vec<FlowColumn>,
}

impl FlowScan {
    /// Creates a scan.
    pub fn new(columns: Vec<FlowColumn>) -> Self {
        FlowScan { columns }
    }
}

impl RowScan for FlowScan {
    fn schema(&self) -> SchemaRef {
        FlowColumn::schema(&self.columns)
    }

    fn run(&self, inputs: &TraceInputs<'_>, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let limits = &inputs.config.limits;
        let lease = |name, share| limits.lease(name, share);
        let found = SlicesByTrack::read(inputs, SliceFacts { flows: true, thread_times: false })?;
        let mut bound =
            KeySorter::new(lease("points of flows", Share::of_index(1, 4)), limits.threads);
        bind(&found.points, &found.slices, &mut bound, limits.open_quota())?;
        let mut arrows =
            KeySorter::new(lease("arrows of flows", Share::of_index(1, 4)), limits.threads);
        connect(&bound.finish()?, &mut arrows)?;
        let (schema, arrows) = (RowScan::schema(self), arrows.finish()?);
        let mut arrows = arrows.iter();
        loop {
            let rows: Vec<Arrow> = arrows.by_ref().take(ROWS).collect();
            if rows.is_empty() {
                return Ok(found.end);
            }
            let column = |column: &FlowColumn| -> ArrayRef {
                let value: fn(&Arrow) -> i64 = match column.source {
                    FlowValue::Event => |arrow| arrow.id,
                    FlowValue::SliceOut => |arrow| arrow.slice_out,
                    FlowValue::SliceIn => |arrow| arrow.slice_in,
                };
                Arc::new(Int64Array::from_iter_values(rows.iter().map(value)))
            };
            let columns = self.columns.iter().map(column).collect();
            if take(batch(&schema, columns, rows.len())).is_break() {
                return Ok(found.end);
            }
        }
    }
}
