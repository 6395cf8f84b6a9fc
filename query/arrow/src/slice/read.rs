//! Reads the slices of all inputs: one pass that keeps times, tracks and ids.

use super::points::{ChunkPoint, EventFlow, FlowPoint};
use super::records::{Length, Operation, PairEvent, RoundedTime, Slice, Step};
use crate::builder::member_nanos;
use crate::input::{CurrentInput, ThreadNumbers};
use crate::table::TraceInputs;
use crate::tracks::TrackOwner;
use std::sync::Arc;
use tracemill_join::config::THREADS;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field, Nanos};
use tracemill_trace::Error;
use tracemill_trace::event::{KeyHash, hash_field, name_key};
use tracemill_trace::json::member;
use tracemill_trace::observe::{EventRef, InputStart, Look, Observer, SealedChunk, Starter};
use tracemill_trace::order::KeySorter;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::time::attos::Attos;

/// What is read in addition to slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliceFacts {
    /// CPU times of threads.
    pub(crate) thread_times: bool,
    /// Points of flows.
    pub(crate) flows: bool,
}

/// The observer that collects slices.
pub(super) struct SliceReader<'r> {
    pub(super) inputs: TraceInputs<'r>,
    pub(super) input: CurrentInput,
    pub(super) slices: KeySorter<Slice>,
    pub(super) pairs: KeySorter<PairEvent>,
    pub(super) points: KeySorter<FlowPoint>,
    pub(super) facts: SliceFacts,
    pub(super) quota: Quota,
}

impl Observer for SliceReader<'_> {
    type Chunk = SliceLook;

    fn begin(&mut self, input: &InputStart<'_>) {
        self.input.begin(input, self.inputs.places);
    }

    fn starter(&self) -> Starter<SliceLook> {
        let place = Arc::clone(&self.input.place);
        let facts = self.facts;
        Box::new(move |_| SliceLook {
            place: Arc::clone(&place),
            facts,
            events: 0,
            numbers: ThreadNumbers::default(),
            complete: Vec::new(),
            pairs: Vec::new(),
            points: Vec::new(),
        })
    }

    fn merge(&mut self, found: SliceLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let input = &mut self.input;
        let numbers = input.numbers.append(&found.numbers);
        self.quota.check(input.numbers.heap(), THREADS)?;
        for CompleteSlice { owner, time, length, number } in found.complete {
            let track = owner.track(input.base(), &numbers);
            self.slices.push(Slice::new(track, time, length, input.event_id(number)))?;
        }
        for ChunkPairEvent { operation, time, number, name, thread_ts, step } in found.pairs {
            let operation = match operation {
                ChunkOperation::Track(owner) => {
                    Operation::of_track(owner.track(input.base(), &numbers))
                }
                ChunkOperation::Async(operation) => operation.of_input(input.number),
            };
            let id = input.event_id(number);
            self.pairs.push(PairEvent { operation, time, id, name, thread_ts, step })?;
        }
        for ChunkPoint { owner, ts, number, flow, step, binding } in found.points {
            let (track, id) = (owner.track(input.base(), &numbers), input.event_id(number));
            let flow = flow.of_input(input.number);
            self.points.push(FlowPoint { track, ts, id, flow, step, binding })?;
        }
        input.events += chunk.stats.events as i64;
        Ok(())
    }
}

/// An X event of a chunk.
struct CompleteSlice {
    owner: TrackOwner,
    time: RoundedTime,
    length: Length,
    number: u32,
}

/// The track or the async operation of a begin or end event in a chunk.
enum ChunkOperation {
    Track(TrackOwner),
    Async(Operation),
}

/// A [`PairEvent`] of a chunk.
struct ChunkPairEvent {
    operation: ChunkOperation,
    time: RoundedTime,
    number: u32,
    name: u64,
    thread_ts: i64,
    step: Step,
}

/// The slices of a chunk.
pub(super) struct SliceLook {
    place: Arc<InputPlace>,
    facts: SliceFacts,
    events: u32,
    numbers: ThreadNumbers,
    complete: Vec<CompleteSlice>,
    pairs: Vec<ChunkPairEvent>,
    points: Vec<ChunkPoint>,
}

impl Look for SliceLook {
    #[inline]
    fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
        let number = self.events;
        self.events += 1;
        // threads are numbered by all events, as in other tables
        let owner = TrackOwner::of(self.numbers.number(event));
        let phase = event.phase();
        let is_of_slice = matches!(phase, b'X' | b'B' | b'E' | b'b' | b'e' | b'n' | b'S' | b'F');
        let flow = if self.facts.flows { EventFlow::of(event) } else { None };
        if !is_of_slice && flow.is_none() {
            return true;
        }
        let Some(ts) = event.ts() else { return true };
        let time = self.moved(rounded(event, ts));
        if let Some(EventFlow { flow, step, binding }) = flow {
            self.points.push(ChunkPoint { owner, ts: time.nearest, number, flow, step, binding });
        }
        if !is_of_slice {
            return true;
        }
        if phase == b'X' {
            self.complete.push(CompleteSlice { owner, time, length: length(event, ts), number });
            return true;
        }
        self.pair(event, owner, time, number);
        true
    }
}

impl SliceLook {
    /// Adds the clock offset of the input.
    fn moved(&self, time: RoundedTime) -> RoundedTime {
        let nearest = Nanos { floor: time.nearest, exact: !time.is_less };
        RoundedTime { nearest: self.place.moved_nanos(nearest).floor, ..time }
    }

    fn pair(&mut self, event: &Event<'_>, owner: TrackOwner, time: RoundedTime, number: u32) {
        let phase = event.phase();
        let step = match phase {
            b'B' | b'b' | b'S' => Step::Begin,
            b'n' => Step::Instant,
            _ => Step::End,
        };
        let (operation, name) = match phase {
            b'B' | b'E' => (ChunkOperation::Track(owner), name_key(event)),
            // the names of async events must be equal, even if they are empty
            _ => (ChunkOperation::Async(operation(event, phase)), async_name(event)),
        };
        let thread_ts = self.facts.thread_times.then(|| member_nanos(event, b"tts")).flatten();
        let thread_ts = thread_ts.unwrap_or(i64::MIN);
        self.pairs.push(ChunkPairEvent { operation, time, number, name, thread_ts, step });
    }
}

/// Returns the time of an event. Digits below a nanosecond are often those of a double, so the nearest
/// number tells which times were equal.
#[inline]
fn rounded(event: &Event<'_>, ts: Nanos) -> RoundedTime {
    let exact = RoundedTime { nearest: ts.floor, is_less: false };
    if ts.exact {
        return exact;
    }
    let ts_attos = event.field(Field::Ts).and_then(Attos::of);
    match ts_attos.map(nearest) {
        Some(nearest) if nearest.wrapping_sub(ts.floor) == 1 => {
            RoundedTime { nearest, is_less: true }
        }
        _ => exact,
    }
}

/// Returns the length of a complete event.
#[inline]
fn length(event: &Event<'_>, ts: Nanos) -> Length {
    let Some(dur) = event.dur().filter(|dur| dur.floor >= 0) else { return Length::Missing };
    let floor = dur.floor as u64;
    let exact = Length::Known { nearest: floor, floor };
    if ts.exact && dur.exact {
        return exact;
    }
    let attos = |field| event.field(field).and_then(Attos::of);
    let (Some(start), Some(dur)) = (attos(Field::Ts), attos(Field::Dur)) else { return exact };
    // the end is rounded, so that slices with equal ends keep them
    let nearest = nearest(start + dur).saturating_sub(rounded(event, ts).nearest) as u64;
    match nearest.abs_diff(floor) {
        0 | 1 => Length::Known { nearest, floor },
        _ => exact,
    }
}

/// Returns the nearest number of nanoseconds.
fn nearest(time: Attos) -> i64 {
    let half = Attos::of(b"0.0005").unwrap_or_default();
    (time + half).floor()
}

fn async_name(event: &Event<'_>) -> u64 {
    hash_field(event, Field::Name).max(1)
}

/// Returns the key of an async id: category, scope and id. Ids of `S` and `F` are others than those of
/// `b`, `e` and `n`.
fn operation(event: &Event<'_>, phase: u8) -> Operation {
    let is_nestable = matches!(phase, b'b' | b'e' | b'n');
    let mut hash = KeyHash::<2>::new(if is_nestable { b'b' } else { b'S' });
    for field in [Field::Cat, Field::Scope] {
        hash.field(event, field);
    }
    if !hash.id(event) {
        hash.value(event.field(Field::Id2));
    }
    let has = |id2, name| member(id2, name).is_some();
    let is_local = event.field_and_rest(Field::Id).is_none()
        && event.field(Field::Id2).is_some_and(|id2| !has(id2, b"global") && has(id2, b"local"));
    Operation::of_id(hash.finish(), is_local)
}
