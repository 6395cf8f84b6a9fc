//! Writes results.
//!
//! | format | memory |
//! |---|---|
//! | table | the first 1,000 rows, which decide the widths of columns |
//! | csv, json, ndjson, markdown, arrow | one batch |
//! | parquet | a row group of 131,072 rows |
//! | trace | 16 bytes per event that rows name, on disk beyond its lease |

mod binary;
mod events;
mod text;

use binary::{ArrowStream, ParquetFile};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use events::EventNames;
use std::io::Write;
use text::{Rows, TextRows};
use tracemill::engine::{Query, QueryError, TableFormat};
use tracemill_arrow::ScanEnd;
use tracemill_pipeline::EventList;

/// A result that is written.
pub enum ResultWriter {
    /// One of the text formats.
    Text(TextRows),
    /// Parquet.
    Parquet(Box<ParquetFile>),
    /// An Arrow IPC stream.
    Arrow(Box<ArrowStream>),
    /// The events that rows name, which are collected instead of written.
    Events(Box<EventNames>),
}

impl ResultWriter {
    /// Creates the writer of the result of a query, with a schema.
    ///
    /// # Errors
    /// Returns an error if the format cannot hold a column, or needs one that is missing.
    pub fn new(query: &Query<'_>, schema: &SchemaRef) -> Result<Self, QueryError> {
        let rows = match query.format {
            TableFormat::Trace => {
                return Ok(ResultWriter::Events(Box::new(EventNames::new(query, schema)?)));
            }
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
            ResultWriter::Events(events) => events.push(batch),
        }
    }

    /// Writes the end of the result, given the end of the scan. Returns the events that were collected,
    /// if the format is a trace.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(
        self,
        end: &ScanEnd,
        output: &mut dyn Write,
    ) -> Result<Option<EventList>, QueryError> {
        match self {
            ResultWriter::Text(rows) => rows.finish(output)?,
            ResultWriter::Parquet(file) => file.finish(end, output)?,
            ResultWriter::Arrow(stream) => stream.finish(output)?,
            ResultWriter::Events(events) => return events.finish().map(Some),
        }
        Ok(None)
    }
}
