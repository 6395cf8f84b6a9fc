//! All inputs as one address space, and where each event stands in it.
//!
//! Inputs stand behind each other in command-line order, so that comparing places compares (file, position). What an
//! input's bytes lie in (a map, memory segments, a spooled file) is known here only. Segments of a pipe overlap: an item
//! that was cut by the end of one is copied to the start of the next, so every item lies in one piece. What lies between
//! items may lie in several.

pub mod direct_mapped;
pub mod entry;
pub mod long_events;
pub mod place;

use crate::run::around::Around;
use crate::store::long_events::LongEvents;
use crate::store::place::{LONG, MOST, Place};
use crate::time::shift::{Shift, Shifts};
use memmap2::MmapMut;
use std::ops::Range;
use std::sync::Arc;
use tracemill_tokenizer::{Mapped, prefetch};

/// How many events before its turn the bytes of an event are asked for, where events are visited out of order.
pub const PREFETCH_AHEAD: usize = 12;

/// Bytes of an event that are asked for.
const PREFETCHED: usize = 256;

/// The bytes of one input.
pub enum Payload {
    /// Nothing at all.
    Empty,
    /// A file, or a pipe that was spooled to one.
    Mapped(Arc<Mapped>),
    /// A pipe that fits into memory.
    Segments(Vec<Segment>),
}

impl From<Option<Mapped>> for Payload {
    fn from(mapped: Option<Mapped>) -> Self {
        mapped.map_or(Payload::Empty, |mapped| Payload::Mapped(Arc::new(mapped)))
    }
}

impl Payload {
    /// How many bytes there are, wherever they lie.
    pub fn len(&self) -> u64 {
        match self {
            Payload::Empty => 0,
            Payload::Mapped(mapped) => mapped.len() as u64,
            Payload::Segments(segments) => {
                segments.last().map_or(0, |last| last.base + last.filled as u64)
            }
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes around an offset, if they are kept.
    pub fn around(&self, offset: u64) -> Option<Around> {
        Store::of_one(self).around(offset, 0..self.len())
    }

    /// Bytes of heap.
    pub fn heap(&self) -> u64 {
        match self {
            Payload::Segments(segments) => segments.iter().map(|s| s.bytes.len() as u64).sum(),
            Payload::Empty | Payload::Mapped(_) => 0,
        }
    }
}

/// A stretch of a pipe, in memory.
pub struct Segment {
    /// Offset in the input of the first byte.
    pub base: u64,
    /// Memory of the segment.
    pub bytes: MmapMut,
    /// Bytes of it that are in use.
    pub filled: usize,
}

impl Segment {
    /// The bytes that were read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}

struct StorePiece<'p> {
    start: u64,
    bytes: &'p [u8],
}

/// The address space over the payloads of all inputs. References only: it is made where it is needed, in the time that it takes to list the pieces.
///
/// Offsets are 40 bits: 1 TiB of input. Cost of a look: a binary search over the pieces (one a file, one a segment of a pipe).
///
/// ```
/// use tracemill_trace::{EventOrder, Limits, Source, Trace};
///
/// let sources = [Source::bytes("a.json", r#"[{"ts":1}]"#), Source::bytes("b.json", r#"[{"ts":2}]"#)];
/// let trace = Trace::open(&sources, &Limits::new(1, 64 << 20, std::env::temp_dir()))?;
/// let store = trace.store();
/// let offsets: Vec<u64> = trace.events(EventOrder::Input).map(|event| event.offset).collect();
/// assert_eq!(offsets, [1, 11]); // the second input stands behind the first
/// assert_eq!(store.slice(11, 8), br#"{"ts":2}"#);
/// assert_eq!(store.copy(8..13), br#"}][{""#); // across the border
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub struct Store<'p> {
    /// By their starts, ascending: a file each, or a segment of a pipe, which may overlap the one before.
    pieces: Vec<StorePiece<'p>>,
    /// A few lists: of what was read, and of what was made.
    long: Vec<&'p LongEvents>,
    /// What is done to the times in it.
    shifts: Option<Arc<Shifts>>,
}

impl<'p> Store<'p> {
    /// Bytes of input that places can address.
    pub const MOST: u64 = MOST;

    /// A store of no inputs, at any time: for sorters that look at no event.
    pub const fn none() -> Self {
        Store { pieces: Vec::new(), long: Vec::new(), shifts: None }
    }

    /// `inputs` are payloads with the offset at which each stands, ascending. Events of 16 KiB and more have no length until
    /// [`Store::with_long`] gives them one.
    pub fn new(inputs: impl Iterator<Item = (u64, &'p Payload)>) -> Self {
        let mut pieces = Vec::new();
        for (start, payload) in inputs {
            match payload {
                Payload::Empty => {}
                Payload::Mapped(mapped) => pieces.push(StorePiece { start, bytes: mapped }),
                Payload::Segments(segments) => pieces.extend(
                    segments.iter().map(|s| StorePiece { start: start + s.base, bytes: s.bytes() }),
                ),
            }
        }
        Store { pieces, long: Vec::new(), shifts: None }
    }

    /// With the lengths of long events, beside those that it knows.
    #[must_use]
    pub fn with_long(mut self, long: &'p LongEvents) -> Self {
        self.long.push(long);
        self
    }

    /// With times that change: whoever compares them by their digits is to know.
    pub fn with_shifts(self, shifts: Option<Arc<Shifts>>) -> Self {
        Store { shifts, ..self }
    }

    /// What is done to the times of an event.
    pub fn shift_of(&self, place: Place) -> Option<&Shift> {
        self.shifts.as_ref()?.at(place.offset()).map(|shift| &**shift)
    }

    /// A store of one input alone: places are offsets in it.
    pub fn of_one(payload: &'p Payload) -> Self {
        Store::new(std::iter::once((0, payload)))
    }

    /// A store of one map alone: places are offsets in it.
    pub fn of_map(bytes: &'p Mapped) -> Self {
        Store::with_map(std::iter::empty(), 0, bytes)
    }

    /// As [`Store::new`], with a map behind all others.
    pub fn with_map(
        before: impl Iterator<Item = (u64, &'p Payload)>,
        start: u64,
        bytes: &'p Mapped,
    ) -> Self {
        let mut store = Store::new(before);
        store.pieces.push(StorePiece { start, bytes });
        store
    }

    /// The same with a payload behind all others, and the long events in it.
    pub fn and(mut self, start: u64, payload: &'p Payload, long: &'p LongEvents) -> Self {
        self.pieces.extend(Store::new(std::iter::once((start, payload))).pieces);
        self.with_long(long)
    }

    /// The same with a payload before all others, which stand behind its end, and the long events in it.
    pub fn with_first(mut self, payload: &'p Payload, long: &'p LongEvents) -> Self {
        self.pieces.splice(..0, Store::of_one(payload).pieces);
        self.with_long(long)
    }

    /// Behind all that it holds.
    pub fn end(&self) -> u64 {
        self.pieces.last().map_or(0, |piece| piece.start + piece.bytes.len() as u64)
    }

    /// The bytes from `offset` to the end of the piece that holds the item there.
    ///
    /// # Panics
    /// If the store has nothing at that offset or before it.
    pub fn from(&self, offset: u64) -> &'p [u8] {
        let after = self.pieces.partition_point(|piece| piece.start <= offset);
        let piece = &self.pieces[after - 1];
        &piece.bytes[(offset - piece.start) as usize..]
    }

    /// The bytes of a range, whatever pieces they lie in; fewer where what is at hand ends.
    pub fn copy(&self, range: Range<u64>) -> Vec<u8> {
        let (mut bytes, mut at) = (Vec::new(), range.start);
        while at < range.end {
            let after = self.pieces.partition_point(|piece| piece.start <= at);
            let Some(piece) = after.checked_sub(1).map(|piece| &self.pieces[piece]) else { break };
            let rest = piece.bytes.get((at - piece.start) as usize..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let most = (range.end - at).min(rest.len() as u64);
            bytes.extend_from_slice(&rest[..most as usize]);
            at += most;
        }
        bytes
    }

    /// The bytes around `offset` in an input, given by its places, if they are at hand.
    pub fn around(&self, offset: u64, input: Range<u64>) -> Option<Around> {
        let from = offset.saturating_sub(Around::TOLD_BY).max(input.start);
        let to = (offset + Around::TOLD_BY).min(input.end);
        let (bytes, at) = (self.copy(from..to), (offset - from) as usize);
        (at <= bytes.len()).then(|| Around::of(&bytes, at))
    }

    /// The bytes of one item: an event, or a value beside the events. Empty where the store does not reach.
    pub fn slice(&self, offset: u64, len: u64) -> &'p [u8] {
        &self.from(offset)[..len as usize]
    }

    /// Asks for the bytes of an event that is copied soon: of the first 256, beyond which the processor asks by itself.
    #[inline]
    pub fn prefetch(&self, place: Place) {
        let bytes = self.from(place.offset());
        let len = place.short_len().map_or(PREFETCHED, |len| PREFETCHED.min(len as usize));
        prefetch(&bytes[..len.min(bytes.len())]);
    }

    /// The bytes of an event, from `{` to `}`.
    ///
    /// # Panics
    /// If it is an event of 16 KiB or more that the store was not told of ([`Store::with_long`]), or one of another store.
    pub fn event(&self, place: Place) -> &'p [u8] {
        self.slice(place.offset(), self.len(place))
    }

    /// How many bytes an event has. Cost: none, or for an event of 16 KiB and more a binary search.
    pub fn len(&self, place: Place) -> u64 {
        match place.0 & LONG {
            LONG => self.long_len(place.offset()),
            len => len,
        }
    }

    #[cold]
    fn long_len(&self, offset: u64) -> u64 {
        let found = self.long.iter().find_map(|long| long.len_at(offset));
        found.expect("every long event was noted when it was found")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_events_are_looked_up() {
        let lists = [vec![(70_000, 100_000)], vec![(5, 16_383)]].map(LongEvents::from);
        let store = Store::new(std::iter::empty()).with_long(&lists[0]).with_long(&lists[1]);
        assert_eq!(store.len(Place::new(5, 16_383, 0)), 16_383);
        assert_eq!(store.len(Place::new(70_000, 100_000, 1)), 100_000);
        assert_eq!(store.len(Place::new(6, 16_382, 1)), 16_382);
    }
}
