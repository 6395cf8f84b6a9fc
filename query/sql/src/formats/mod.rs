//! Writes results.
//!
//! | format | memory |
//! |---|---|
//! | table | the first 1,000 rows, which decide the widths of columns |
//! | csv, json, ndjson, markdown, arrow | one batch |
//! | parquet | a row group of 131,072 rows |

mod binary;
mod text;

use binary::{ArrowStream, ParquetFile};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use std::io::Write;
use text::{Rows, TextRows};
use tracemill::engine::{QueryError, TableFormat};

/// A result that is written.
pub enum ResultWriter {
    /// One of the text formats.
    Text(TextRows),
    /// Parquet.
    Parquet(Box<ParquetFile>),
    /// An Arrow IPC stream.
    Arrow(Box<ArrowStream>),
}

impl ResultWriter {
    /// Creates the writer of a result with a schema.
    ///
    /// # Errors
    /// Returns an error if the format cannot hold a column.
    pub fn new(format: TableFormat, schema: &SchemaRef) -> Result<Self, QueryError> {
        let rows = match format {
            TableFormat::Parquet => {
                return Ok(ResultWriter::Parquet(Box::new(ParquetFile::new(schema)?)));
            }
            TableFormat::Arrow => {
                return Ok(ResultWriter::Arrow(Box::new(ArrowStream::new(schema)?)));
            }
            TableFormat::Table => Rows::Table,
            TableFormat::Csv => Rows::Csv,
            TableFormat::Json => Rows::Json,
            TableFormat::Ndjson => Rows::Ndjson,
            TableFormat::Markdown => Rows::Markdown,
        };
        Ok(ResultWriter::Text(TextRows::new(rows, schema)))
    }

    /// Writes the rows of a batch.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write(&mut self, batch: &RecordBatch, output: &mut dyn Write) -> Result<(), QueryError> {
        match self {
            ResultWriter::Text(rows) => rows.write(batch, output),
            ResultWriter::Parquet(file) => file.write(batch, output),
            ResultWriter::Arrow(stream) => stream.write(batch, output),
        }
    }

    /// Writes the end of the result.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(self, output: &mut dyn Write) -> Result<(), QueryError> {
        match self {
            ResultWriter::Text(rows) => rows.finish(output),
            ResultWriter::Parquet(file) => file.finish(output),
            ResultWriter::Arrow(stream) => stream.finish(output),
        }
    }
}
