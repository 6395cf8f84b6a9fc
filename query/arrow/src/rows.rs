//! Rows of events, which become batches.

use crate::builder::{ChunkColumn, ChunkNumber, ChunkNumbers, ColumnBuilder};
use crate::column::EventColumn;
use crate::filter::EventIn;
use crate::input::EventThread;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use std::sync::Arc;

/// A batch to which events are added.
pub(crate) struct RowBuilder {
    builders: Vec<ColumnBuilder>,
    rows: usize,
    text: usize,
}

impl RowBuilder {
    pub(crate) fn new(columns: &[EventColumn]) -> Self {
        let builders = columns.iter().map(|&column| ColumnBuilder::new(column)).collect();
        RowBuilder { builders, rows: 0, text: 0 }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Returns the number of bytes of text, without repeated text.
    pub(crate) fn text(&self) -> usize {
        self.text
    }

    #[inline]
    pub(crate) fn push(&mut self, event: &EventIn<'_>, numbers: &ChunkNumbers) {
        for builder in &mut self.builders {
            self.text += builder.push(event, numbers);
        }
        self.rows += 1;
    }

    /// Returns the batch, and starts the next one.
    pub(crate) fn finish(&mut self) -> ChunkBatch {
        let columns = self.builders.iter_mut().map(ColumnBuilder::finish).collect();
        self.text = 0;
        ChunkBatch { columns, rows: std::mem::take(&mut self.rows) }
    }
}

/// A batch whose numbers are those of its chunk.
pub(crate) struct ChunkBatch {
    columns: Vec<ChunkColumn>,
    rows: usize,
}

impl ChunkBatch {
    /// Returns the batch, with numbers of the input.
    pub(crate) fn into_batch(
        self,
        schema: &SchemaRef,
        number: impl Fn(ChunkNumber, u32) -> i64,
    ) -> RecordBatch {
        let columns = self.columns.into_iter().map(|column| column.into_array(&number)).collect();
        batch(schema, columns, self.rows)
    }
}

/// Returns a batch of columns that are those of the schema.
pub(crate) fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> RecordBatch {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .unwrap_or_else(|error| unreachable!("columns are those of the schema: {error}"))
}

/// A batch of events in any order, for programs that read events without an [`EventScan`].
///
/// Columns that [count events] have the index of the row, or null.
///
/// [`EventScan`]: crate::EventScan
/// [count events]: EventColumn::counts_events
pub struct EventRows {
    schema: SchemaRef,
    rows: RowBuilder,
}

impl EventRows {
    /// Creates an empty batch.
    pub fn new(columns: &[EventColumn]) -> Self {
        EventRows { schema: EventColumn::schema(columns), rows: RowBuilder::new(columns) }
    }

    /// Adds an event.
    pub fn push(&mut self, event: &EventIn<'_>) {
        let row = self.rows.len() as u32;
        self.rows.push(event, &ChunkNumbers { event: row, thread: EventThread::default() });
    }

    /// Returns the batch, and starts the next one.
    pub fn finish(&mut self) -> RecordBatch {
        self.rows.finish().into_batch(&self.schema, |_, number| i64::from(number))
    }
}
