//! What stands around the events of an input: documents and their keys, and what is damaged. The same for every verb.
//!
//! ```text
//!   {"displayTimeUnit":"ms","traceEvents":[ … ],"metadata":{…}}    a document: form, keys with the places of their values
//!   [ … ]                                                          another one behind it: inputs may have any number
//!   chunk 1        │ chunk 2          │ chunk 3                    an `Envelope` each, appended in their order
//! ```
//!
//! A key that stands in a chunk belongs to the last document that began before it, maybe in an earlier chunk
//! ([`Envelope::append_to`]). Values stay where they are: of a key its text is kept, and 16 bytes of its value.
//!
//! A verb has findings of its own beside these, and implements [`Collect`]: see [`crate::read::scan`] for an example. Cost: nothing is done with an
//! event but to count it. Heap: by documents and keys, not by events, and of documents that are alike one is kept.

use crate::run::losses::{Lapses, Losses};
use crate::store::Store;
use crate::store::place::{Long, Place};
use tracemill_tokenizer::{Damage, Event, Field, Form, Member, Note, string_is};

/// A key beside the events, its value by place.
#[derive(Clone, Debug)]
pub struct KeyValue {
    /// As written, with quotes.
    pub key: Box<[u8]>,
    /// Where its value stands among all inputs.
    pub offset: u64,
    /// Bytes of the value.
    pub len: u64,
}

/// A document of an input.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its shape.
    pub form: Form,
    /// What stands beside its events.
    pub keys: Vec<KeyValue>,
    /// The number, among the events of all inputs, of its first event; until its part is taken, among those of the part.
    pub first: u64,
    /// Its events; known when its input is read.
    pub events: u64,
    /// Documents behind it of the same form and with the same keys, which are none that anybody unites or looks into; its
    /// events are those of all. Inputs may have more documents than events: none of their own is kept of these.
    pub alike: u64,
}

impl Document {
    /// One that begins behind the events that `stats` has.
    pub fn new(form: Form, stats: &mut ChunkStats) -> Self {
        stats.marks.begin(stats.events);
        Document { form, keys: Vec::new(), first: stats.events, events: 0, alike: 0 }
    }
}

/// How many documents these are, those counted that are [alike](Document::alike).
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

/// The keys of a document with their values, if they are short and nobody acts on them.
#[derive(Default)]
struct PlainKeys {
    text: Vec<u8>,
    /// Whether there are others: then the document is told apart from any other.
    others: bool,
}

impl PlainKeys {
    /// Bytes of keys and values that are compared at most.
    const MOST: usize = 1024;
    /// Keys that documents are read, united or moved by.
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
            // no text of another number of keys is the same
            self.text.push(b'\n');
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.others = false;
    }
}

/// Whether a key stands in a document more than once.
fn repeats_keys(document: &Document) -> bool {
    let keys = document.keys.iter().enumerate();
    keys.into_iter().any(|(at, own)| document.keys[..at].iter().any(|key| key.key == own.key))
}

/// What every verb learns of an input from a chunk of it: counts, and the first places of what is wrong.
#[derive(Clone, Debug, Default)]
pub struct ChunkStats {
    /// How many.
    pub events: u64,
    /// What was lost in it.
    pub losses: Losses,
    /// Events that are no JSON and were kept.
    pub lapses: Lapses,
    /// Documents without their closing brackets.
    pub unclosed: u64,
    /// Missing or surplus commas between events.
    pub odd_separators: u64,
    /// Least and greatest time in nanoseconds, where that is known.
    pub span: Option<(i64, i64)>,
    /// Where some of the events stand, for verbs that ask by [`crate::read::EventNumbers`].
    pub marks: EventMarks,
}

impl ChunkStats {
    /// Counts an event that stands at this offset in its input.
    #[inline(always)]
    pub fn note_event(&mut self, offset: u64) {
        self.marks.note(self.events, offset);
        self.events += 1;
    }

    /// Counts what the format allows and a strict reader would not.
    pub fn note(&mut self, note: Note) {
        match note {
            Note::Unclosed => self.unclosed += 1,
            Note::Separators => self.odd_separators += 1,
        }
    }
}

/// Bytes that the allocator takes beside those of a short text.
const ALLOCATION: usize = 16;

/// Events between two marks.
const STEP: u64 = 1024;

/// Where some events of a chunk stand: one of 1024, and the first of each document. So an event is found by its number with a walk over
/// 1023 others at most, and all of that costs a 64th of a byte an event.
#[derive(Clone, Debug, Default)]
pub struct EventMarks {
    /// Numbers in the chunk, and offsets in the input.
    marks: Vec<(u64, u64)>,
    /// The number of the event that is marked next.
    next: u64,
}

impl EventMarks {
    /// The event of this number stands at this offset.
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

    /// The event of this number is the first of a document: no walk goes on over what stands before it.
    pub fn begin(&mut self, number: u64) {
        self.next = number;
    }

    /// Nobody walks from the events from this one on.
    fn forget_from(&mut self, number: u64) {
        while self.marks.pop_if(|mark| mark.0 >= number).is_some() {}
    }

    /// Numbers and offsets, ascending.
    pub fn iter(&self) -> impl Iterator<Item = &(u64, u64)> {
        self.marks.iter()
    }
}

/// What every verb learns of one chunk of an input, beside its events.
#[derive(Default)]
pub struct Envelope {
    /// Where the input stands among all inputs.
    pub base: u64,
    /// Counts and losses.
    pub stats: ChunkStats,
    /// Keys of the document that began before this chunk.
    pub keys: Vec<KeyValue>,
    /// Documents that begin in this chunk.
    pub documents: Vec<Document>,
    /// Its long events.
    pub long: Vec<Long>,
    /// Bytes that keys may take, and texts of one event; and those that keys take: what is more is counted, and not kept.
    most: Option<u64>,
    taken: u64,
    /// Bytes of the name, the category and the ids of the event that has most.
    pub texts: u64,
    /// Keys of the document before the last one, and of that.
    plain: [PlainKeys; 2],
}

impl Envelope {
    /// What is known of a chunk, before anything is, of the input that begins at `base`.
    pub fn at(base: u64) -> Self {
        Envelope { base, ..Envelope::default() }
    }

    /// The same, of a run in which keys may take so many bytes.
    pub fn with_room(self, most: u64) -> Self {
        Envelope { most: Some(most), ..self }
    }

    /// Counts an event; returns where it stands among all inputs.
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

    /// Measures the texts of a long event that tables have.
    #[cold]
    pub(crate) fn measure(&mut self, event: &Event<'_>) {
        let fields = [Field::Name, Field::Cat, Field::Id, Field::Pid, Field::Tid];
        let texts: usize =
            fields.into_iter().filter_map(|of| event.field(of)).map(<[u8]>::len).sum();
        self.texts = self.texts.max(texts as u64);
    }

    /// Whether the texts of an event have no room.
    pub(crate) fn is_refused(&self) -> bool {
        self.most.is_some_and(|most| self.texts > most)
    }

    /// A document begins.
    pub fn document(&mut self, form: Form) {
        self.join_alike();
        self.documents.push(Document::new(form, &mut self.stats));
        self.plain.swap(0, 1);
        self.plain[1].clear();
    }

    /// The last document is complete: counts it with the one before if they are alike.
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
        self.taken -= last.keys.iter().map(|own| of_key(&own.key)).sum::<u64>();
        self.documents.pop();
    }

    /// Adds a key to the document that it belongs to.
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

    /// Counts what was lost.
    pub fn damage(&mut self, damage: &Damage<'_>) {
        self.stats.losses.add(damage);
    }

    /// Counts what the format allows and a strict reader would not.
    pub fn note(&mut self, note: Note) {
        self.stats.note(note);
    }

    /// Bytes of heap that its documents and keys take where they are kept.
    pub fn heap(&self) -> u64 {
        // a list that doubles when it is full
        (self.documents.len() * 2 * size_of::<Document>()) as u64 + self.taken
    }

    /// Adds the documents to those of the chunks before, and the keys that belong to the last of these.
    pub fn append_to(self, documents: &mut Vec<Document>) {
        if let Some(document) = documents.last_mut() {
            document.keys.extend(self.keys);
        }
        documents.extend(self.documents);
    }
}

/// Bytes of heap that a key takes.
fn of_key(key: &[u8]) -> u64 {
    (size_of::<KeyValue>() + key.len() + ALLOCATION) as u64
}

/// The findings of one chunk: what a verb looks for in its events, and what stands around them.
///
/// One thread fills them, in the order of the chunk; [`Collect::seal`] comes last. Chunks are handed on in the order of the input, and
/// what was found on a guess that proved wrong is dropped unseen: so nothing but the findings may be changed here.
pub trait Collect: Send {
    /// What stands around the events.
    fn envelope(&mut self) -> &mut Envelope;

    /// Takes an event: its bytes and where its fields stand. This is the inner loop of every verb.
    fn event(&mut self, event: &Event<'_>);

    /// A document begins.
    fn document(&mut self, form: Form) {
        self.envelope().document(form);
    }

    /// Takes a key beside the events.
    fn member(&mut self, member: Member<'_>) {
        self.envelope().member(member);
    }

    /// Something was lost.
    fn damage(&mut self, damage: &Damage<'_>) {
        self.envelope().damage(damage);
    }

    /// Something the format allows and a strict reader would not.
    fn note(&mut self, note: Note, _offset: u64) {
        self.envelope().note(note);
    }

    /// The chunk is scanned: whatever can be done to its findings without the others, on the worker.
    fn seal(&mut self) {}
}
