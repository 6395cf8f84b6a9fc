//! The points of flows: events that begin a flow, continue it, or end it.

use crate::tracks::TrackOwner;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::KeyHash;
use tracemill_trace::json::member;
use tracemill_trace::order::Keyed;
use tracemill_trace::record;

/// Phases of the events that begin a slice.
pub(crate) const BEGINS: &[u8] = b"XBbnS";

/// What a point does to its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FlowStep {
    Begin,
    Continue,
    End,
}

record! { enum FlowStep { Begin, Continue, End } }

/// The slice that a point belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Binding {
    /// The innermost slice of the track that is open at the time, or begins at it.
    Around,
    /// The first slice of the track that begins at the time or later.
    Next,
    /// The slice that the event begins.
    Event,
}

record! { enum Binding { Around, Next, Event } }

/// The points of a flow: a hash of categories, name and id, or of the `bind_id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FlowKey {
    high: u64,
    low: u64,
}

record! { impl FlowKey { high: u64, low: u64 } }

impl FlowKey {
    /// Makes the key unique over all inputs.
    pub(crate) fn of_input(self, input: usize) -> Self {
        FlowKey { low: self.low ^ (input as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15), ..self }
    }
}

record! {
    /// A point of a flow.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct FlowPoint {
        pub(crate) track: i64,
        /// The nearest number of nanoseconds.
        pub(crate) ts: i64,
        /// Id of the event.
        pub(crate) id: i64,
        pub(crate) flow: FlowKey,
        pub(crate) step: FlowStep,
        pub(crate) binding: Binding,
    }
}

impl Keyed for FlowPoint {
    type Key = (i64, i64, i64);

    fn key(&self) -> Self::Key {
        (self.track, self.ts, self.id)
    }
}

/// A point of a flow in a chunk.
pub(crate) struct ChunkPoint {
    pub(crate) owner: TrackOwner,
    pub(crate) ts: i64,
    pub(crate) number: u32,
    pub(crate) flow: FlowKey,
    pub(crate) step: FlowStep,
    pub(crate) binding: Binding,
}

/// What an event says about a flow.
pub(crate) struct EventFlow {
    pub(crate) flow: FlowKey,
    pub(crate) step: FlowStep,
    pub(crate) binding: Binding,
}

impl EventFlow {
    /// Returns the flow of an event. Returns `None` if it is not a point of a flow.
    pub(crate) fn of(event: &Event<'_>) -> Option<Self> {
        let is = |key: &[u8], value: &[u8]| member(event.bytes, key) == Some(value);
        let phase = event.phase();
        let (step, binding) = match phase {
            b's' => (FlowStep::Begin, Binding::Around),
            b't' => (FlowStep::Continue, Binding::Around),
            b'f' if is(b"bp", b"\"e\"") => (FlowStep::End, Binding::Around),
            b'f' => (FlowStep::End, Binding::Next),
            _ if !BEGINS.contains(&phase) => return None,
            _ => {
                let bind_id = event.field(Field::BindId)?;
                let step = match (is(b"flow_in", b"true"), is(b"flow_out", b"true")) {
                    (true, true) => FlowStep::Continue,
                    (true, false) => FlowStep::End,
                    (false, true) => FlowStep::Begin,
                    (false, false) => return None,
                };
                let mut hash = KeyHash::<2>::new(b'B');
                hash.value(Some(bind_id));
                let [high, low] = hash.finish();
                return Some(EventFlow {
                    flow: FlowKey { high, low },
                    step,
                    binding: Binding::Event,
                });
            }
        };
        let mut hash = KeyHash::<2>::new(b's');
        for field in [Field::Cat, Field::Name] {
            hash.field(event, field);
        }
        if !hash.id(event) {
            hash.value(event.field(Field::Id2));
        }
        let [high, low] = hash.finish();
        Some(EventFlow { flow: FlowKey { high, low }, step, binding })
    }
}
