//! Collects the documents of an input, their top-level keys, and damage.
//!
//! ```text
//!   {"displayTimeUnit":"ms","traceEvents":[ … ],"metadata":{…}}    a document: its form and keys
//!   [ … ]                                                          another document of the input
//!   chunk 1        │ chunk 2          │ chunk 3                    one `Envelope` each, in order
//! ```
//!
//! A key belongs to the last document that began before it, possibly in an earlier chunk
//! ([`Envelope::append_to`]). Values are stored as offset and length.
//!
//! Commands add findings of their own by implementing [`Collect`]; see [`crate::read::scan`] for an
//! example. Cost: a counter per event. Heap: per document and key; runs of alike documents are
//! stored once.

use crate::run::losses::{Lapses, Losses};
use crate::store::Store;
use crate::store::place::{Long, Place};
use tracemill_tokenizer::{Damage, Event, Field, Form, Member, Note, string_is};

/// A top-level key, with the position of its value.
#[derive(Clone, Debug)]
pub struct KeyValue {
    /// Key as written, with quotes.
    pub key: Box<[u8]>,
    /// Offset of the value in the address space.
    pub offset: u64,
    /// Length of the value in bytes.
    pub len: u64,
}

/// A document of an input.
#[derive(Clone, Debug)]
pub struct Document {
    /// Form of the document.
    pub form: Form,
    /// Top-level keys of the document.
    pub keys: Vec<KeyValue>,
    /// Index of the first event of the document: within its chunk until the chunk is merged, then
    /// across all inputs.
    pub first: u64,
    /// Number of events; known when the input is read.
    pub events: u64,
    /// Number of alike documents directly after this document: same form, same keys and values, no
    /// special keys. This document counts their events. So memory stays bounded for inputs with
    /// many documents.
    pub alike: u64,
}

impl Document {
    /// Creates a document that begins after the events counted in `stats`.
    pub fn new(form: Form, stats: &mut ChunkStats) -> Self {
        stats.marks.begin(stats.events);
        Document { form, keys: Vec::new(), first: stats.events, events: 0, alike: 0 }
    }
}

/// Returns the number of documents, including [alike](Document::alike) documents.
pub fn count(documents: &[Document]) -> u64 {
    documents.iter().map(|document| 1 + document.alike).sum()
}

/// Returns a copy of each value of a top-level key, given without quotes, in input order.
pub fn values_of<'a>(
    documents: &'a [Document],
    store: Store<'a>,
    name: &'a [u8],
) -> impl Iterator<Item = Vec<u8>> + 'a {
    let keys = documents.iter().flat_map(|document| &document.keys);
    let named = keys.filter(move |key| string_is(&key.key, name));
    named.map(move |key| store.copy(key.offset..key.offset + key.len))
}

/// Short keys of a document with their values, compared to find alike documents.
#[derive(Default)]
struct PlainKeys {
    text: Vec<u8>,
    /// Whether the document has other keys; then no document is alike.
    others: bool,
}

impl PlainKeys {
    /// Maximum bytes of keys and values.
    const MOST: usize = 1024;
    /// Prefixes of special keys, which tracemill interprets.
    const NAMES: [&'static [u8]; 9] = [
        b"\"traceEvents",
        b"\"nodes",
        b"\"head",
        b"\"metadata",
        b"\"stackFrames",
        b"\"samples",
        b"\"tracemill",
        b"\"viztracer_metadata",
        b"\"b",
    ];

    fn add(&mut self, key: &[u8], value: &[u8]) {
        let is_other = key.contains(&b'\\')
            || Self::NAMES.iter().any(|name| key.starts_with(name))
            || self.text.len() + key.len() + value.len() > Self::MOST;
        self.others |= is_other;
        if !self.others {
            self.text.extend_from_slice(key);
            self.text.extend_from_slice(value);
            // separates keys, so that texts with different numbers of keys differ
            self.text.push(b'\n');
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.others = false;
    }
}

fn repeats_keys(document: &Document) -> bool {
    let keys = document.keys.iter().enumerate();
    keys.into_iter()
        .any(|(at, key)| document.keys[..at].iter().any(|earlier| earlier.key == key.key))
}

/// Counts and losses of one chunk.
#[derive(Clone, Debug, Default)]
pub struct ChunkStats {
    /// Number of events.
    pub events: u64,
    /// Bytes lost to damage.
    pub losses: Losses,
    /// Kept events that are not JSON.
    pub lapses: Lapses,
    /// Number of documents without closing brackets.
    pub unclosed: u64,
    /// Number of missing or extra commas between events.
    pub odd_separators: u64,
    /// First and last time in nanoseconds, if known.
    pub span: Option<(i64, i64)>,
    /// Offsets of some events, for commands that number events ([`crate::read::EventNumbers`]).
    pub marks: EventMarks,
}

impl ChunkStats {
    /// Counts an event at this offset of the input.
    #[inline(always)]
    pub fn note_event(&mut self, offset: u64) {
        self.marks.note(self.events, offset);
        self.events += 1;
    }

    /// Counts a deviation that the format allows but strict JSON does not.
    pub fn note(&mut self, note: Note) {
        match note {
            Note::Unclosed => self.unclosed += 1,
            Note::Separators => self.odd_separators += 1,
        }
    }
}

const ALLOCATION: usize = 16;

/// Distance between two marks in events.
const STEP: u64 = 1024;

/// Offsets of some events of a chunk: one in 1024, and the first of each document. An event is
/// found by its number with a walk over at most 1023 events. Cost: 1/64 byte per event.
#[derive(Clone, Debug, Default)]
pub struct EventMarks {
    /// Pairs of event number in the chunk and offset in the input.
    marks: Vec<(u64, u64)>,
    next: u64,
}

impl EventMarks {
    /// Records the offset of an event if it is due for a mark.
    #[inline(always)]
    pub fn note(&mut self, number: u64, offset: u64) {
        if number == self.next {
            self.mark(number, offset);
        }
    }

    #[cold]
    fn mark(&mut self, number: u64, offset: u64) {
        self.marks.push((number, offset));
        self.next = number + STEP;
    }

    /// Requests a mark for the event `number`, the first of a document. Walks do not cross
    /// documents.
    pub fn begin(&mut self, number: u64) {
        self.next = number;
    }

    fn forget_from(&mut self, number: u64) {
        while self.marks.pop_if(|mark| mark.0 >= number).is_some() {}
    }

    /// Returns pairs of event number and offset, ascending.
    pub fn iter(&self) -> impl Iterator<Item = &(u64, u64)> {
        self.marks.iter()
    }
}

/// Everything in one chunk of an input except its events.
#[derive(Default)]
pub struct Envelope {
    /// Offset of the input in the address space.
    pub base: u64,
    /// Counts and losses of the chunk.
    pub stats: ChunkStats,
    /// Keys of a document that began in an earlier chunk.
    pub keys: Vec<KeyValue>,
    /// Documents that begin in this chunk.
    pub documents: Vec<Document>,
    /// Offsets and lengths of events of 16 KiB and more.
    pub long: Vec<Long>,
    /// Maximum bytes of keys, and of the texts of one event. Keys beyond this limit are counted but
    /// not stored.
    most: Option<u64>,
    taken: u64,
    /// Bytes of name, category and ids of the event with the longest such texts.
    pub texts: u64,
    plain: [PlainKeys; 2],
}

impl Envelope {
    /// Creates the envelope of a chunk of the input at `base`.
    pub fn at(base: u64) -> Self {
        Envelope { base, ..Envelope::default() }
    }

    /// Sets the maximum bytes of keys, and of the texts of one event.
    pub fn with_room(self, most: u64) -> Self {
        Envelope { most: Some(most), ..self }
    }

    /// Counts an event and returns its offset in the address space.
    #[inline(always)]
    pub fn event(&mut self, event: &Event<'_>) -> u64 {
        self.stats.note_event(event.offset);
        let offset = self.base + event.offset;
        if Place::is_long(event.bytes.len()) {
            self.long.push((offset, event.bytes.len() as u64));
            self.measure(event);
        }
        offset
    }

    /// Measures the texts of a long event that tables would copy.
    #[cold]
    pub(crate) fn measure(&mut self, event: &Event<'_>) {
        let fields = [Field::Name, Field::Cat, Field::Id, Field::Pid, Field::Tid];
        let texts: usize =
            fields.into_iter().filter_map(|of| event.field(of)).map(<[u8]>::len).sum();
        self.texts = self.texts.max(texts as u64);
    }

    /// Returns whether the texts of an event exceed the limit.
    pub(crate) fn is_refused(&self) -> bool {
        self.most.is_some_and(|most| self.texts > most)
    }

    /// Starts a document.
    pub fn document(&mut self, form: Form) {
        self.join_alike();
        self.documents.push(Document::new(form, &mut self.stats));
        self.plain.swap(0, 1);
        self.plain[1].clear();
    }

    /// Merges the completed last document into the one before if they are alike.
    fn join_alike(&mut self) {
        let [.., before, last] = &mut self.documents[..] else { return };
        let [a, b] = &self.plain;
        if before.form != last.form || a.others || b.others || a.text != b.text {
            return;
        }
        if before.alike == 0 && repeats_keys(before) {
            return;
        }
        before.alike += 1;
        self.stats.marks.forget_from(last.first);
        self.taken -= last.keys.iter().map(|key| of_key(&key.key)).sum::<u64>();
        self.documents.pop();
    }

    /// Adds a top-level key to its document.
    pub fn member(&mut self, member: Member<'_>) {
        if !self.documents.is_empty() {
            self.plain[1].add(member.key, member.value);
        }
        self.taken += of_key(member.key);
        if self.most.is_some_and(|most| self.taken > most) {
            return;
        }
        let keys = self.documents.last_mut().map_or(&mut self.keys, |document| &mut document.keys);
        keys.push(KeyValue {
            key: member.key.into(),
            offset: self.base + member.value_offset,
            len: member.value.len() as u64,
        });
    }

    /// Counts a loss.
    pub fn damage(&mut self, damage: &Damage<'_>) {
        self.stats.losses.add(damage);
    }

    /// Counts a deviation that the format allows but strict JSON does not.
    pub fn note(&mut self, note: Note) {
        self.stats.note(note);
    }

    /// Returns the heap use in bytes of the documents and keys once merged.
    pub fn heap(&self) -> u64 {
        // a full list doubles its capacity
        (self.documents.len() * 2 * size_of::<Document>()) as u64 + self.taken
    }

    /// Appends the documents to those of earlier chunks, and the keys to the last earlier document.
    pub fn append_to(self, documents: &mut Vec<Document>) {
        if let Some(document) = documents.last_mut() {
            document.keys.extend(self.keys);
        }
        documents.extend(self.documents);
    }
}

fn of_key(key: &[u8]) -> u64 {
    (size_of::<KeyValue>() + key.len() + ALLOCATION) as u64
}

/// Collects the findings of a command in one chunk.
///
/// One thread calls the methods, in input order; [`Collect::seal`] comes last. The findings of a
/// wrongly guessed chunk are discarded, so the methods must change nothing outside `self`.
pub trait Collect: Send {
    /// Returns the documents, keys and damage of the chunk.
    fn envelope(&mut self) -> &mut Envelope;

    /// Handles an event. This is the inner loop of every command.
    fn event(&mut self, event: &Event<'_>);

    /// Handles the start of a document.
    fn document(&mut self, form: Form) {
        self.envelope().document(form);
    }

    /// Handles a top-level key.
    fn member(&mut self, member: Member<'_>) {
        self.envelope().member(member);
    }

    /// Handles a loss.
    fn damage(&mut self, damage: &Damage<'_>) {
        self.envelope().damage(damage);
    }

    /// Handles a deviation that the format allows but strict JSON does not.
    fn note(&mut self, note: Note, _offset: u64) {
        self.envelope().note(note);
    }

    /// Finishes the chunk on the worker, with work that needs no other chunk.
    fn seal(&mut self) {}
}
