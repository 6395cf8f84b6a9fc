//! A table that an analysis computes: its columns, and a function that passes its rows.

use super::rows::RowBuilder;
use super::threads::{UniqueThreads, unique_threads};
use crate::leaf::TraceScan;
use crate::tables::table::TraceTable;
use crate::traces::Traces;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use std::fmt;
use std::sync::Arc;
use tracemill_analysis::value::clock::Times;
use tracemill_analysis::{ReadRules, Trace, Wanted};
use tracemill_arrow::{IDS_PER_INPUT, ScanEnd, TakeBatch};
use tracemill_trace::{Error, ErrorKind};

/// The type of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Number,
    Text,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) meaning: &'static str,
}

pub(super) const fn number(name: &'static str, meaning: &'static str) -> Column {
    Column { name, kind: Kind::Number, meaning }
}

pub(super) const fn text(name: &'static str, meaning: &'static str) -> Column {
    Column { name, kind: Kind::Text, meaning }
}

/// A table that an analysis computes.
pub(super) struct AnalysedTable {
    pub(super) name: &'static str,
    pub(super) rows: &'static str,
    pub(super) columns: &'static [Column],
    /// Whether the analysis needs causes. Without them, only calls of samples are read.
    pub(super) needs_causes: bool,
    /// Passes all rows to the builder.
    pub(super) push: fn(&Analysed<'_>, &mut RowBuilder<'_>) -> Result<(), Error>,
}

impl fmt::Debug for AnalysedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl TraceTable for &'static AnalysedTable {
    fn name(&self) -> &'static str {
        self.name
    }

    fn rows(&self) -> &'static str {
        self.rows
    }

    fn schema(&self) -> SchemaRef {
        let fields = self.columns.iter().map(|column| {
            let data_type = match column.kind {
                Kind::Number => DataType::Int64,
                Kind::Text => DataType::Utf8View,
            };
            Field::new(column.name, data_type, true)
        });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    fn meaning(&self, column: usize) -> &'static str {
        self.columns[column].meaning
    }

    fn scan(&self, columns: &[usize], _: &[Expr]) -> Result<Arc<dyn TraceScan>> {
        let schema = Arc::new(TraceTable::schema(self).project(columns)?);
        Ok(Arc::new(Analysis { table: self, columns: columns.to_vec(), schema }))
    }
}

/// A scan that analyses the traces.
#[derive(Debug)]
struct Analysis {
    table: &'static AnalysedTable,
    columns: Vec<usize>,
    schema: SchemaRef,
}

impl TraceScan for Analysis {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn run(&self, traces: &Traces, take: &mut TakeBatch<'_>) -> Result<ScanEnd, Error> {
        let causes = self.table.needs_causes;
        let rules = ReadRules {
            wanted: Wanted { causes, ..Wanted::default() },
            times: Times::Auto,
            ignore_refusals: true,
            only_calls: !causes,
            ..ReadRules::default()
        };
        let trace = Trace::read(&traces.sources, rules, &traces.config)?;
        let mut rows = RowBuilder::new(&self.schema, &self.columns, take);
        let has_threads = self.table.columns.iter().position(|column| column.name == "utid");
        let utids = match has_threads.filter(|number| self.columns.contains(number)) {
            Some(_) => unique_threads(traces)?,
            None => UniqueThreads::default(),
        };
        let pushed = (self.table.push)(&Analysed::new(&trace, utids), &mut rows);
        let is_complete = !rows.is_stopped();
        match pushed.and_then(|()| rows.finish()) {
            Err(error) if is_complete || !matches!(error.kind(), ErrorKind::Cancelled) => {
                Err(error)
            }
            _ => Ok(ScanEnd { inputs: trace.inputs, warnings: trace.warnings, is_complete }),
        }
    }
}

/// A trace that was read from all inputs.
pub(super) struct Analysed<'t> {
    pub(super) trace: &'t Trace,
    pub(super) utids: UniqueThreads,
    /// Number of events before each input.
    before: Vec<u64>,
}

impl<'t> Analysed<'t> {
    fn new(trace: &'t Trace, utids: UniqueThreads) -> Self {
        let before = trace.inputs.iter().scan(0, |sum, input| {
            let before = *sum;
            *sum += input.events;
            Some(before)
        });
        Analysed { trace, utids, before: before.collect() }
    }

    /// Returns the name of an input.
    pub(super) fn file(&self, input: usize) -> Option<&'t str> {
        self.trace.inputs.get(input).map(|input| &*input.name)
    }

    /// Returns the index of the input that has an event, by the event's number among all.
    pub(super) fn input_of(&self, number: u64) -> usize {
        self.before.partition_point(|before| *before <= number).saturating_sub(1)
    }

    /// Returns the id of an event in tables, by the event's number among all.
    pub(super) fn event_id(&self, number: u64) -> i64 {
        let input = self.input_of(number);
        input as i64 * IDS_PER_INPUT + (number - self.before[input]) as i64
    }
}
