//! Reads the slices of all inputs: one pass that keeps times, tracks and ids.

use super::records::{Length, Operation, PairEvent, Slice, Step};
use crate::builder::member_nanos;
use crate::input::{CurrentInput, ThreadNumbers};
use crate::table::TraceInputs;
use crate::tracks::TrackOwner;
use std::sync::Arc;
use tracemill_join::config::THREADS;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::Error;
use tracemill_trace::event::{KeyHash, hash_field, name_key};
use tracemill_trace::json::member;
use tracemill_trace::observe::{EventRef, InputStart, Look, Observer, SealedChunk, Starter};
use tracemill_trace::order::KeySorter;
use tracemill_trace::run::limits::Quota;

/// Phases of the events that begin a slice.
pub(super) const BEGINS: &[u8] = b"XBbnS";

/// The observer that collects slices.
pub(super) struct SliceReader<'r> {
    pub(super) inputs: TraceInputs<'r>,
    pub(super) input: CurrentInput,
    pub(super) slices: KeySorter<Slice>,
    pub(super) pairs: KeySorter<PairEvent>,
    /// Whether CPU times of threads are read.
    pub(super) reads_thread_times: bool,
    pub(super) quota: Quota,
}

impl Observer for SliceReader<'_> {
    type Chunk = SliceLook;

    fn begin(&mut self, input: &InputStart<'_>) {
        self.input.begin(input, self.inputs.places);
    }

    fn starter(&self) -> Starter<SliceLook> {
        let place = Arc::clone(&self.input.place);
        let reads_thread_times = self.reads_thread_times;
        Box::new(move |_| SliceLook {
            place: Arc::clone(&place),
            reads_thread_times,
            events: 0,
            numbers: ThreadNumbers::default(),
            complete: Vec::new(),
            pairs: Vec::new(),
        })
    }

    fn merge(&mut self, found: SliceLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let input = &mut self.input;
        let numbers = input.numbers.append(&found.numbers);
        self.quota.check(input.numbers.heap(), THREADS)?;
        for CompleteSlice { owner, ts, length, number } in found.complete {
            let track = owner.track(input.base(), &numbers);
            self.slices.push(Slice::new(track, ts, length, input.event_id(number)))?;
        }
        for ChunkPairEvent { operation, ts, number, name, thread_ts, step } in found.pairs {
            let operation = match operation {
                ChunkOperation::Track(owner) => {
                    Operation::of_track(owner.track(input.base(), &numbers))
                }
                ChunkOperation::Async(operation) => operation.of_input(input.number),
            };
            let id = input.event_id(number);
            self.pairs.push(PairEvent { operation, ts, id, name, thread_ts, step })?;
        }
        input.events += chunk.stats.events as i64;
        Ok(())
    }
}

/// An X event of a chunk.
struct CompleteSlice {
    owner: TrackOwner,
    ts: i64,
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
    ts: i64,
    number: u32,
    name: u64,
    thread_ts: i64,
    step: Step,
}

/// The slices of a chunk.
pub(super) struct SliceLook {
    place: Arc<InputPlace>,
    reads_thread_times: bool,
    events: u32,
    numbers: ThreadNumbers,
    complete: Vec<CompleteSlice>,
    pairs: Vec<ChunkPairEvent>,
}

impl Look for SliceLook {
    #[inline]
    fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
        let number = self.events;
        self.events += 1;
        // threads are numbered by all events, as in other tables
        let owner = TrackOwner::of(self.numbers.number(event));
        let phase = event.phase();
        if !matches!(phase, b'X' | b'B' | b'E' | b'b' | b'e' | b'n' | b'S' | b'F') {
            return true;
        }
        let Some(ts) = event.ts().map(|ts| self.place.moved_nanos(ts).floor) else { return true };
        if phase == b'X' {
            let dur = event.dur().filter(|dur| dur.floor >= 0);
            let length = dur.map_or(Length::Missing, |dur| Length::Known(dur.floor as u64));
            self.complete.push(CompleteSlice { owner, ts, length, number });
            return true;
        }
        self.pair(event, owner, ts, number);
        true
    }
}

impl SliceLook {
    fn pair(&mut self, event: &Event<'_>, owner: TrackOwner, ts: i64, number: u32) {
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
        let time = self.reads_thread_times.then(|| member_nanos(event, b"tts")).flatten();
        let thread_ts = time.unwrap_or(i64::MIN);
        self.pairs.push(ChunkPairEvent { operation, ts, number, name, thread_ts, step });
    }
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
