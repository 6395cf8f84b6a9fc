//! Stacks that continue with those of initiators, in traces by the Trace Event Format.
//!
//! ```text
//!   initiators ─────────────┐ joined by event ──┐ joined by initiator ──> jumps of stacks
//!   positions in charts ────┴───────────────────┘
//! ```
//!
//! Cost: a walk over each flame chart if any event has an initiator, and sorts of these events.

use crate::bloom_filter::BloomFilter;
use crate::event_id::EventId;
use crate::initiators::InitiatorTable;
use crate::sorted::{Row, SortedRows, Sorter};
use crate::tasks::{Jump, Position};
use tracemill_analysis::Trace;
use tracemill_analysis::value::space::Space;
use tracemill_trace::Error;

/// Returns the jumps from events to their initiators, by [`Position::key`] of the event.
///
/// # Errors
/// Returns an I/O error if a temporary file fails.
pub(crate) fn jumps(
    trace: &Trace,
    initiators: &InitiatorTable,
    space: &Space,
) -> Result<SortedRows<1, Jump>, Error> {
    let mut jumps: Sorter<1, Jump> = space.sorter(8);
    if initiators.by_event().next().is_none() {
        return jumps.finish();
    }
    let positions = positions(trace, initiators, space)?;
    let mut events: Sorter<3, Position> = space.sorter(8);
    let mut of_events = positions.iter().peekable();
    for row in initiators.by_event() {
        let key = row.event.sort_key();
        while of_events.next_if(|row| row.key < key).is_some() {}
        if let Some(found) = of_events.peek().filter(|row| row.key == key) {
            let [first, second] = row.initiator.sort_key();
            events.push(Row { key: [first, second, found.value.key()], value: found.value })?;
        }
    }
    let mut of_initiators = positions.iter().peekable();
    for Row { key: [first, second, _], value: event } in events.finish()?.iter() {
        let key = [first, second];
        while of_initiators.next_if(|row| row.key < key).is_some() {}
        let found = of_initiators.peek().filter(|row| row.key == key);
        if let Some(to) = found.map(|row| row.value).filter(|to| to.is_before(event)) {
            let task = trace.kinds()[EventId::kind_of_key(key) as usize].name;
            jumps.push(Row { key: [event.key()], value: Jump { to, task } })?;
        }
    }
    jumps.finish()
}

/// Returns the positions of events with initiators, and of initiators, by
/// [`EventId::sort_key`].
fn positions(
    trace: &Trace,
    initiators: &InitiatorTable,
    space: &Space,
) -> Result<SortedRows<2, Position>, Error> {
    let mut filter = BloomFilter::default();
    for row in initiators.by_event() {
        filter.insert(row.event.sort_key());
        filter.insert(row.initiator.sort_key());
    }
    let mut positions: Sorter<2, Position> = space.sorter(8);
    for (number, thread) in (0u32..).zip(&trace.threads).filter(|(_, thread)| thread.entries() > 0)
    {
        let track = trace.track(thread)?;
        for (ordinal, placed) in (0u32..).zip(track.entries()) {
            let entry = placed.entry;
            if entry.is_call() {
                continue;
            }
            let key = EventId::of_entry(&entry, number as usize).sort_key();
            if filter.has(key) {
                let value = Position { thread: number, ordinal, ts: entry.ts };
                positions.push(Row { key, value })?;
            }
        }
    }
    positions.finish()
}
