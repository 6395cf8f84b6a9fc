//! The tables `initiator` and `stack`: why events ran, as `tracemill show` says it.

use super::trace::{Analysed, push_causes};
use crate::tables::row_table::{RowTable, number, text};
use crate::tables::rows::{RowBuilder, Value};
use tracemill_causes::{Causes, EventId, EventKey};
use tracemill_trace::Error;

pub(super) static INITIATOR: RowTable = RowTable {
    name: "initiator",
    rows: "one row per event that another event made run",
    columns: &[
        number("event_id", "the event, as event_id of events; null for calls and for B and E"),
        text("event_key", "key of the event, as tracemill show takes it; null for B and E"),
        text("event_name", "name of the event"),
        number("initiator_id", "the event that made it run, as event_id of events"),
        text("initiator_key", "key of that event"),
        text("initiator_name", "name of that event"),
    ],
    push: |traces, rows| push_causes(traces, rows, push_initiators),
};

pub(super) static STACK: RowTable = RowTable {
    name: "stack",
    rows: "one row per function in the stack of an event, innermost first, over asynchronous tasks",
    columns: &[
        number("event_id", "the event, as event_id of events; null for calls and for B and E"),
        text("event_key", "key of the event, as tracemill show takes it; null for B and E"),
        text("event_name", "name of the event"),
        number("level", "0 for the calls around the event, 1 for those that scheduled its task, …"),
        text("task", "name of the task that the calls scheduled; null at level 0"),
        number("depth", "index of the function in its level, from 0, innermost first"),
        text("name", "name of the function; empty if it has none"),
        text("url", "URL of the script"),
        number("line", "line, from 0"),
        number("col", "column, from 0"),
    ],
    push: |traces, rows| push_causes(traces, rows, push_stacks),
};

/// The columns that identify an event.
struct Named {
    id: Option<i64>,
    key: Option<String>,
    name: String,
}

impl Named {
    fn new(event: EventId, analysed: &Analysed<'_>) -> Self {
        let id = event.number().map(|number| analysed.event_id(number));
        let (key, name) = match event.key(analysed.trace) {
            EventKey::Key(key) => (Some(key), event.name(analysed.trace)),
            EventKey::Pair { name, .. } => (None, name),
        };
        Named { id, key, name }
    }

    fn values(&self) -> [Value<'_>; 3] {
        [self.id.into(), self.key.as_deref().into(), (&*self.name).into()]
    }
}

fn push_initiators(analysed: &Analysed<'_>, rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    let causes = Causes::find(analysed.trace, false)?;
    for found in causes.rows(analysed.trace)?.iter() {
        let Some(initiator) = found.initiator else { continue };
        let [event, initiator] = [found.event, initiator].map(|event| Named::new(event, analysed));
        rows.push(&[event.values(), initiator.values()].concat())?;
    }
    Ok(())
}

fn push_stacks(analysed: &Analysed<'_>, rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    let causes = Causes::find(analysed.trace, false)?;
    let place = |place: Option<f64>| place.filter(|place| *place >= 0.0).map(|place| place as i64);
    for found in causes.rows(analysed.trace)?.iter() {
        let event = Named::new(found.event, analysed);
        let levels = causes.stacks.levels(found.stack, analysed.trace, usize::MAX);
        for (level, calls) in (0_i64..).zip(&levels) {
            for (depth, site) in (0_i64..).zip(&calls.sites) {
                let [id, key, name] = event.values();
                rows.push(&[
                    id,
                    key,
                    name,
                    level.into(),
                    calls.task.as_deref().into(),
                    depth.into(),
                    site.function.as_deref().into(),
                    site.url.as_deref().into(),
                    place(site.line).into(),
                    place(site.column).into(),
                ])?;
            }
        }
    }
    Ok(())
}
