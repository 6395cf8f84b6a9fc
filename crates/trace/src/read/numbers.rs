//! Finds the n-th event of a document, for data that refers to events by index (DevTools'
//! annotations).
//!
//! ```text
//!   events   0 1 2 … 1023 1024 …          of a chunk; each document begins at 0
//!   marks    ▲            ▲               16 bytes each: number and offset
//! ```
//!
//! The scan records a mark at every 1024th event, which costs a comparison per event. A search
//! walks from a mark to the requested event. The result is exact only if nothing was lost: after
//! the first damage of an input, numbers are uncertain ([`EventNumbers::end_input`]).

use crate::event::envelope::{ChunkStats, Document};
use crate::run::error::Error;
use crate::run::limits::Limits;
use crate::run::memory::Share;
use crate::spill::SpillArray;
use crate::store::Store;
use tracemill_tokenizer::Cursor;

/// Offsets of the events of all inputs, by event number.
#[derive(Default)]
pub struct EventNumbers {
    /// Pairs of event number and offset, both ascending.
    marks: SpillArray<(u64, u64)>,
    events: u64,
    /// Address ranges after the first damage of an input, in which numbers are uncertain:
    /// ascending, at most one per input.
    doubtful: Vec<(u64, u64)>,
}

impl EventNumbers {
    /// Creates an empty list, which spills to disk beyond 1/64 of the memory for entries.
    pub(super) fn new(limits: &Limits) -> Self {
        let marks = SpillArray::new(limits.lease("numbers of events", Share::of_index(1, 64)));
        EventNumbers { marks, ..EventNumbers::default() }
    }

    /// Appends the marks of a chunk of the input at `base`.
    pub(super) fn append(&mut self, stats: &ChunkStats, base: u64) -> Result<(), Error> {
        for &(number, offset) in stats.marks.iter() {
            self.marks.push((self.events + number, base + offset))?;
        }
        self.events += stats.events;
        Ok(())
    }

    /// Returns the number of events so far.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// Sets the event counts of the documents of an input after its last chunk.
    ///
    /// `lost` is the offset of the first damage in the input, `end` the end of the input.
    pub(super) fn end_input(&mut self, documents: &mut [Document], lost: Option<u64>, end: u64) {
        let mut next = self.events;
        for document in documents.iter_mut().rev() {
            document.events = next - document.first;
            next = document.first;
        }
        self.doubtful.extend(lost.map(|lost| (lost, end)));
    }

    /// Returns the offsets of events by ascending indices in a document. The result is `None` for
    /// an index past the last event, and [`Uncertain`] if damage makes the number unreliable.
    ///
    /// Cost per index: a binary search and a walk over at most 1023 events.
    pub fn find(
        &self,
        document: &Document,
        indices: &[u64],
        store: &Store<'_>,
    ) -> Vec<Option<Result<u64, Uncertain>>> {
        let mut walk: Option<NumberedEvent> = None;
        let found = indices.iter().map(|&index| {
            if index >= document.events {
                return None;
            }
            let number = document.first + index;
            let after = self.marks.partition_point(|mark| mark.0 <= number);
            let mark = self.marks.get(after.checked_sub(1)?).filter(|m| m.0 >= document.first)?;
            let on_the_way = walk.take().filter(|walk| walk.number >= mark.0);
            let mut event = on_the_way.unwrap_or(NumberedEvent { number: mark.0, offset: mark.1 });
            let arrives = event.go_to(number, store).is_some();
            let offset = event.offset;
            walk = Some(event).filter(|_| arrives);
            match arrives && offset < self.doubt_behind(mark.1) {
                true => Some(Ok(offset)),
                false => Some(Err(Uncertain)),
            }
        });
        found.collect()
    }

    /// Returns the offset from which event numbers are uncertain, for a walk that starts at `mark`.
    /// A walk over damage may leave the input, so the end of the walk cannot decide.
    fn doubt_behind(&self, mark: u64) -> u64 {
        let before = self.doubtful.partition_point(|&(_, end)| end <= mark);
        self.doubtful.get(before).map_or(u64::MAX, |&(from, _)| from)
    }

    /// Passes every event of a document to `show`. Returns `false` if an event cannot be found.
    ///
    /// Cost: one pass over the document on one core.
    pub fn each(
        &self,
        document: &Document,
        store: &Store<'_>,
        mut show: impl FnMut(&[u8]),
    ) -> bool {
        let end = document.first + document.events;
        let from = self.marks.partition_point(|mark| mark.0 < document.first);
        let to = self.marks.partition_point(|mark| mark.0 < end);
        let marks = (from..to).filter_map(|at| self.marks.get(at));
        let ends = marks.clone().skip(1).map(|mark| mark.0).chain([end]);
        marks.zip(ends).all(|((number, offset), end)| {
            let mut walk = NumberedEvent { number, offset };
            let doubt = self.doubt_behind(offset);
            loop {
                if walk.offset >= doubt {
                    return false;
                }
                show(Cursor::new(store.from(walk.offset)).value());
                if walk.number + 1 == end {
                    return true;
                }
                let next = walk.number + 1;
                if walk.go_to(next, store).is_none() {
                    return false;
                }
            }
        })
    }
}

/// The error for an event whose number is unreliable, because there is damage before the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncertain;

struct NumberedEvent {
    number: u64,
    offset: u64,
}

impl NumberedEvent {
    /// Advances to the event `number`. Returns `None` if other text lies in between.
    fn go_to(&mut self, number: u64, store: &Store<'_>) -> Option<()> {
        while self.number < number {
            let mut next = self.offset + Cursor::new(store.from(self.offset)).value().len() as u64;
            loop {
                // an event that is cut at the end of one segment is complete in the next segment
                match store.from(next).first()? {
                    b'{' => break,
                    b',' | b' ' | b'\t' | b'\n' | b'\r' | 0x1e => next += 1,
                    _ => return None,
                }
            }
            (self.offset, self.number) = (next, self.number + 1);
        }
        Some(())
    }
}
