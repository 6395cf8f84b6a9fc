//! Causes of all events: initiators and stacks as one table.

use crate::event_id::EventId;
use crate::sites::Site;
use crate::sorted::{Row, Sorter};
use crate::stacks::StackId;
use crate::{Causes, StackOf};
use tracemill_analysis::Trace;
use tracemill_trace::spill::{SpillVec, SpilledVec};
use tracemill_trace::{Error, record};

record! {
    /// An event with an initiator, a stack or both.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CauseRow {
        /// The event.
        pub event: EventId,
        /// The event that made it run.
        pub initiator: Option<EventId>,
        /// Its stack, which may be empty.
        pub stack: StackId,
    }
}

/// The cause of an event, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    /// Name of the event that started it, URL of the request, or name of the operator.
    pub name: Option<String>,
    /// DevTools' key of that event or request; `None` for pairs of B and E.
    pub key: Option<String>,
    /// Innermost function with a known file in the stack of that event.
    pub site: Option<Site>,
}

/// Events with causes, by event.
pub struct CauseRows(SpilledVec<CauseRow>);

impl CauseRows {
    /// Returns all rows.
    pub fn iter(&self) -> impl Iterator<Item = CauseRow> + '_ {
        self.0.iter()
    }

    /// Returns the causes of an event; `None` if it has none. Cost: a binary search.
    pub fn of(&self, event: EventId) -> Option<CauseRow> {
        let at = self.0.partition_point(|row| row.event < event);
        self.0.get(at).filter(|row| row.event == event)
    }
}

impl Causes {
    /// Returns all events that have an initiator or a stack. Cost: a sort.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails.
    pub fn rows(&self, trace: &Trace) -> Result<CauseRows, Error> {
        let space = trace.space_of_rows();
        let mut stacks: Sorter<2, StackOf> = space.sorter(4);
        for entry in self.stacks.entries.iter() {
            stacks.push(Row { key: entry.event.sort_key(), value: entry })?;
        }
        let stacks = stacks.finish()?;
        let mut rows: SpillVec<CauseRow> = space.spool(2);
        let mut initiated = self.initiators.by_event().peekable();
        let mut push = |row: CauseRow| rows.push(row);
        for StackOf { event, stack } in stacks.iter().map(|row| row.value) {
            while let Some(other) = initiated.next_if(|other| other.event < event) {
                let initiator = Some(other.initiator);
                push(CauseRow { event: other.event, initiator, stack: StackId::default() })?;
            }
            let initiator = initiated.next_if(|other| other.event == event);
            let initiator = initiator.map(|other| other.initiator);
            push(CauseRow { event, initiator, stack })?;
        }
        for other in initiated {
            let initiator = Some(other.initiator);
            push(CauseRow { event: other.event, initiator, stack: StackId::default() })?;
        }
        Ok(CauseRows(rows.finish()?))
    }
}
