//! Writes batches of events with patches.
//!
//! Each event is read once: its patches are found, and the bytes between them gathered, while the
//! event is in cache. A batch gets its offset when the previous batch is complete
//! ([`tracemill_trace::output::Turns`]).

use crate::layout::{Layout, same};
use crate::patch::{EventPatcher, Patcher, WrittenAt};
use tracemill_tokenizer::Tier;
use tracemill_trace::json::patch::Patches;
use tracemill_trace::output::Batch;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::place::Place;
use tracemill_trace::store::{PREFETCH_AHEAD, Store};

/// Applies patches to events; one per worker.
pub struct EventRewriter<'r> {
    patchers: Vec<Box<dyn EventPatcher + 'r>>,
    patches: Patches,
    event: Vec<u8>,
}

/// The text before the first event of a batch, and before every other event.
#[derive(Clone, Copy)]
pub(crate) struct Separators {
    pub(crate) opening: &'static [u8],
    pub(crate) separator: &'static [u8],
}

impl<'r> EventRewriter<'r> {
    /// Creates a rewriter that applies patchers in this order.
    pub fn new(patchers: &[&'r dyn Patcher], tier: Tier) -> Self {
        let patchers = patchers.iter().map(|patcher| patcher.start(tier)).collect();
        EventRewriter { patchers, patches: Patches::default(), event: Vec::new() }
    }

    /// Notifies the patchers that all of their changes are written.
    pub(crate) fn finish(&mut self) {
        self.patchers.iter_mut().for_each(|patcher| patcher.finish());
    }

    /// Returns an event with its patches applied. The patchers must not depend on the event's
    /// index.
    pub fn apply<'e>(&'e mut self, event: &'e [u8], offset: u64) -> &'e [u8] {
        self.find(event, offset, 0);
        if self.patches.is_empty() {
            return event;
        }
        self.event.clear();
        self.patches.append_to(event, &mut self.event);
        &self.event
    }

    /// Appends the events of a batch, with runs of unchanged bytes copied at once. Returns the
    /// growth in bytes.
    ///
    /// `index` is the output index of the first event.
    pub(crate) fn gather(
        &mut self,
        entries: &[Entry],
        index: u64,
        store: &Store<'_>,
        separators: Separators,
        batch: &mut Batch<'_>,
    ) -> Result<i64, Error> {
        let Separators { opening, separator } = separators;
        batch.push(opening)?;
        let mut longer = 0;
        // pending bytes: `len` bytes of `bytes`, which start at offset `start`
        let (mut bytes, mut start, mut len) = (&[][..], 0, 0);
        for (number, entry) in entries.iter().enumerate() {
            if let Some(ahead) = entries.get(number + PREFETCH_AHEAD) {
                store.prefetch(ahead.place);
            }
            let (offset, size) = (entry.place.offset(), store.len(entry.place) as usize);
            let end = len + separator.len();
            let separated =
                number > 0 && bytes.get(len..end).is_some_and(|between| same(between, separator));
            len = if separated { end } else { len };
            // in a piped input the next event may be in the next segment
            if !separated || offset != start + len as u64 || bytes.len() < len + size {
                batch.push(&bytes[..len])?;
                if number > 0 && !separated {
                    batch.push(separator)?;
                }
                (bytes, start, len) = (store.from(offset), offset, 0);
            }
            longer += self.find(&bytes[len..len + size], offset, index + number as u64);
            let mut done = 0;
            for (old, new) in self.patches.iter() {
                batch.push(&bytes[..len + old.start - done])?;
                batch.push(new)?;
                bytes = &bytes[len + old.end - done..];
                (start, len, done) = (offset + old.end as u64, 0, old.end);
            }
            len += size - done;
        }
        batch.push(&bytes[..len])?;
        Ok(longer)
    }

    /// Finds the patches of an event and returns its growth in bytes.
    fn find(&mut self, event: &[u8], offset: u64, index: u64) -> i64 {
        self.patches.clear();
        for patcher in &mut self.patchers {
            patcher.patch(event, WrittenAt { offset, index }, &mut self.patches);
        }
        if self.patches.is_empty() {
            return 0;
        }
        self.patches.put_in_order(event);
        self.patches.longer()
    }
}

/// Appends events in the style of a layout. Returns the number of escaped line breaks and of bytes.
pub(crate) fn write_styled(
    layout: Layout,
    places: impl Iterator<Item = Place>,
    first: bool,
    store: &Store<'_>,
    mut patched: Option<&mut EventRewriter<'_>>,
    batch: &mut Batch<'_>,
) -> Result<(usize, u64), Error> {
    let mut separator = if first { layout.first } else { layout.next };
    let (mut escaped, mut bytes, mut line) = (0, 0, Vec::new());
    for place in places {
        batch.push(separator)?;
        bytes += separator.len() as u64;
        separator = layout.next;
        let event = store.event(place);
        let event = match &mut patched {
            None => event,
            Some(patched) => patched.apply(event, place.offset()),
        };
        if layout.text.is_as_it_stands(event) {
            bytes += event.len() as u64;
            batch.push(event)?;
            continue;
        }
        line.clear();
        escaped += layout.text.write(event, &mut line);
        bytes += line.len() as u64;
        batch.push(&line)?;
    }
    Ok((escaped, bytes))
}
