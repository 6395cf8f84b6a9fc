//! All inputs as one address space, in which every event has an offset.
//!
//! Inputs follow each other in command-line order, so comparing places compares (file, position).
//! Only this module knows where bytes are stored: in a map, in memory segments or in a spooled
//! file. Segments of a pipe overlap: an item cut at the end of a segment is repeated at the start
//! of the next segment. So every item is contiguous; bytes between items may be split.

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

/// Number of events to prefetch ahead when events are visited out of order.
pub const PREFETCH_AHEAD: usize = 12;

const PREFETCHED: usize = 256;

/// The bytes of one input.
pub enum Payload {
    /// No bytes.
    Empty,
    /// A mapped file, or a pipe spooled to a file.
    Mapped(Arc<Mapped>),
    /// A pipe in memory.
    Segments(Vec<Segment>),
}

impl From<Option<Mapped>> for Payload {
    fn from(mapped: Option<Mapped>) -> Self {
        mapped.map_or(Payload::Empty, |mapped| Payload::Mapped(Arc::new(mapped)))
    }
}

impl Payload {
    /// Returns the length of the input in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Payload::Empty => 0,
            Payload::Mapped(mapped) => mapped.len() as u64,
            Payload::Segments(segments) => {
                segments.last().map_or(0, |last| last.base + last.filled as u64)
            }
        }
    }

    /// Returns whether the input is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes around an offset, if they are kept.
    pub fn around(&self, offset: u64) -> Option<Around> {
        Store::of_one(self).around(offset, 0..self.len())
    }

    /// Returns the heap use in bytes.
    pub fn heap(&self) -> u64 {
        match self {
            Payload::Segments(segments) => segments.iter().map(|s| s.bytes.len() as u64).sum(),
            Payload::Empty | Payload::Mapped(_) => 0,
        }
    }
}

/// A part of a pipe, in memory.
pub struct Segment {
    /// Offset of the first byte in the input.
    pub base: u64,
    /// Memory of the segment.
    pub bytes: MmapMut,
    /// Number of bytes in use.
    pub filled: usize,
}

impl Segment {
    /// Returns the bytes in use.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}

struct StorePiece<'p> {
    start: u64,
    bytes: &'p [u8],
}

/// The address space over all inputs. Creating a store costs a reference per file or pipe segment.
///
/// Offsets have 40 bits: 1 TiB of input. Cost of an access: a binary search over the pieces.
///
/// ```
/// use tracemill_trace::{EventOrder, Limits, Source, Trace};
///
/// let sources = [Source::bytes("a.json", r#"[{"ts":1}]"#), Source::bytes("b.json", r#"[{"ts":2}]"#)];
/// let trace = Trace::open(&sources, &Limits::new(1, 64 << 20, std::env::temp_dir()))?;
/// let store = trace.store();
/// let offsets: Vec<u64> = trace.events(EventOrder::Input).map(|event| event.offset).collect();
/// assert_eq!(offsets, [1, 11]); // the second input follows the first
/// assert_eq!(store.slice(11, 8), br#"{"ts":2}"#);
/// assert_eq!(store.copy(8..13), br#"}][{""#); // across the border
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub struct Store<'p> {
    /// Pieces by ascending start: files, or segments. A segment may overlap the previous segment.
    pieces: Vec<StorePiece<'p>>,
    /// Lists of long events, for inputs and for synthetic events.
    long: Vec<&'p LongEvents>,
    /// Clock offsets and factors to apply to times.
    shifts: Option<Arc<Shifts>>,
}

impl<'p> Store<'p> {
    /// Maximum bytes of input that places can address.
    pub const MOST: u64 = MOST;

    /// Creates a store without inputs, for sorters that read no events.
    pub const fn none() -> Self {
        Store { pieces: Vec::new(), long: Vec::new(), shifts: None }
    }

    /// Creates a store of payloads with ascending start offsets. [`Store::with_long`] adds the
    /// lengths of events of 16 KiB and more.
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

    /// Adds the lengths of long events.
    #[must_use]
    pub fn with_long(mut self, long: &'p LongEvents) -> Self {
        self.long.push(long);
        self
    }

    /// Sets the factors and offsets of times, so that comparisons use the changed times.
    pub fn with_shifts(self, shifts: Option<Arc<Shifts>>) -> Self {
        Store { shifts, ..self }
    }

    /// Returns the factor and offset for the times of an event.
    pub fn shift_of(&self, place: Place) -> Option<&Shift> {
        self.shifts.as_ref()?.at(place.offset()).map(|shift| &**shift)
    }

    /// Creates a store of one input, whose offsets begin at 0.
    pub fn of_one(payload: &'p Payload) -> Self {
        Store::new(std::iter::once((0, payload)))
    }

    /// Creates a store of one map, whose offsets begin at 0.
    pub fn of_map(bytes: &'p Mapped) -> Self {
        Store::with_map(std::iter::empty(), 0, bytes)
    }

    /// Creates a store of payloads like [`Store::new`], followed by a map.
    pub fn with_map(
        before: impl Iterator<Item = (u64, &'p Payload)>,
        start: u64,
        bytes: &'p Mapped,
    ) -> Self {
        let mut store = Store::new(before);
        store.pieces.push(StorePiece { start, bytes });
        store
    }

    /// Adds a payload after all others, with its long events.
    pub fn and(mut self, start: u64, payload: &'p Payload, long: &'p LongEvents) -> Self {
        self.pieces.extend(Store::new(std::iter::once((start, payload))).pieces);
        self.with_long(long)
    }

    /// Adds a payload before all others, with its long events.
    pub fn with_first(mut self, payload: &'p Payload, long: &'p LongEvents) -> Self {
        self.pieces.splice(..0, Store::of_one(payload).pieces);
        self.with_long(long)
    }

    /// Returns the offset after the last byte.
    pub fn end(&self) -> u64 {
        self.pieces.last().map_or(0, |piece| piece.start + piece.bytes.len() as u64)
    }

    /// Returns the bytes from `offset` to the end of the piece that contains the item at `offset`.
    ///
    /// # Panics
    /// Panics if the store has no bytes at or before `offset`.
    pub fn from(&self, offset: u64) -> &'p [u8] {
        let after = self.pieces.partition_point(|piece| piece.start <= offset);
        let piece = &self.pieces[after - 1];
        &piece.bytes[(offset - piece.start) as usize..]
    }

    /// Copies a range, across pieces. Returns fewer bytes if the store ends earlier.
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

    /// Returns the bytes around `offset` in an input with the address range `input`, if available.
    pub fn around(&self, offset: u64, input: Range<u64>) -> Option<Around> {
        let from = offset.saturating_sub(Around::TOLD_BY).max(input.start);
        let to = (offset + Around::TOLD_BY).min(input.end);
        let (bytes, at) = (self.copy(from..to), (offset - from) as usize);
        (at <= bytes.len()).then(|| Around::of(&bytes, at))
    }

    /// Returns the bytes of one item: an event, or the value of a top-level key.
    pub fn slice(&self, offset: u64, len: u64) -> &'p [u8] {
        &self.from(offset)[..len as usize]
    }

    /// Prefetches the first 256 bytes of an event. The processor prefetches later bytes
    /// automatically.
    #[inline]
    pub fn prefetch(&self, place: Place) {
        let bytes = self.from(place.offset());
        let len = place.short_len().map_or(PREFETCHED, |len| PREFETCHED.min(len as usize));
        prefetch(&bytes[..len.min(bytes.len())]);
    }

    /// Returns the bytes of an event, from `{` to `}`.
    ///
    /// # Panics
    /// Panics for an event of another store, or an event of 16 KiB or more without a length
    /// ([`Store::with_long`]).
    pub fn event(&self, place: Place) -> &'p [u8] {
        self.slice(place.offset(), self.len(place))
    }

    /// Returns the length of an event. Cost: a binary search for events of 16 KiB and more.
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
    fn length_of_long_events_is_looked_up() {
        let lists = [vec![(70_000, 100_000)], vec![(5, 16_383)]].map(LongEvents::from);
        let store = Store::new(std::iter::empty()).with_long(&lists[0]).with_long(&lists[1]);
        assert_eq!(store.len(Place::new(5, 16_383, 0)), 16_383);
        assert_eq!(store.len(Place::new(70_000, 100_000, 1)), 100_000);
        assert_eq!(store.len(Place::new(6, 16_382, 1)), 16_382);
    }
}
