//! Events that may cause others, in the order that decides what came before.

use crate::sorted::{Row, SortedRows, Sorter};
use tracemill_analysis::Trace;
use tracemill_analysis::events::causes::CauseEvent;
use tracemill_analysis::value::space::{Space, rank};
use tracemill_trace::Error;

/// The events of a trace by input and time, or as they are written.
pub(crate) struct Ordered<'t> {
    trace: &'t Trace,
    sorted: Option<SortedRows<3, CauseEvent>>,
}

impl<'t> Ordered<'t> {
    /// Sorts the events by time, unless DevTools' order, that of the file, is requested.
    pub(crate) fn new(trace: &'t Trace, as_devtools: bool, space: &Space) -> Result<Self, Error> {
        if as_devtools {
            return Ok(Ordered { trace, sorted: None });
        }
        let mut sorter: Sorter<3, CauseEvent> = space.sorter(2);
        for event in trace.cause_events() {
            let key = [u64::from(event.input), rank(event.ts), event.number];
            sorter.push(Row { key, value: event })?;
        }
        Ok(Ordered { trace, sorted: Some(sorter.finish()?) })
    }

    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = CauseEvent> + '_> {
        match &self.sorted {
            Some(sorted) => Box::new(sorted.iter().map(|row| row.value)),
            None => Box::new(self.trace.cause_events()),
        }
    }
}
