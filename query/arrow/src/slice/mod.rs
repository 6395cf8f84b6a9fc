//! The table `slice`: intervals of threads and async operations, with their parents.
//!
//! ```text
//!   pass 1   scan ─┬─ X ──────────────────────────────┐
//!                  └─ B E, b e n, S F ─ sort ─ pairs ─┴─ sort by track ─ nesting ─ sort by id ─┐
//!   pass 2   EventScan, in file order ─────────────── batches ─ joined by id ──────────────────┴─> rows
//! ```
//!
//! All sorts spill to disk. Nesting does not depend on the conditions of a query, which pass 2 checks.
//! A query for columns of one pass skips the other.

mod columns;
mod nesting;
mod pairs;
mod points;
mod read;
mod records;
mod rows;
mod tree;

pub use columns::{SLICE_COLUMNS, SliceColumn, SliceValue};
pub(crate) use points::{Binding, FlowKey, FlowPoint, FlowStep};
pub(crate) use read::SliceFacts;
pub(crate) use records::{Length, Slice};
pub(crate) use tree::SlicesByTrack;

use crate::column::EventColumn;
use crate::filter::{Condition, EventFilter};
use crate::scan::{EventScan, ScanEnd, TakeBatch};
use crate::table::{RowScan, TraceInputs};
use arrow_schema::SchemaRef;
use points::BEGINS;
use rows::SliceRows;
use tracemill_trace::Error;
use tree::SliceTree;

/// A scan for some columns of `slice`.
#[derive(Clone, Debug)]
pub struct SliceScan {
    columns: Vec<SliceColumn>,
    conditions: Vec<Condition>,
}

impl SliceScan {
    /// Creates a scan for slices whose begin events satisfy conditions.
    pub fn new(columns: Vec<SliceColumn>, conditions: Vec<Condition>) -> Self {
        SliceScan { columns, conditions }
    }

    /// Returns whether a column is requested.
    fn has(&self, is_it: impl Fn(SliceValue) -> bool) -> bool {
        self.columns.iter().any(|column| is_it(column.source))
    }

    /// Returns whether the scan needs fields that only pass 2 reads.
    fn reads_fields(&self) -> bool {
        let is_field = |value| match value {
            SliceValue::Event(column) => {
                !matches!(column, EventColumn::EventId | EventColumn::Time)
            }
            value => value == SliceValue::ThreadDuration,
        };
        !self.conditions.is_empty() || self.has(is_field)
    }

    /// Returns the scan of pass 2: ids, then the requested fields.
    fn events(&self, inputs: &TraceInputs<'_>) -> EventScan {
        let field = |column: &SliceColumn| match column.source {
            SliceValue::Event(column) => Some(column),
            SliceValue::ThreadDuration => Some(EventColumn::ThreadDuration),
            _ => None,
        };
        let mut fields = vec![EventColumn::EventId];
        fields.extend(self.columns.iter().filter_map(field));
        let mut conditions = vec![Condition::Phases(BEGINS)];
        conditions.extend(self.conditions.iter().cloned());
        let scan = EventScan::new(fields).filtered(EventFilter(conditions));
        scan.at_places(inputs.places.to_vec())
    }
}

impl RowScan for SliceScan {
    fn schema(&self) -> SchemaRef {
        SliceColumn::schema(&self.columns)
    }

    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    fn run(&self, inputs: &TraceInputs<'_>, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let is_of_event = |value| matches!(value, SliceValue::Event(_));
        let tree = match self.has(|value| !is_of_event(value)) {
            true => {
                let is_thread_time = |value| value == SliceValue::ThreadDuration;
                Some(SliceTree::read(inputs, self.has(is_thread_time))?)
            }
            false => None,
        };
        let end = {
            let mut rows = SliceRows::new(&self.columns, tree.as_ref(), take);
            if tree.is_some() && !self.reads_fields() {
                rows.walk();
                None
            } else {
                let events = self.events(inputs);
                let end = events.run(inputs.sources, inputs.config, |batch| rows.join(&batch))?;
                rows.check()?;
                Some(end)
            }
        };
        let end = end.or(tree.map(|tree| tree.end));
        Ok(end.unwrap_or_default())
    }
}
