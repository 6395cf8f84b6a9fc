//! Parquet files and Arrow IPC streams.

use crate::errors::format_error;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::writer::StreamWriter;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use tracemill::engine::QueryError;
use tracemill_arrow::{ScanEnd, plain_batches, plain_schema};
use tracemill_trace::run::losses::InputReport;

/// Rows of a row group.
const GROUP: usize = 131_072;

/// Bytes that a writer has produced and that are not written yet.
#[derive(Clone, Default)]
struct Produced(Arc<Mutex<Vec<u8>>>);

impl Produced {
    fn write_to(&self, output: &mut dyn Write) -> Result<(), QueryError> {
        let bytes = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        output.write_all(&bytes).map_err(QueryError::Write)
    }
}

impl Write for Produced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A Parquet file: row groups of 131,072 rows, zstd level 3, statistics of pages, a bloom filter on
/// `name`, and as metadata the version, the inputs, and their numbers of events and losses.
pub struct ParquetFile {
    schema: SchemaRef,
    produced: Produced,
    writer: ArrowWriter<Produced>,
}

impl ParquetFile {
    pub(super) fn new(schema: &SchemaRef) -> Result<Self, QueryError> {
        let schema = plain_schema(schema);
        let level = ZstdLevel::try_new(3).map_err(parquet_error)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_max_row_group_row_count(Some(GROUP))
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_column_bloom_filter_enabled(ColumnPath::from("name"), true)
            .build();
        let produced = Produced::default();
        let writer = ArrowWriter::try_new(produced.clone(), Arc::clone(&schema), Some(properties));
        Ok(ParquetFile { schema, produced, writer: writer.map_err(parquet_error)? })
    }

    pub(super) fn write(
        &mut self,
        batch: &RecordBatch,
        output: &mut dyn Write,
    ) -> Result<(), QueryError> {
        for batch in plain_batches(batch, &self.schema).map_err(format_error)? {
            self.writer.write(&batch).map_err(parquet_error)?;
        }
        self.produced.write_to(output)
    }

    /// Ends the file with facts about the inputs as key-value metadata.
    pub(super) fn finish(
        mut self,
        end: &ScanEnd,
        output: &mut dyn Write,
    ) -> Result<(), QueryError> {
        let names: Vec<&str> = end.inputs.iter().map(|input| &*input.name).collect();
        let events: u64 = end.inputs.iter().map(|input| input.events).sum();
        let lost: u64 = end.inputs.iter().map(InputReport::lost).sum();
        for (key, value) in [
            ("tracemill.version", env!("CARGO_PKG_VERSION").to_owned()),
            ("tracemill.inputs", names.join("\n")),
            ("tracemill.events", events.to_string()),
            ("tracemill.lost", lost.to_string()),
        ] {
            self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        self.writer.close().map_err(parquet_error)?;
        self.produced.write_to(output)
    }
}

fn parquet_error(error: ParquetError) -> QueryError {
    QueryError::Write(io::Error::other(error))
}

/// An Arrow IPC stream.
pub struct ArrowStream {
    schema: SchemaRef,
    produced: Produced,
    writer: StreamWriter<Produced>,
}

impl ArrowStream {
    pub(super) fn new(schema: &SchemaRef) -> Result<Self, QueryError> {
        let (schema, produced) = (plain_schema(schema), Produced::default());
        let writer = StreamWriter::try_new(produced.clone(), &schema).map_err(format_error)?;
        Ok(ArrowStream { schema, produced, writer })
    }

    pub(super) fn write(
        &mut self,
        batch: &RecordBatch,
        output: &mut dyn Write,
    ) -> Result<(), QueryError> {
        for batch in plain_batches(batch, &self.schema).map_err(format_error)? {
            self.writer.write(&batch).map_err(format_error)?;
        }
        self.produced.write_to(output)
    }

    pub(super) fn finish(mut self, output: &mut dyn Write) -> Result<(), QueryError> {
        self.writer.finish().map_err(format_error)?;
        self.produced.write_to(output)
    }
}
