//! Rows that become batches.

use datafusion::arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, RecordBatch, RecordBatchOptions,
    StringViewBuilder,
};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use std::ops::ControlFlow;
use std::sync::Arc;
use tracemill_arrow::TakeBatch;
use tracemill_trace::{Error, ErrorKind};

/// Maximum number of rows of a batch.
const ROWS: usize = 8192;
/// Number of bytes of text after which a batch ends.
const TEXT: usize = 1 << 20;

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'v> {
    Number(Option<i64>),
    Real(Option<f64>),
    Text(Option<&'v str>),
    Flag(bool),
}

impl Value<'_> {
    /// Returns a count, or null if it exceeds 63 bits.
    pub(super) fn count(count: u64) -> Self {
        Value::Number(i64::try_from(count).ok())
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Number(Some(number))
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(number: Option<i64>) -> Self {
        Value::Number(number)
    }
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(text: &'v str) -> Self {
        Value::Text(Some(text))
    }
}

impl<'v> From<Option<&'v str>> for Value<'v> {
    fn from(text: Option<&'v str>) -> Self {
        Value::Text(text)
    }
}

enum Builder {
    Number(Int64Builder),
    Real(Float64Builder),
    Text(StringViewBuilder),
    Flag(BooleanBuilder),
}

impl Builder {
    fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Int64 => Builder::Number(Int64Builder::new()),
            DataType::Float64 => Builder::Real(Float64Builder::new()),
            DataType::Boolean => Builder::Flag(BooleanBuilder::new()),
            _ => Builder::Text(StringViewBuilder::new()),
        }
    }

    /// Appends a value, and returns the number of its bytes of text.
    fn push(&mut self, value: Value<'_>) -> usize {
        match (self, value) {
            (Builder::Number(builder), Value::Number(number)) => builder.append_option(number),
            (Builder::Real(builder), Value::Real(number)) => builder.append_option(number),
            (Builder::Flag(builder), Value::Flag(flag)) => builder.append_value(flag),
            (Builder::Text(builder), Value::Text(text)) => {
                builder.append_option(text);
                return text.map_or(0, str::len);
            }
            (Builder::Number(builder), _) => builder.append_null(),
            (Builder::Real(builder), _) => builder.append_null(),
            (Builder::Flag(builder), _) => builder.append_null(),
            (Builder::Text(builder), _) => builder.append_null(),
        }
        0
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Number(builder) => Arc::new(builder.finish()),
            Builder::Text(builder) => Arc::new(builder.finish()),
            Builder::Real(builder) => Arc::new(builder.finish()),
            Builder::Flag(builder) => Arc::new(builder.finish()),
        }
    }
}

/// Collects some columns of rows, and passes them on as batches.
pub(super) struct RowBuilder<'r> {
    schema: SchemaRef,
    columns: &'r [usize],
    builders: Vec<Builder>,
    rows: usize,
    text: usize,
    is_stopped: bool,
    take: &'r mut TakeBatch<'r>,
}

impl<'r> RowBuilder<'r> {
    /// Creates a builder for the columns with the given numbers, whose fields are in `schema`.
    pub(super) fn new(
        schema: &SchemaRef,
        columns: &'r [usize],
        take: &'r mut TakeBatch<'_>,
    ) -> Self {
        let builders = schema.fields().iter().map(|field| Builder::new(field.data_type()));
        RowBuilder {
            builders: builders.collect(),
            schema: Arc::clone(schema),
            columns,
            rows: 0,
            text: 0,
            is_stopped: false,
            take,
        }
    }

    /// Returns whether the query wants no more rows.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Returns whether the query wants the column with a name.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.schema.column_with_name(name).is_some()
    }

    /// Adds a row, given the values of all columns of the table.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Cancelled`] if the query wants no more rows.
    pub(super) fn push(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        for (builder, &column) in self.builders.iter_mut().zip(self.columns) {
            self.text += builder.push(values[column]);
        }
        self.rows += 1;
        if self.rows < ROWS && self.text < TEXT { Ok(()) } else { self.finish() }
    }

    /// Passes on the rows of the last batch.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Cancelled`] if the query wants no more rows.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        if self.rows == 0 {
            return Ok(());
        }
        let columns = self.builders.iter_mut().map(Builder::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        (self.rows, self.text) = (0, 0);
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .unwrap_or_else(|error| unreachable!("columns are those of the schema: {error}"));
        match (self.take)(batch) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                self.is_stopped = true;
                Err(ErrorKind::Cancelled.into())
            }
        }
    }
}
