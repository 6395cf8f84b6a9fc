//! Batches of events in which names change: how long they become, and their bytes.
//!
//! A batch is looked at twice while it is in cache: first its patches are found, which tells how long it becomes and so
//! where the next one begins ([`Turns`]); then it is gathered, the bytes between the patches as they stand.

use crate::error::Error;
use crate::identity::{Patch, Renamer};
use crate::layout::same;
use crate::order::Entry;
use crate::output::Batch;
use crate::store::Store;
use crate::viewer::{Changes, Retoucher};
use std::sync::{Condvar, Mutex};

/// Events whose patches are kept; those of longer batches are found a second time.
const KEPT: usize = 64 * 1024;

/// Where batches begin that are given out before it is known how long they become.
pub(crate) struct Turns {
    /// The number of the batch whose turn it is, and where it begins.
    next: Mutex<(usize, u64)>,
    turned: Condvar,
}

impl Turns {
    pub(crate) fn new(number: usize, offset: u64) -> Self {
        Turns { next: Mutex::new((number, offset)), turned: Condvar::new() }
    }

    /// Waits for the turn of a batch of some length; returns where it begins.
    pub(crate) fn pass(&self, number: usize, len: u64) -> u64 {
        let mut next = self.next.lock().unwrap_or_else(|e| e.into_inner());
        while next.0 != number {
            next = self.turned.wait(next).unwrap_or_else(|e| e.into_inner());
        }
        let offset = next.1;
        *next = (number + 1, offset + len);
        self.turned.notify_all();
        offset
    }

    /// Where the next batch begins.
    pub(crate) fn end(&self) -> u64 {
        self.next.lock().unwrap_or_else(|e| e.into_inner()).1
    }
}

/// The patches of a batch; one for each worker.
pub(crate) struct Patched<'r> {
    renamer: Renamer<'r>,
    retoucher: Option<Retoucher<'r>>,
    patches: Vec<Patch>,
    /// Per event, one past its last patch.
    ends: Vec<usize>,
    texts: Vec<u8>,
    event: Vec<u8>,
}

impl<'r> Patched<'r> {
    pub(crate) fn new(renamer: Renamer<'r>, retoucher: Option<Retoucher<'r>>) -> Self {
        let (patches, ends, texts, event) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Patched { renamer, retoucher, patches, ends, texts, event }
    }

    /// What was changed for a viewer in the batches so far.
    pub(crate) fn changes(&self) -> Changes {
        self.retoucher.as_ref().map_or_else(Changes::default, |retoucher| retoucher.changes)
    }

    /// Finds the patches of a batch, whose first event has the number `index` in the output; returns how much longer it
    /// becomes.
    pub(crate) fn find_all(&mut self, entries: &[Entry], index: u64, store: &Store<'_>) -> i64 {
        let chunks = entries.chunks(KEPT).zip((index..).step_by(KEPT));
        chunks.map(|(entries, index)| self.find(entries, index, store)).sum()
    }

    fn find(&mut self, entries: &[Entry], index: u64, store: &Store<'_>) -> i64 {
        self.patches.clear();
        self.ends.clear();
        self.texts.clear();
        let mut longer = 0;
        for (entry, index) in entries.iter().zip(index..) {
            let (event, offset) = (store.event(entry.place), entry.place.offset());
            let first = self.patches.len();
            let renamed = self.renamer.find(event, offset, &mut self.patches, &mut self.texts);
            longer += match &mut self.retoucher {
                None => renamed,
                Some(own) => own.find(event, index, first, &mut self.patches, &mut self.texts),
            };
            self.ends.push(self.patches.len());
        }
        longer
    }

    /// One event with its new names.
    pub(crate) fn apply<'e>(&'e mut self, event: &'e [u8], offset: u64) -> &'e [u8] {
        self.patches.clear();
        self.texts.clear();
        self.renamer.find(event, offset, &mut self.patches, &mut self.texts);
        if self.patches.is_empty() {
            return event;
        }
        self.event.clear();
        let mut at = 0;
        for patch in &self.patches {
            self.event.extend_from_slice(&event[at..patch.old.start]);
            self.event.extend_from_slice(&self.texts[patch.new.clone()]);
            at = patch.old.end;
        }
        self.event.extend_from_slice(&event[at..]);
        &self.event
    }

    /// Appends the events of the batch that [`Patched::find_all`] has seen, with what stands between them; as much as
    /// stands in the input as it will in the output in one go.
    pub(crate) fn gather(
        &mut self,
        (entries, index): (&[Entry], u64),
        store: &Store<'_>,
        (opening, separator): (&[u8], &[u8]),
        batch: &mut Batch<'_>,
    ) -> Result<(), Error> {
        batch.push(opening)?;
        let several = entries.len() > KEPT;
        // what was not pushed yet: so many bytes of these, which begin at an offset
        let (mut bytes, mut start, mut len) = (&[][..], 0, 0);
        for (number, chunk) in entries.chunks(KEPT).enumerate() {
            if several {
                let counted = self.changes();
                self.find(chunk, index + (number * KEPT) as u64, store);
                if let Some(retoucher) = &mut self.retoucher {
                    retoucher.changes = counted;
                }
            }
            let mut patch = 0;
            for (at, entry) in chunk.iter().enumerate() {
                let (offset, own) = (entry.place.offset(), store.len(entry.place) as usize);
                if number + at > 0 {
                    let end = len + separator.len();
                    let separated = bytes.get(len..end).is_some_and(|b| same(b, separator));
                    len = if separated { end } else { len };
                    // in a stream the next event may stand in the next piece
                    if !separated || offset != start + len as u64 || bytes.len() < len + own {
                        batch.push(&bytes[..len])?;
                        batch.push(if separated { b"" } else { separator })?;
                        (bytes, start, len) = (store.from(offset), offset, 0);
                    }
                } else {
                    (bytes, start) = (store.from(offset), offset);
                }
                let (mut done, last) = (0, self.ends[at]);
                for patch in &self.patches[patch..last] {
                    let old = &patch.old;
                    batch.push(&bytes[..len + old.start - done])?;
                    batch.push(&self.texts[patch.new.clone()])?;
                    bytes = &bytes[len + old.end - done..];
                    (start, len, done) = (offset + old.end as u64, 0, old.end);
                }
                patch = last;
                len += own - done;
            }
        }
        batch.push(&bytes[..len])
    }
}
