//! Batches of events in which names change: how long they become, and their bytes.
//!
//! Each event is looked at once: its patches are found, and while it is in cache the bytes between them are gathered as they
//! stand. How long a batch becomes shows in the end, so where it begins is known when the one before has ended; what was
//! gathered until then is moved to where it belongs in a block ([`tracemill_core::output::Turns`]). Tried and slower: to find all
//! patches of a batch first, which tells its length, and to gather it then. A batch is some MiB of events, and those came
//! twice from memory.

use crate::identity::{Patch, Renamer, Rewrite};
use crate::layout::same;
use crate::viewer::{Changes, Retoucher};
use tracemill_core::entry::Entry;
use tracemill_core::error::Error;
use tracemill_core::output::Batch;
use tracemill_core::store::{PREFETCH_AHEAD, Store};
use tracemill_tokenizer::{Tier, Validator, mend};

/// The patches of an event; one for each worker.
pub(crate) struct Patched<'r> {
    renamer: Renamer<'r>,
    retoucher: Option<Retoucher<'r>>,
    /// What tells which events are to be mended, if any are.
    repairs: Option<Validator>,
    patches: Vec<Patch>,
    texts: Vec<u8>,
    event: Vec<u8>,
}

impl<'r> Patched<'r> {
    pub(crate) fn new(
        renamer: Renamer<'r>,
        retoucher: Option<Retoucher<'r>>,
        repairs: Option<Validator>,
    ) -> Self {
        let (patches, texts, event) = (Vec::new(), Vec::new(), Vec::new());
        Patched { renamer, retoucher, repairs, patches, texts, event }
    }

    /// For a trace in which no name changes.
    pub(crate) fn repairing(tier: Tier) -> Self {
        Patched::new(Renamer::new(Rewrite::nothing(), tier), None, Some(Validator::new(tier)))
    }

    /// What was changed for a viewer in the batches so far.
    pub(crate) fn changes(&self) -> Changes {
        self.retoucher.as_ref().map_or_else(Changes::default, |retoucher| retoucher.changes)
    }

    /// One event with its new names, and mended.
    pub(crate) fn apply<'e>(&'e mut self, event: &'e [u8], offset: u64) -> &'e [u8] {
        self.patches.clear();
        self.texts.clear();
        self.renamer.find(event, offset, &mut self.patches, &mut self.texts);
        self.repair(event);
        if self.patches.is_empty() {
            return event;
        }
        self.put_together(event);
        &self.event
    }

    /// The event with its patches so far, in `self.event`.
    fn put_together(&mut self, event: &[u8]) {
        self.event.clear();
        let mut at = 0;
        for patch in &self.patches {
            self.event.extend_from_slice(&event[at..patch.old.start]);
            self.event.extend_from_slice(&self.texts[patch.new.clone()]);
            at = patch.old.end;
        }
        self.event.extend_from_slice(&event[at..]);
    }

    /// Puts one patch, the event as JSON, in the place of all others, if that is asked for and it is none; returns how
    /// much longer it becomes then.
    fn repair(&mut self, event: &[u8]) -> Option<i64> {
        self.repairs.as_mut()?.check(event).err()?;
        self.put_together(event);
        // what has no one meaning was lost when it was read
        let mended = mend(&self.event).ok()??;
        self.patches.clear();
        self.texts.clear();
        self.texts.extend_from_slice(&mended);
        self.patches.push(Patch { old: 0..event.len(), new: 0..mended.len() });
        Some(mended.len() as i64 - event.len() as i64)
    }

    /// Appends the events of a batch with what stands between them, as much as stands in the input as it will in the output in
    /// one go; returns how much longer they become. `index` is the number of the first in the output.
    pub(crate) fn gather(
        &mut self,
        (entries, index): (&[Entry], u64),
        store: &Store<'_>,
        (opening, separator): (&[u8], &[u8]),
        batch: &mut Batch<'_>,
    ) -> Result<i64, Error> {
        batch.push(opening)?;
        let mut longer = 0;
        // what was not pushed yet: so many bytes of these, which begin at an offset
        let (mut bytes, mut start, mut len) = (&[][..], 0, 0);
        for (number, entry) in entries.iter().enumerate() {
            if let Some(ahead) = entries.get(number + PREFETCH_AHEAD) {
                store.prefetch(ahead.place);
            }
            let (offset, own) = (entry.place.offset(), store.len(entry.place) as usize);
            let end = len + separator.len();
            let separated =
                number > 0 && bytes.get(len..end).is_some_and(|between| same(between, separator));
            len = if separated { end } else { len };
            // in a stream the next event may stand in the next piece
            if !separated || offset != start + len as u64 || bytes.len() < len + own {
                batch.push(&bytes[..len])?;
                batch.push(if separated || number == 0 { b"" } else { separator })?;
                (bytes, start, len) = (store.from(offset), offset, 0);
            }
            longer += self.find(&bytes[len..len + own], offset, index + number as u64);
            let mut done = 0;
            for patch in &self.patches {
                let old = &patch.old;
                batch.push(&bytes[..len + old.start - done])?;
                batch.push(&self.texts[patch.new.clone()])?;
                bytes = &bytes[len + old.end - done..];
                (start, len, done) = (offset + old.end as u64, 0, old.end);
            }
            len += own - done;
        }
        batch.push(&bytes[..len])?;
        Ok(longer)
    }

    /// Finds the patches of an event, the `index`th of the output; returns how much longer it becomes.
    fn find(&mut self, event: &[u8], offset: u64, index: u64) -> i64 {
        self.patches.clear();
        self.texts.clear();
        let renamed = self.renamer.find(event, offset, &mut self.patches, &mut self.texts);
        match &mut self.retoucher {
            None => self.repair(event).unwrap_or(renamed),
            Some(own) => own.find(event, index, 0, &mut self.patches, &mut self.texts),
        }
    }
}
