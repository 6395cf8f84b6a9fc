//! Small tables of facts about inputs: `trace_file`, `metadata`, `stats`, `trace_bounds`.
//!
//! An index of the only input answers all of them but `metadata`.

use super::table::TraceTable;
use crate::leaf::TraceScan;
use crate::traces::Traces;
use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::Expr;
use std::sync::Arc;
use tracemill_arrow::{ScanEnd, TakeBatch};
use tracemill_join::inputs::{of_inputs, scan};
use tracemill_tokenizer::{parse, to_text};
use tracemill_trace::Error;
use tracemill_trace::event::envelope::KeyValue;
use tracemill_trace::input::expand;
use tracemill_trace::json::content;
use tracemill_trace::observe::{Needs, Nothing, Observer, Scanned, SealedChunk, Starter};
use tracemill_trace::read::InputWarning;

/// Bytes of text after which a batch ends.
const TEXT: usize = 1 << 20;

/// A table of facts about inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactTable {
    /// `trace_file`: the inputs.
    TraceFile,
    /// `metadata`: top-level keys of the inputs.
    Metadata,
    /// `stats`: losses of damaged inputs.
    Stats,
    /// `trace_bounds`: the time range of all events.
    TraceBounds,
}

/// A column: name, type, meaning.
struct FactColumn(&'static str, DataType, &'static str);

const FILE: FactColumn = FactColumn("file", DataType::Utf8View, "name of the input");

impl FactTable {
    /// All tables.
    pub const ALL: [FactTable; 4] =
        [FactTable::TraceFile, FactTable::Metadata, FactTable::Stats, FactTable::TraceBounds];

    fn columns(self) -> &'static [FactColumn] {
        use DataType::{Boolean, Int64, Utf8View};
        match self {
            FactTable::TraceFile => {
                &const {
                    [
                        FILE,
                        FactColumn("size", Int64, "bytes, after decompression"),
                        FactColumn("encoding", Utf8View, "gzip, zstd or utf-16, if any"),
                        FactColumn("events", Int64, "number of events"),
                        FactColumn("sorted", Boolean, "whether events are in the order of merge"),
                        FactColumn(
                            "lost",
                            Int64,
                            "number of events and other parts lost to damage",
                        ),
                        FactColumn("indexed", Boolean, "whether a current index has these facts"),
                    ]
                }
            }
            FactTable::Metadata => {
                &const {
                    [
                        FILE,
                        FactColumn("name", Utf8View, "top-level key, outside of traceEvents"),
                        FactColumn("key_type", Utf8View, "single"),
                        FactColumn("int_value", Int64, "value, if it is an integer"),
                        FactColumn("str_value", Utf8View, "value as text, else as JSON"),
                    ]
                }
            }
            FactTable::Stats => {
                &const {
                    [
                        FILE,
                        FactColumn("name", Utf8View, "kind of damage"),
                        FactColumn("severity", Utf8View, "data_loss or info"),
                        FactColumn("value", Int64, "number of losses"),
                    ]
                }
            }
            FactTable::TraceBounds => {
                &const {
                    [
                        FactColumn("start_ts", Int64, "start of the trace in nanoseconds"),
                        FactColumn("end_ts", Int64, "greatest end of an event in nanoseconds"),
                    ]
                }
            }
        }
    }
}

impl TraceTable for FactTable {
    fn name(&self) -> &'static str {
        match self {
            FactTable::TraceFile => "trace_file",
            FactTable::Metadata => "metadata",
            FactTable::Stats => "stats",
            FactTable::TraceBounds => "trace_bounds",
        }
    }

    fn rows(&self) -> &'static str {
        match self {
            FactTable::TraceFile => "one row per input",
            FactTable::Metadata => "one row per top-level key of an input",
            FactTable::Stats => "one row per kind of damage in an input",
            FactTable::TraceBounds => "one row, for all inputs together",
        }
    }

    fn schema(&self) -> SchemaRef {
        let field = |column: &FactColumn| Field::new(column.0, column.1.clone(), true);
        Arc::new(Schema::new(self.columns().iter().map(field).collect::<Vec<_>>()))
    }

    fn meaning(&self, column: usize) -> &'static str {
        self.columns()[column].2
    }

    fn scan(&self, columns: &[usize], _: &[Expr]) -> DataFusionResult<Arc<dyn TraceScan>> {
        let schema = Arc::new(self.schema().project(columns)?);
        Ok(Arc::new(FactScan { table: *self, columns: columns.to_vec(), schema }))
    }
}

/// A scan of some columns of a table of facts.
#[derive(Debug)]
struct FactScan {
    table: FactTable,
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl TraceScan for FactScan {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn run(&self, traces: &Traces, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let mut rows = FactRows::new(self.table);
        let mut end = ScanEnd { is_complete: true, ..ScanEnd::default() };
        match self.table {
            FactTable::TraceBounds => {
                let (start, end) = traces.bounds()?.unzip();
                rows.push([Fact::Number(start), Fact::Number(end)]);
            }
            FactTable::Metadata => {
                let is_over = &mut |rows: &mut FactRows| take(rows.batch(self)).is_break();
                match metadata(traces, &mut rows, is_over)? {
                    Some(read) => end = read,
                    None => return Ok(ScanEnd::default()),
                }
            }
            FactTable::TraceFile | FactTable::Stats => {
                end = of_each_input(traces, self.table, &mut rows)?;
            }
        }
        match take(rows.batch(self)).is_break() {
            true => Ok(ScanEnd::default()),
            false => Ok(end),
        }
    }
}

/// Adds the rows of each input. Files of folders that are not traces are left out.
fn of_each_input(traces: &Traces, table: FactTable, rows: &mut FactRows) -> Result<ScanEnd, Error> {
    let (mut end, mut left_out) = (ScanEnd::default(), Vec::new());
    for input in expand(&traces.sources)? {
        let report = match traces.info(std::slice::from_ref(&input.source)) {
            Err(error) if input.is_found() && error.is_no_trace() => {
                InputWarning::leave_out(&mut left_out, error.to_string());
                continue;
            }
            report => report?,
        };
        for input in &report.inputs {
            let file = || Fact::Text(Some(input.name.clone()));
            if table == FactTable::TraceFile {
                rows.push([
                    file(),
                    Fact::count(input.bytes),
                    Fact::Text(input.encoding.map(str::to_owned)),
                    Fact::count(input.events),
                    Fact::Flag(report.sorted),
                    Fact::count(input.lost()),
                    Fact::Flag(report.index.is_some()),
                ]);
                continue;
            }
            let losses = input.losses.iter().map(|(kind, tally)| (kind.name(), tally.count));
            let odd = [("unclosed", input.unclosed), ("separators", input.odd_separators)];
            let odd = odd.into_iter().filter(|(_, count)| *count > 0);
            let losses = losses.map(|loss| ("data_loss", loss));
            for (severity, (name, count)) in losses.chain(odd.map(|found| ("info", found))) {
                let [name, severity] = [name, severity].map(|text| Fact::Text(Some(text.into())));
                rows.push([file(), name, severity, Fact::count(count)]);
            }
        }
        end.inputs.extend(report.inputs);
        end.warnings.extend(report.warnings);
    }
    end.warnings.extend(left_out.into_iter().map(Into::into));
    Ok(ScanEnd { is_complete: true, ..end })
}

/// Keeps the bytes of packed inputs, so that values can be read after the scan.
struct KeptBytes;

impl Observer for KeptBytes {
    type Chunk = ();

    fn needs(&self) -> Needs {
        Needs { input_bytes: true, ..Needs::NONE }
    }

    fn starter(&self) -> Starter<()> {
        Box::new(|_| ())
    }

    fn merge(&mut self, _: (), _: &SealedChunk<'_>) -> Result<(), Error> {
        Ok(())
    }
}

/// Adds the top-level keys of all inputs. Calls `is_over` when a batch is full. Returns `None` if
/// it stopped the scan.
fn metadata(
    traces: &Traces,
    rows: &mut FactRows,
    is_over: &mut dyn FnMut(&mut FactRows) -> bool,
) -> Result<Option<ScanEnd>, Error> {
    let Scanned { inputs, index, .. } = scan(&traces.sources, &traces.config, Nothing, KeptBytes)?;
    let store = inputs.store();
    for KeyValue { key, offset, len } in index.documents.iter().flat_map(|found| &found.keys) {
        let payload = inputs.payloads.iter().rev().find(|payload| payload.base <= *offset);
        let file = payload.map(|payload| inputs.reports[payload.input].name.clone());
        let value = store.copy(*offset..offset + len);
        let mut scratch = Vec::new();
        let text = to_text(content(&value, &mut scratch));
        let name = to_text(content(key, &mut Vec::new()));
        let number = parse(&value);
        let texts = [Some(name), Some("single".to_owned())].map(Fact::Text);
        let [name, key_type] = texts;
        rows.push([Fact::Text(file), name, key_type, Fact::Number(number), Fact::Text(Some(text))]);
        if rows.text > TEXT && is_over(rows) {
            return Ok(None);
        }
    }
    inputs.check_unchanged()?;
    let warnings = of_inputs(&inputs).collect();
    Ok(Some(ScanEnd { inputs: inputs.reports, warnings, is_complete: true }))
}

/// A value of a row.
enum Fact {
    Text(Option<String>),
    Number(Option<i64>),
    Flag(bool),
}

impl Fact {
    fn count(count: u64) -> Self {
        Fact::Number(i64::try_from(count).ok())
    }
}

/// The values of a column.
enum FactValues {
    Texts(Vec<Option<String>>),
    Numbers(Vec<Option<i64>>),
    Flags(Vec<bool>),
}

/// Rows of a table of facts.
struct FactRows {
    columns: Vec<FactValues>,
    /// Bytes of text since the last batch.
    text: usize,
}

impl FactRows {
    fn new(table: FactTable) -> Self {
        let values = |column: &FactColumn| match column.1 {
            DataType::Int64 => FactValues::Numbers(Vec::new()),
            DataType::Boolean => FactValues::Flags(Vec::new()),
            _ => FactValues::Texts(Vec::new()),
        };
        FactRows { columns: table.columns().iter().map(values).collect(), text: 0 }
    }

    /// Adds a row with a value for each column.
    fn push<const N: usize>(&mut self, row: [Fact; N]) {
        for (column, fact) in self.columns.iter_mut().zip(row) {
            match (column, fact) {
                (FactValues::Texts(all), Fact::Text(text)) => {
                    self.text += text.as_ref().map_or(0, String::len);
                    all.push(text);
                }
                (FactValues::Numbers(all), Fact::Number(number)) => all.push(number),
                (FactValues::Flags(all), Fact::Flag(flag)) => all.push(flag),
                _ => unreachable!("rows have the types of their columns"),
            }
        }
    }

    /// Returns the columns of a scan, and removes the rows.
    fn batch(&mut self, scan: &FactScan) -> RecordBatch {
        let columns: Vec<ArrayRef> = self.columns.iter_mut().map(FactValues::take).collect();
        self.text = 0;
        let batch = RecordBatch::try_new(scan.table.schema(), columns);
        batch
            .and_then(|batch| batch.project(&scan.columns))
            .unwrap_or_else(|error| unreachable!("columns are those of the schema: {error}"))
    }
}

impl FactValues {
    fn take(&mut self) -> ArrayRef {
        match self {
            FactValues::Texts(all) => Arc::new(StringViewArray::from_iter(all.drain(..))),
            FactValues::Numbers(all) => Arc::new(Int64Array::from_iter(all.drain(..))),
            FactValues::Flags(all) => Arc::new(BooleanArray::from_iter(all.drain(..).map(Some))),
        }
    }
}
