//! Arrays of a `.cpuprofile` that stay in the input and are read from front to back, however long they are.
//!
//! A list remembers where it was left; reading goes on there, and nothing of it is kept. So the lists of a profile (samples, times, lines, columns)
//! are read side by side, a chunk's worth of each at a time, in the memory of a few numbers each.

use crate::chunk::numbers::whole_nanos;
use tracemill_tokenizer::Cursor;
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::store::Store;

/// A value in the input.
pub(super) type ValueSpan = (u64, u64);

/// An array that is read from front to back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArrayReader {
    /// What is left of it; empty if there is none.
    pub(super) rest: ValueSpan,
    /// Whether there was one, and where its first element stands.
    pub(super) given: bool,
    pub(super) start: u64,
}

impl ArrayReader {
    /// The list that stands at `span`, from its first element on; what is no array is a flaw, and no list.
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

    /// Reads elements as long as `take` wants more; it takes one from the cursor and is told its offset.
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

    /// How many elements are left. Cost: a pass over them; the list stays where it is.
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

/// Where the steps of time come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Steps {
    /// `timeDeltas`
    Deltas,
    /// `timestamps` of the old form, with the last one.
    Times(Option<i64>),
    /// There are none: this many samples share the time.
    Even { taken: u64, count: u64 },
}

/// Microseconds to nanoseconds, and whether that is exact; takes the value whatever it is.
pub(super) fn time(cursor: &mut Cursor<'_>) -> Option<(i64, bool)> {
    if let Some(micros) = cursor.integer() {
        return Some((micros.checked_mul(1000)?, true));
    }
    whole_nanos(cursor.value())
}
