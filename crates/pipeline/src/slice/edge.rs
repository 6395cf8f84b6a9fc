//! Records the synthetic events at the edges of windows, and creates them in order.
//!
//! At the start of a window open events are re-opened in their order, then flows in the order of
//! their first inside steps, because viewers bind flows to the slices around them. At the end of a
//! window all open events are closed: first the events that begin in the window, then the re-opened
//! events, each time the latest first.

use super::synthetic::SyntheticEvents;
use std::cmp::Ordering;
use tracemill_tokenizer::{Field, fields_of};
use tracemill_trace::event::PairKind;
use tracemill_trace::json::patch::Patches;
use tracemill_trace::json::push_micros;
use tracemill_trace::order::{Keyed, Order, SortedRecords};
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::time::windows::{TimeSpan, Windows};

/// A kind of synthetic event; the order is that within a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum EdgeKind {
    /// A begin event, or the last value of a counter, at the start.
    Reopened,
    /// A flow begin event at the start.
    Flow,
    /// The end event of a begin event in the window.
    ClosedOwn,
    /// The end event of a re-opened event.
    Closed,
}

record! { enum EdgeKind { Reopened, Flow, ClosedOwn, Closed } }

impl EdgeKind {
    /// Returns whether events of this kind are sorted latest first.
    fn is_reversed(self) -> bool {
        matches!(self, EdgeKind::ClosedOwn | EdgeKind::Closed)
    }
}

record! {
    /// A synthetic event to create.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct EdgeEvent {
        pub(super) window: u32,
        pub(super) turn: EdgeKind,
        pub(super) kind: PairKind,
        /// The begin event that the edge is derived from.
        pub(super) begin: Entry,
        /// The event that determines the order of this event: the begin event, or the first inside
        /// step of a re-opened flow.
        pub(super) number: Entry,
    }
}

impl Keyed for EdgeEvent {
    /// Window, kind and time.
    type Key = u128;

    fn key(&self) -> u128 {
        let time = self.number.time as u64 ^ 1 << 63;
        let time = if self.turn.is_reversed() { !time } else { time };
        u128::from(self.window) << 72 | u128::from(self.turn as u8) << 64 | u128::from(time)
    }

    fn tie(&self, other: &Self, order: Order<'_, '_>) -> Ordering {
        let by_number = order.compare(&self.number, &other.number);
        if self.turn.is_reversed() { by_number.reverse() } else { by_number }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EdgeCounts {
    pub(super) opened: u64,
    pub(super) closed: u64,
    pub(super) counters: u64,
}

/// Creates the synthetic events in order.
pub(super) fn make(
    all: &SortedRecords<EdgeEvent>,
    windows: &Windows,
    store: &Store<'_>,
    synthetic: &mut SyntheticEvents,
) -> Result<EdgeCounts, Error> {
    let mut counts = EdgeCounts::default();
    all.sorted(Order(store)).try_for_each(|edge| {
        let TimeSpan { from, to } = windows.0[edge.window as usize];
        match (edge.turn, edge.kind) {
            (EdgeKind::ClosedOwn | EdgeKind::Closed, kind) => {
                counts.closed += 1;
                return synthetic.event(&end_of(store, edge.begin, kind, to));
            }
            (_, PairKind::Counter) => counts.counters += 1,
            _ => counts.opened += 1,
        }
        synthetic.event_of(edge.begin, &at(store, edge.begin, from))
    })?;
    Ok(counts)
}

/// Returns a copy of an event with `ts` set to `time`.
pub(super) fn at(store: &Store<'_>, entry: Entry, time: i64) -> Vec<u8> {
    let bytes = store.event(entry.place);
    let spans = fields_of(bytes);
    let mut text = Vec::new();
    push_micros(time, &mut text);
    let mut patches = Patches::default();
    patches.field(&spans.of(bytes), Field::Ts, &text);
    patches.apply(bytes)
}

/// Returns a synthetic end event for a begin event.
fn end_of(store: &Store<'_>, begin: Entry, kind: PairKind, time: i64) -> Vec<u8> {
    const FIELDS: [Field; 9] = [
        Field::Cat,
        Field::Id,
        Field::Id2,
        Field::Name,
        Field::Ph,
        Field::Pid,
        Field::Scope,
        Field::Tid,
        Field::Ts,
    ];
    let bytes = store.event(begin.place);
    let spans = fields_of(bytes);
    let mut out = b"{\"args\":{}".to_vec();
    for field in FIELDS {
        let Some(value) = spans.field(bytes, field) else { continue };
        out.extend_from_slice(format!(",\"{}\":", field.key()).as_bytes());
        match field {
            Field::Ph => out.extend_from_slice(format!("\"{}\"", kind.end()).as_bytes()),
            Field::Ts => {
                let quote: &[u8] = if value.starts_with(b"\"") { b"\"" } else { b"" };
                out.extend_from_slice(quote);
                push_micros(time, &mut out);
                out.extend_from_slice(quote);
            }
            _ => out.extend_from_slice(value),
        }
    }
    out.push(b'}');
    out
}
