//! The trace that all inputs are together.

use super::threads::{UniqueThreads, unique_threads};
use crate::tables::rows::RowBuilder;
use crate::traces::Traces;
use tracemill_analysis::value::clock::Times;
use tracemill_analysis::{ReadRules, Trace, Wanted};
use tracemill_arrow::{IDS_PER_INPUT, ScanEnd};
use tracemill_trace::Error;

/// Passes the rows of an analysis.
type Push = fn(&Analysed<'_>, &mut RowBuilder<'_>) -> Result<(), Error>;

/// Reads the calls of samples, and passes the rows of `push`. Reads the numbers of threads too if
/// the query wants the column `utid`.
pub(super) fn push_calls(
    traces: &Traces,
    rows: &mut RowBuilder<'_>,
    push: Push,
) -> Result<ScanEnd, Error> {
    let rules = ReadRules { only_calls: true, ..rules() };
    let trace = Trace::read(&traces.sources, rules, &traces.config)?;
    let utids = match rows.wants("utid") {
        true => unique_threads(traces)?,
        false => UniqueThreads::default(),
    };
    push(&Analysed::new(&trace, utids), rows)?;
    Ok(end_of(trace))
}

/// Reads all events with the data of causes, and passes the rows of `push`.
pub(super) fn push_causes(
    traces: &Traces,
    rows: &mut RowBuilder<'_>,
    push: Push,
) -> Result<ScanEnd, Error> {
    let wanted = Wanted { causes: true, ..Wanted::default() };
    let rules = ReadRules { wanted, ..rules() };
    let trace = Trace::read(&traces.sources, rules, &traces.config)?;
    push(&Analysed::new(&trace, UniqueThreads::default()), rows)?;
    Ok(end_of(trace))
}

fn rules() -> ReadRules {
    ReadRules { times: Times::Auto, ignore_refusals: true, ..ReadRules::default() }
}

fn end_of(trace: Trace) -> ScanEnd {
    ScanEnd { inputs: trace.inputs, warnings: trace.warnings, is_complete: true }
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
    fn input_of(&self, number: u64) -> usize {
        self.before.partition_point(|before| *before <= number).saturating_sub(1)
    }

    /// Returns the id of an event in tables, by the event's number among all.
    pub(super) fn event_id(&self, number: u64) -> i64 {
        let input = self.input_of(number);
        input as i64 * IDS_PER_INPUT + (number - self.before[input]) as i64
    }
}
