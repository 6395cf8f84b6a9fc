//! Batches of events in which names change: how long they become, and their bytes.
//!
//! Each event is looked at once: its patches are found, and while it is in cache the bytes between them are gathered as they
//! stand. How long a batch becomes shows in the end, so where it begins is known when the one before has ended; what was
//! gathered until then is moved to where it belongs in a block ([`tracemill_trace::output::Turns`]). Tried and slower: to find all
//! patches of a batch first, which tells its length, and to gather it then. A batch is some MiB of events, and those came
//! twice from memory.

use crate::layout::{Layout, same};
use crate::patch::{EventPatcher, Patcher, WrittenAt};
use tracemill_tokenizer::Tier;
use tracemill_trace::json::patch::Patches;
use tracemill_trace::output::Batch;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::place::Place;
use tracemill_trace::store::{PREFETCH_AHEAD, Store};

/// The patches of an event; one for each worker.
pub struct EventRewriter<'r> {
    patchers: Vec<Box<dyn EventPatcher + 'r>>,
    patches: Patches,
    event: Vec<u8>,
}

/// The text before the first event of a batch, and before every other.
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

    /// Counts what was changed: all of it is written.
    pub(crate) fn finish(&mut self) {
        self.patchers.iter_mut().for_each(|patcher| patcher.finish());
    }

    /// Returns an event as it is written, by patchers that do not look at its number.
    pub fn apply<'e>(&'e mut self, event: &'e [u8], offset: u64) -> &'e [u8] {
        self.find(event, offset, 0);
        if self.patches.is_empty() {
            return event;
        }
        self.event.clear();
        self.patches.append_to(event, &mut self.event);
        &self.event
    }

    /// Appends the events of a batch with what stands between them, as much as stands in the input as it will in the output in
    /// one go; returns how much longer they become. `index` is the number of the first in the output.
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
            for (old, new) in self.patches.iter() {
                batch.push(&bytes[..len + old.start - done])?;
                batch.push(new)?;
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
        for patcher in &mut self.patchers {
            patcher.patch(event, WrittenAt { offset, index }, &mut self.patches);
        }
        self.patches.put_in_order(event);
        self.patches.longer()
    }
}

/// Appends events in the style of a layout, with what stands before each; returns raw line breaks escaped, and bytes.
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
