//! Events that `split` repeated in parts: `merge` takes them out again.
//!
//! A part lists what it repeats beside its events, as it is written ([`crate::parts`]). Of an event of this text, over all
//! documents of a merge,
//!
//! ```text
//!   stand    = how often it occurs
//!   listed   = how often lists name it; most = how often one list does
//!   stay     = max(stand - listed, most)        the first ones in input order
//! ```
//!
//! So parts put together have each event as often as the whole had it, and where the part with the begin itself is missing,
//! one of its copies stays. What stays as a copy stays listed: parts can be put together some now and some later. A
//! document alone keeps its list as it is.
//!
//! A list may be most of an input, and all that it names may stand at one time. So events are told by 128 bits of hash, and
//! what lists name, what stands at those times and what is taken out is sorted, on disk beyond shares of the budget.

use crate::config::Config;
use crate::parts::PartValue;
use crate::rejoin::Rejoined;
use foldhash::fast::FixedState;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::iter::Peekable;
use tracemill_core::entry::Entry;
use tracemill_core::envelope::{Document, KeyValue};
use tracemill_core::error::Error;
use tracemill_core::hash::HashSet;
use tracemill_core::json::elements;
use tracemill_core::order::{ExternalSorter, Gather, Keyed, Order, SortedRecords};
use tracemill_core::place::Place;
use tracemill_core::record;
use tracemill_core::spill::SpilledVec;
use tracemill_core::store::Store;
use tracemill_tokenizer::{Event, fields_of};

record! {
    /// A stretch of text, by what it is sorted by before its place.
    #[derive(Clone, Copy)]
    struct Text {
        key: u128,
        offset: u64,
        len: u64,
    }
}

impl Keyed for Text {
    type Key = (u128, u64);

    fn key(&self) -> (u128, u64) {
        (self.key, self.offset)
    }
}

/// Told by as many bits that no two events of all traces there are have the same.
fn hash_of(event: &[u8]) -> u128 {
    let half = |seed| u128::from(FixedState::with_seed(seed).hash_one(event));
    half(0x9E37_79B9_7F4A_7C15) << 64 | half(0xD6E8_FEB8_6659_FD93)
}

fn sorter(config: &Config) -> ExternalSorter<Text> {
    ExternalSorter::new(&config.tmp_dir, config.shares().index / 16, config.threads)
}

/// The lists of all documents.
pub(crate) struct Copies {
    /// The events by their hashes.
    named: SortedRecords<Text>,
    /// Where lists begin, each with the number of its document, ascending.
    lists: Vec<(u64, usize)>,
    /// Bytes of events.
    lens: HashSet<u64>,
    /// If all documents are parts of one trace.
    rejoined: Option<Rejoined>,
}

/// What is taken out.
pub(crate) struct RemovedCopies<'p> {
    /// Where those events stand, as times.
    pub(crate) offsets: SpilledVec<Entry>,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    /// What the output still has to say as a part, and of those that stay: the value of a key.
    pub(crate) still_said: Option<Vec<Cow<'p, [u8]>>>,
    /// If all documents are parts of one trace.
    pub(crate) rejoined: Option<Rejoined>,
}

impl RemovedCopies<'_> {
    /// Whether the event at a place is.
    pub(crate) fn has(&self, place: Place) -> bool {
        self.offsets.at_time(place.offset() as i64).next().is_some()
    }
}

impl Copies {
    /// Takes what parts say of themselves out of the documents, if there are several of those.
    pub(crate) fn take_lists(
        documents: &mut [Document],
        store: &Store<'_>,
        config: &Config,
    ) -> Result<Self, Error> {
        let (order, mut named) = (Order(store), sorter(config));
        let (mut lists, mut lens) = (Vec::new(), HashSet::default());
        let mut take = |document: usize, offset: u64, list: &[u8]| {
            lists.push((offset, document));
            elements(list).try_for_each(|event| {
                let len = event.len() as u64;
                lens.insert(len);
                let within = event.as_ptr() as usize - list.as_ptr() as usize;
                named.push(Text { key: hash_of(event), offset: offset + within as u64, len }, order)
            })
        };
        let mut statements = Vec::new();
        if documents.len() > 1 {
            for (number, document) in documents.iter_mut().enumerate() {
                let mut statement = None;
                for key in &document.keys {
                    let value = store.slice(key.offset, key.len);
                    let Some(said) = PartValue::by(&key.key, value) else { continue };
                    if let Some(list) = said.copies {
                        let within = list.as_ptr() as usize - value.as_ptr() as usize;
                        take(number, key.offset + within as u64, list)?;
                    }
                    statement = said.part.map(|part| (part, key.offset)).or(statement);
                }
                statements.push(statement);
                let says = |key: &KeyValue| {
                    PartValue::by(&key.key, store.slice(key.offset, key.len)).is_some()
                };
                document.keys.retain(|key| !says(key));
            }
        }
        lists.sort_unstable();
        let statements: Option<Vec<_>> = statements.into_iter().collect();
        let rejoined = statements.and_then(|all| Rejoined::of(all, documents, store));
        Ok(Copies { named: named.finish(order)?, lists, lens, rejoined })
    }

    /// How often lists name the event of `first`, and how often one list does.
    fn count(
        &self,
        first: &Text,
        rest: &mut Peekable<impl Iterator<Item = Text>>,
    ) -> (usize, usize) {
        let document = |text: &Text| {
            let after = self.lists.partition_point(|list| list.0 <= text.offset);
            after.checked_sub(1).map(|list| self.lists[list].1)
        };
        let (mut count, mut own, mut most, mut last) = (1, 1, 1, document(first));
        while let Some(text) = rest.next_if(|text| text.key == first.key) {
            let next = document(&text);
            own = if next == last { own + 1 } else { 1 };
            (count, most, last) = (count + 1, most.max(own), next);
        }
        (count, most)
    }

    /// Events that may be those that lists name: of their times and lengths, by their hashes.
    fn standing(
        &self,
        order: Order<'_, '_>,
        config: &Config,
        times: impl Fn(&Event<'_>) -> BTreeSet<i64>,
        at: impl Fn(i64, &mut CopyAction<'_>) -> Result<(), Error>,
    ) -> Result<SortedRecords<Text>, Error> {
        let store = order.0;
        let (mut wanted, mut last) = (sorter(config), None);
        for Text { key, offset, len } in self.named.sorted(order) {
            if last.replace(key) == Some(key) {
                continue;
            }
            let event = store.slice(offset, len);
            for time in times(&fields_of(event).of(event)) {
                wanted.push(Text { key: u128::from(time as u64), offset: 0, len: 0 }, order)?;
            }
        }
        let (wanted, mut standing) = (wanted.finish(order)?, sorter(config));
        let (mut last, mut each) = (None, |entry: Entry| {
            let (offset, len) = (entry.place.offset(), store.len(entry.place));
            if !self.lens.contains(&len) {
                return Ok(());
            }
            standing.push(Text { key: hash_of(store.event(entry.place)), offset, len }, order)
        });
        for Text { key, .. } in wanted.sorted(order) {
            if last.replace(key) != Some(key) {
                at(key as u64 as i64, &mut each)?;
            }
        }
        standing.finish(order)
    }

    /// Nothing is taken out: for who does not look at events, or where lists name none.
    pub(crate) fn all_stay<'p>(self) -> RemovedCopies<'p> {
        let still_said = said(opening(self.rejoined.as_ref()));
        let (offsets, events, bytes) = (SpilledVec::default(), 0, 0);
        RemovedCopies { offsets, events, bytes, still_said, rejoined: self.rejoined }
    }

    /// Decides what is taken out. `times` are those that an event may stand at, `at` shows all events of a time, in no
    /// particular order.
    pub(crate) fn take_out<'p>(
        mut self,
        store: &Store<'p>,
        config: &Config,
        times: impl Fn(&Event<'_>) -> BTreeSet<i64>,
        at: impl Fn(i64, &mut CopyAction<'_>) -> Result<(), Error>,
    ) -> Result<RemovedCopies<'p>, Error> {
        let order = Order(store);
        if self.named.is_empty() {
            return Ok(self.all_stay());
        }
        let rejoined = self.rejoined.take();
        let opening = opening(rejoined.as_ref());
        let (offsets, events, bytes) = (SpilledVec::default(), 0, 0);
        let mut taken = RemovedCopies { offsets, events, bytes, still_said: None, rejoined };
        let standing = self.standing(order, config, times, at)?;
        // how many are equal is known before the first of them is decided on
        let mut ahead = standing.sorted(order).peekable();
        let mut standing = standing.sorted(order).peekable();
        let mut named = self.named.sorted(order).peekable();
        let mut offsets = Gather::new(config.shares().index / 16, &config.tmp_dir, order);
        let mut still = sorter(config);
        while let Some(first) = named.next() {
            let (count, most) = self.count(&first, &mut named);
            while ahead.next_if(|text| text.key < first.key).is_some() {}
            while standing.next_if(|text| text.key < first.key).is_some() {}
            let mut stand: usize = 0;
            while ahead.next_if(|text| text.key == first.key).is_some() {
                stand += 1;
            }
            let own = stand.saturating_sub(count);
            let mut stays = own.max(most);
            while let Some(text) = standing.next_if(|text| text.key == first.key) {
                if stays > 0 {
                    stays -= 1;
                    continue;
                }
                let place = Place::new(text.offset, 0, 0);
                offsets.push(Entry { time: text.offset as i64, place })?;
                taken.events += 1;
                taken.bytes += text.len;
            }
            for _ in own..most {
                still.push(Text { key: 0, ..first }, order)?;
            }
        }
        taken.offsets = SpilledVec::sorted(offsets.finish()?, order, &config.tmp_dir)?;
        taken.still_said = list_of(&still.finish(order)?, opening, order);
        Ok(taken)
    }
}

/// What is done with each event.
pub(crate) type CopyAction<'e> = dyn FnMut(Entry) -> Result<(), Error> + 'e;

/// How the value begins that says of which part of a trace the output still is one.
fn opening(rejoined: Option<&Rejoined>) -> Vec<u8> {
    let mut opening = b"{".to_vec();
    if let Some(part) = rejoined.and_then(Rejoined::still_a_part) {
        part.push(&mut opening);
    }
    opening
}

/// What begins with `opening`, if that says anything.
fn said<'p>(mut opening: Vec<u8>) -> Option<Vec<Cow<'p, [u8]>>> {
    opening.push(b'}');
    (opening.len() > 2).then(|| vec![Cow::Owned(opening)])
}

/// What begins with `opening` and has a list of events, in the order of the inputs, if there are any; `None` if it says nothing.
fn list_of<'p>(
    events: &SortedRecords<Text>,
    opening: Vec<u8>,
    order: Order<'_, 'p>,
) -> Option<Vec<Cow<'p, [u8]>>> {
    /// Bytes of a piece that is not copied.
    const LONG: u64 = 256;
    if events.is_empty() {
        return said(opening);
    }
    let store = order.0;
    let (mut pieces, mut made) = (Vec::new(), opening);
    made.extend_from_slice(if made.len() > 1 { b"," } else { b"" });
    made.extend_from_slice(b"\"copies\":[");
    let mut put = |made: &mut Vec<u8>, (start, end): (u64, u64)| {
        let text = store.slice(start, end - start);
        if end - start < LONG {
            return made.extend_from_slice(text);
        }
        pieces.extend([Cow::Owned(std::mem::take(made)), Cow::Borrowed(text)]);
    };
    // neighbours with nothing but a comma between them are one piece
    let mut run: Option<(u64, u64)> = None;
    for Text { offset, len, .. } in events.sorted(order) {
        match &mut run {
            Some((_, end)) if *end + 1 == offset && store.slice(*end, 1) == b"," => {
                *end = offset + len;
                continue;
            }
            Some(range) => {
                put(&mut made, *range);
                made.push(b',');
            }
            None => {}
        }
        run = Some((offset, offset + len));
    }
    put(&mut made, run?);
    made.extend_from_slice(b"]}");
    pieces.push(Cow::Owned(made));
    Some(pieces)
}
