//! B events that `split` repeated at cuts: `merge` takes them out again.
//!
//! A part of a cut trace lists what it repeats beside its events, `"tracemill":{"copies":[event,…]}`, as it is written. Of an
//! event of this text, over all documents of a merge,
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

use std::collections::{HashMap, HashSet};
use tracemill_core::entry::Entry;
use tracemill_core::outline::Document;
use tracemill_core::store::Store;
use tracemill_tokenizer::{Cursor, Event, fields_of, members, string_is, unescape};

/// The lists of all documents.
#[derive(Default)]
pub(crate) struct Copies<'p> {
    /// Events by their text, in order of their first listing.
    listed: Vec<Listed<'p>>,
}

struct Listed<'p> {
    event: &'p [u8],
    /// Over all lists.
    count: usize,
    /// In one list.
    most: usize,
}

/// What is taken out.
#[derive(Default)]
pub(crate) struct TakenOut {
    /// Where those events stand.
    pub(crate) offsets: HashSet<u64>,
    pub(crate) bytes: u64,
    /// The list of those that stay, if any do: the value of a key.
    pub(crate) still_listed: Option<Vec<u8>>,
}

impl<'p> Copies<'p> {
    /// Takes the lists out of the documents, if there are several of those.
    pub(crate) fn take_lists(documents: &mut [Document], store: &Store<'p>) -> Self {
        let mut copies = Copies::default();
        if documents.len() < 2 {
            return copies;
        }
        let mut numbers: HashMap<&'p [u8], usize> = HashMap::new();
        for document in documents {
            let mut own: HashMap<usize, usize> = HashMap::new();
            document.keys.retain(|key| {
                let list = list_in(&key.key, store.slice(key.offset, key.len));
                let Some(events) = list else { return true };
                for event in events {
                    let next = copies.listed.len();
                    let number = *numbers.entry(event).or_insert(next);
                    if number == next {
                        copies.listed.push(Listed { event, count: 0, most: 0 });
                    }
                    let of_document = own.entry(number).or_default();
                    *of_document += 1;
                    let listed = &mut copies.listed[number];
                    listed.count += 1;
                    listed.most = listed.most.max(*of_document);
                }
                false
            });
        }
        copies
    }

    /// Decides what is taken out. `at` gives all events at the time of an event, in no particular order.
    pub(crate) fn take_out(
        &self,
        store: &Store<'p>,
        at: impl Fn(&Event<'_>) -> Vec<Entry>,
    ) -> TakenOut {
        let mut taken = TakenOut::default();
        let mut list = Vec::new();
        for Listed { event, count, most } in &self.listed {
            let at_that_time = at(&fields_of(event).of(event));
            let is_equal = |entry: &Entry| {
                store.len(entry.place) == event.len() as u64 && store.event(entry.place) == *event
            };
            let equal = at_that_time.into_iter().filter(is_equal);
            let mut stand: Vec<u64> = equal.map(|entry| entry.place.offset()).collect();
            stand.sort_unstable();
            let own = stand.len().saturating_sub(*count);
            let surplus = stand.iter().skip(own.max(*most));
            let before = taken.offsets.len();
            taken.offsets.extend(surplus);
            taken.bytes += ((taken.offsets.len() - before) * event.len()) as u64;
            for _ in own..*most {
                list.extend_from_slice(if list.is_empty() { b"{\"copies\":[" } else { b"," });
                list.extend_from_slice(event);
            }
        }
        if !list.is_empty() {
            list.extend_from_slice(b"]}");
            taken.still_listed = Some(list);
        }
        taken
    }
}

/// Where keys stand that say of a document that `split` made it of a larger one, ascending.
pub(crate) fn signs_of_parts(documents: &[Document], store: &Store<'_>) -> Vec<u64> {
    let keys = documents.iter().flat_map(|document| &document.keys);
    let lists = keys.filter(|key| list_in(&key.key, store.slice(key.offset, key.len)).is_some());
    let mut signs: Vec<u64> = lists.map(|key| key.offset).collect();
    signs.sort_unstable();
    signs
}

/// The events that a key lists, if it is a list as `split` writes it.
fn list_in<'p>(key: &[u8], value: &'p [u8]) -> Option<Vec<&'p [u8]>> {
    let mut name = Vec::new();
    unescape(key.get(1..key.len() - 1)?, &mut name);
    if name != b"tracemill" && !name.starts_with(b"tracemill.") || !value.starts_with(b"{") {
        return None;
    }
    let mut all = members(value);
    let (key, list) = all.next()?;
    if all.next().is_some() || !string_is(key, b"copies") {
        return None;
    }
    let (mut cursor, mut events) = (Cursor::new(list), Vec::new());
    if !cursor.enter(b'[') {
        return None;
    }
    while cursor.next_element() {
        events.push(cursor.value());
    }
    events.iter().all(|event| event.starts_with(b"{")).then_some(events)
}
