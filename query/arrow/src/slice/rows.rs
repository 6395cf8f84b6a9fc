//! Joins the fields of begin events with the places of their slices.

use super::columns::{SliceColumn, SliceValue};
use super::records::{NestedSlice, PairThreadTime};
use super::tree::SliceTree;
use crate::column::EventColumn;
use crate::rows::batch;
use crate::scan::{ROWS, TakeBatch};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::SchemaRef;
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::sync::Arc;
use tracemill_trace::order::{Keyed, SortedByKey};
use tracemill_trace::{Error, ErrorKind};

/// Records by id, read once in ascending order.
struct ById<'r, R>(Option<Peekable<Box<dyn Iterator<Item = R> + 'r>>>);

impl<'r, R: Keyed<Key = i64> + 'r> ById<'r, R> {
    fn new(records: Option<&'r SortedByKey<R>>) -> Self {
        ById(records.map(|records| {
            let all: Box<dyn Iterator<Item = R> + 'r> = Box::new(records.iter());
            all.peekable()
        }))
    }

    /// Returns the record with an id. Ids must ascend.
    fn find(&mut self, id: i64) -> Option<R> {
        let records = self.0.as_mut()?;
        while records.next_if(|record| record.key() < id).is_some() {}
        records.next_if(|record| record.key() == id)
    }
}

/// Makes the rows of `slice` and passes them on.
pub(super) struct SliceRows<'r, 't, 'f> {
    columns: &'r [SliceColumn],
    schema: SchemaRef,
    has_tree: bool,
    nested: ById<'r, NestedSlice>,
    thread_times: ById<'r, PairThreadTime>,
    /// Whether a slice of pass 2 is missing in pass 1.
    is_changed: bool,
    take: &'t mut TakeBatch<'f>,
}

impl<'r, 't, 'f> SliceRows<'r, 't, 'f> {
    pub(super) fn new(
        columns: &'r [SliceColumn],
        tree: Option<&'r SliceTree>,
        take: &'t mut TakeBatch<'f>,
    ) -> Self {
        SliceRows {
            columns,
            schema: SliceColumn::schema(columns),
            has_tree: tree.is_some(),
            nested: ById::new(tree.map(|tree| &tree.nested)),
            thread_times: ById::new(tree.and_then(|tree| tree.thread_times.as_ref())),
            is_changed: false,
            take,
        }
    }

    /// Passes on rows that need no fields of events.
    pub(super) fn walk(&mut self) {
        loop {
            let records = self.nested.0.as_mut().into_iter().flatten();
            let slices: Vec<NestedSlice> = records.take(ROWS).collect();
            if slices.is_empty() {
                return;
            }
            let column = |column: &SliceColumn| match column.source {
                SliceValue::Event(EventColumn::EventId) => {
                    integers(&slices, |slice| Some(slice.id))
                }
                SliceValue::Event(_) => integers(&slices, |slice| Some(slice.ts)),
                value => nested_column(value, &slices),
            };
            let columns = self.columns.iter().map(column).collect();
            if (self.take)(batch(&self.schema, columns, slices.len())).is_break() {
                return;
            }
        }
    }

    /// Passes on the rows of a batch of pass 2, which has ids and then the requested fields.
    pub(super) fn join(&mut self, events: &RecordBatch) -> ControlFlow<()> {
        let ids = events.column(0).as_primitive::<Int64Type>().values();
        let slices: Vec<NestedSlice> = match self.has_tree {
            true => ids.iter().map_while(|&id| self.nested.find(id)).collect(),
            false => Vec::new(),
        };
        if self.has_tree && slices.len() < ids.len() {
            self.is_changed = true;
            return ControlFlow::Break(());
        }
        let mut fields = events.columns()[1..].iter();
        let mut columns = Vec::new();
        for column in self.columns {
            columns.push(match column.source {
                SliceValue::Event(_) => fields.next().map(Arc::clone),
                SliceValue::ThreadDuration => {
                    fields.next().map(|field| self.thread_durations(ids, field))
                }
                value => Some(nested_column(value, &slices)),
            });
        }
        let columns = columns.into_iter().flatten().collect();
        (self.take)(batch(&self.schema, columns, events.num_rows()))
    }

    /// Returns the CPU times of pairs, or else those of the events.
    fn thread_durations(&mut self, ids: &[i64], of_events: &ArrayRef) -> ArrayRef {
        let of_events = of_events.as_primitive::<Int64Type>();
        let of_event = |row| of_events.is_valid(row).then(|| of_events.value(row));
        let values = ids.iter().enumerate().map(|(row, &id)| {
            let pair = self.thread_times.find(id);
            pair.map_or_else(|| of_event(row), |pair| Some(pair.ns))
        });
        Arc::new(Int64Array::from_iter(values))
    }

    /// Checks that both passes found the same slices.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Changed`] if an input changed between the passes.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.is_changed {
            true => {
                let (input, how) = ("an input".to_owned(), "changed".to_owned());
                Err(ErrorKind::Changed { input, how }.into())
            }
            false => Ok(()),
        }
    }
}

fn integers(slices: &[NestedSlice], value: impl Fn(&NestedSlice) -> Option<i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter(slices.iter().map(value)))
}

/// Returns a column that pass 1 computes.
fn nested_column(value: SliceValue, slices: &[NestedSlice]) -> ArrayRef {
    match value {
        SliceValue::Track => integers(slices, |slice| Some(slice.track)),
        SliceValue::Depth => integers(slices, |slice| Some(i64::from(slice.depth))),
        SliceValue::Parent => integers(slices, |slice| Some(slice.parent).filter(|id| *id >= 0)),
        SliceValue::SelfDuration => integers(slices, |slice| Some(slice.self_dur)),
        _ => integers(slices, |slice| Some(slice.dur)),
    }
}
