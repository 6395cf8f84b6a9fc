//! Reads arrays of a `.cpuprofile` from the input, part by part, in constant memory.
//!
//! A list remembers its position, so the samples, times, lines and columns of a profile can be read
//! in parallel, one chunk at a time.

use crate::chunk::numbers::whole_nanos;
use tracemill_tokenizer::Cursor;
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::store::Store;

/// Offset and length of a value in the input.
pub(super) type ValueSpan = (u64, u64);

/// An array that is read part by part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArrayReader {
    /// The unread rest; empty without an array.
    pub(super) rest: ValueSpan,
    /// Whether there is an array; `start` is the offset of its first element.
    pub(super) given: bool,
    pub(super) start: u64,
}

impl ArrayReader {
    /// Opens the array at `span`; any other value is a flaw and an empty list.
    pub(super) fn new(span: Option<ValueSpan>, store: &Store<'_>, flaws: &mut Flaws) -> Self {
        let Some((offset, len)) = span else { return ArrayReader::default() };
        let mut cursor = Cursor::new(store.slice(offset, len));
        if !cursor.enter(b'[') {
            flaws.add(FlawKind::Shape, offset);
            return ArrayReader::default();
        }
        let at = cursor.offset() as u64;
        ArrayReader { rest: (offset + at, len - at), given: true, start: offset + at }
    }

    /// Calls `take` with the cursor and the offset of each element, until `take` returns false.
    pub(super) fn read(
        &mut self,
        store: &Store<'_>,
        mut take: impl FnMut(&mut Cursor<'_>, u64) -> bool,
    ) {
        let (offset, len) = self.rest;
        if len == 0 {
            return;
        }
        let mut cursor = Cursor::new(store.slice(offset, len));
        let mut more = true;
        while more && cursor.next_element() {
            let at = offset + cursor.offset() as u64;
            more = take(&mut cursor, at);
        }
        let used = cursor.offset() as u64;
        self.rest = (offset + used, len - used);
    }

    /// Counts the unread elements, which stay unread. Cost: a pass over these elements.
    pub(super) fn count(&self, store: &Store<'_>) -> u64 {
        let mut count = 0;
        { *self }.read(store, |cursor, _| {
            cursor.value();
            count += 1;
            true
        });
        count
    }
}

/// The key that has the times of samples.
#[derive(Clone, Copy, Debug)]
pub(super) enum Steps {
    /// `timeDeltas`: steps from sample to sample.
    Deltas,
    /// `timestamps` of the old format, with the last time that was read.
    Times(Option<i64>),
    /// No times: `count` samples are spread evenly over the profile; `taken` of them were read.
    Even { taken: u64, count: u64 },
}

/// Reads a time in microseconds. Returns nanoseconds, and whether they are exact. Skips any other
/// value.
pub(super) fn time(cursor: &mut Cursor<'_>) -> Option<(i64, bool)> {
    if let Some(micros) = cursor.integer() {
        return Some((micros.checked_mul(1000)?, true));
    }
    whole_nanos(cursor.value())
}
