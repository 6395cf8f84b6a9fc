//! What stands around the events of an input: documents and their keys, and what is damaged. The same for every verb.

use crate::losses::Losses;
use tracemill_tokenizer::{Damage, Event, Form, Member, Note};

/// A key beside the events, its value by place.
#[derive(Clone, Debug)]
pub(crate) struct KeyValue {
    /// As written, with quotes.
    pub(crate) key: Box<[u8]>,
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

/// A document of an input.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) form: Form,
    pub(crate) keys: Vec<KeyValue>,
    /// The number, among the events of all inputs, of its first event; until its part is taken, among those of the part.
    pub(crate) first: u64,
    /// Its events; known when its input is read.
    pub(crate) events: u64,
}

impl Document {
    /// One that begins behind the events that `facts` has.
    pub(crate) fn new(form: Form, facts: &mut Facts) -> Self {
        facts.marks.begin(facts.events);
        Document { form, keys: Vec::new(), first: facts.events, events: 0 }
    }
}

/// What every verb learns of an input from a chunk of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) events: u64,
    pub(crate) losses: Losses,
    pub(crate) unclosed: u64,
    pub(crate) odd_separators: u64,
    /// Least and greatest time in nanoseconds, where that is known.
    pub(crate) span: Option<(i64, i64)>,
    /// Where some of the events stand, for verbs that ask by [`crate::read::Numbers`].
    pub(crate) marks: Marks,
}

impl Facts {
    /// Counts an event that stands at this offset in its input.
    #[inline(always)]
    pub(crate) fn note_event(&mut self, offset: u64) {
        self.marks.note(self.events, offset);
        self.events += 1;
    }

    pub(crate) fn note(&mut self, note: Note) {
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
pub(crate) struct Marks {
    /// Numbers in the chunk, and offsets in the input.
    marks: Vec<(u64, u64)>,
    /// The number of the event that is marked next.
    next: u64,
}

impl Marks {
    /// The event of this number stands at this offset.
    #[inline(always)]
    pub(crate) fn note(&mut self, number: u64, offset: u64) {
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
    pub(crate) fn begin(&mut self, number: u64) {
        self.next = number;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(u64, u64)> {
        self.marks.iter()
    }
}

/// What every verb learns of one chunk of an input, beside its events.
#[derive(Default)]
pub(crate) struct Outline {
    /// Where the input stands among all inputs.
    pub(crate) base: u64,
    pub(crate) facts: Facts,
    /// Keys of the document that began before this chunk.
    pub(crate) keys: Vec<KeyValue>,
    /// Documents that begin in this chunk.
    pub(crate) documents: Vec<Document>,
}

impl Outline {
    /// Of a chunk of the input that stands at `base`.
    pub(crate) fn at(base: u64) -> Self {
        Outline { base, ..Outline::default() }
    }

    /// Counts an event; returns where it stands among all inputs.
    #[inline(always)]
    pub(crate) fn event(&mut self, event: &Event<'_>) -> u64 {
        self.facts.note_event(event.offset);
        self.base + event.offset
    }

    pub(crate) fn document(&mut self, form: Form) {
        self.documents.push(Document::new(form, &mut self.facts));
    }

    /// Adds a key to the document that it belongs to.
    pub(crate) fn member(&mut self, member: Member<'_>) {
        let keys = self.documents.last_mut().map_or(&mut self.keys, |document| &mut document.keys);
        keys.push(KeyValue {
            key: member.key.into(),
            offset: self.base + member.value_offset,
            len: member.value.len() as u64,
        });
    }

    pub(crate) fn damage(&mut self, damage: &Damage<'_>) {
        self.facts.losses.add(damage);
    }

    pub(crate) fn note(&mut self, note: Note) {
        self.facts.note(note);
    }

    /// Adds the documents to those of the chunks before, and the keys that belong to the last of these.
    pub(crate) fn append_to(self, documents: &mut Vec<Document>) {
        if let Some(document) = documents.last_mut() {
            document.keys.extend(self.keys);
        }
        documents.extend(self.documents);
    }
}
