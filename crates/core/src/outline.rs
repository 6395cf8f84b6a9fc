//! What stands around the events of an input: documents and their keys, and what is damaged. The same for every verb.

use crate::losses::{Lapses, Losses};
use tracemill_tokenizer::{Damage, Event, Form, Member, Note};

/// A key beside the events, its value by place.
#[derive(Clone, Debug)]
pub struct KeyValue {
    /// As written, with quotes.
    pub key: Box<[u8]>,
    pub offset: u64,
    pub len: u64,
}

/// A document of an input.
#[derive(Clone, Debug)]
pub struct Document {
    pub form: Form,
    pub keys: Vec<KeyValue>,
    /// The number, among the events of all inputs, of its first event; until its part is taken, among those of the part.
    pub first: u64,
    /// Its events; known when its input is read.
    pub events: u64,
}

impl Document {
    /// One that begins behind the events that `facts` has.
    pub fn new(form: Form, facts: &mut Facts) -> Self {
        facts.marks.begin(facts.events);
        Document { form, keys: Vec::new(), first: facts.events, events: 0 }
    }
}

/// What every verb learns of an input from a chunk of it.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub events: u64,
    pub losses: Losses,
    pub lapses: Lapses,
    pub unclosed: u64,
    pub odd_separators: u64,
    /// Least and greatest time in nanoseconds, where that is known.
    pub span: Option<(i64, i64)>,
    /// Where some of the events stand, for verbs that ask by [`crate::read::Numbers`].
    pub marks: Marks,
}

impl Facts {
    /// Counts an event that stands at this offset in its input.
    #[inline(always)]
    pub fn note_event(&mut self, offset: u64) {
        self.marks.note(self.events, offset);
        self.events += 1;
    }

    pub fn note(&mut self, note: Note) {
        match note {
            Note::Unclosed => self.unclosed += 1,
            Note::Separators => self.odd_separators += 1,
        }
    }
}

/// Events between two marks.
const STEP: u64 = 1024;

/// Where some events of a chunk stand.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Numbers in the chunk, and offsets in the input.
    marks: Vec<(u64, u64)>,
    /// The number of the event that is marked next.
    next: u64,
}

impl Marks {
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

    pub fn iter(&self) -> impl Iterator<Item = &(u64, u64)> {
        self.marks.iter()
    }
}

/// What every verb learns of one chunk of an input, beside its events.
#[derive(Default)]
pub struct Outline {
    /// Where the input stands among all inputs.
    pub base: u64,
    pub facts: Facts,
    /// Keys of the document that began before this chunk.
    pub keys: Vec<KeyValue>,
    /// Documents that begin in this chunk.
    pub documents: Vec<Document>,
}

impl Outline {
    /// Of a chunk of the input that stands at `base`.
    pub fn at(base: u64) -> Self {
        Outline { base, ..Outline::default() }
    }

    /// Counts an event; returns where it stands among all inputs.
    #[inline(always)]
    pub fn event(&mut self, event: &Event<'_>) -> u64 {
        self.facts.note_event(event.offset);
        self.base + event.offset
    }

    pub fn document(&mut self, form: Form) {
        self.documents.push(Document::new(form, &mut self.facts));
    }

    /// Adds a key to the document that it belongs to.
    pub fn member(&mut self, member: Member<'_>) {
        let keys = self.documents.last_mut().map_or(&mut self.keys, |document| &mut document.keys);
        keys.push(KeyValue {
            key: member.key.into(),
            offset: self.base + member.value_offset,
            len: member.value.len() as u64,
        });
    }

    pub fn damage(&mut self, damage: &Damage<'_>) {
        self.facts.losses.add(damage);
    }

    pub fn note(&mut self, note: Note) {
        self.facts.note(note);
    }

    /// Adds the documents to those of the chunks before, and the keys that belong to the last of these.
    pub fn append_to(self, documents: &mut Vec<Document>) {
        if let Some(document) = documents.last_mut() {
            document.keys.extend(self.keys);
        }
        documents.extend(self.documents);
    }
}
