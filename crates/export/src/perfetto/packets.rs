//! Packets of a Perfetto trace: texts by number, and the state that a reader keeps of a sequence.

use crate::proto::Message;
use std::io::{self, Write};
use tracemill_tokenizer::{to_text, unescape};
use tracemill_trace::spill::hash::HashMap;

/// Fields of `TracePacket`.
pub(super) mod packet {
    pub(crate) const TIMESTAMP: u32 = 8;
    pub(crate) const SEQUENCE: u32 = 10;
    pub(crate) const TRACK_EVENT: u32 = 11;
    pub(crate) const INTERNED: u32 = 12;
    pub(crate) const FLAGS: u32 = 13;
    pub(crate) const THREAD: u32 = 44;
    pub(crate) const SAMPLES: u32 = 54;
    pub(crate) const TRACK: u32 = 60;
}

/// The sequence of packets that has the events; each CPU profile has one behind it.
pub(super) const EVENTS: u64 = 1;

/// What a reader knows of the sequence is forgotten.
pub(super) const CLEARED: u64 = 1;
/// A packet cannot be read without what was said before.
pub(super) const NEEDED: u64 = 2;

/// Where packets go. What fails is kept, and nothing is written from then on.
pub(super) struct Packets<'o> {
    out: &'o mut dyn Write,
    packet: Message,
    framed: Message,
    pub(super) failed: Option<io::Error>,
}

impl<'o> Packets<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Packets { out, packet: Message::default(), framed: Message::default(), failed: None }
    }

    /// Writes the packet that `fill` makes.
    pub(super) fn push(&mut self, fill: impl FnOnce(&mut Message)) {
        if self.failed.is_some() {
            return;
        }
        self.packet.clear();
        fill(&mut self.packet);
        self.framed.clear();
        self.framed.field(1, self.packet.bytes());
        self.failed = self.out.write_all(self.framed.bytes()).err();
    }
}

/// What a text is, by its field in `InternedData`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    Category = 1,
    Name = 2,
    /// Of an annotation: a member of `args`.
    Annotation = 3,
}

/// Texts that the reader of a sequence knows by number. Beyond [`Texts::MOST`] all are forgotten, so that a trace in which every name is
/// new takes no more memory than others.
pub(super) struct Texts {
    known: [HashMap<Box<[u8]>, u64>; 3],
    bytes: usize,
    fresh: Message,
    one: Message,
    cleared: bool,
}

impl Texts {
    /// Bytes of texts, with what their tables take.
    const MOST: usize = 4 << 20;

    pub(super) fn new() -> Self {
        let (fresh, one) = (Message::default(), Message::default());
        Texts { known: Default::default(), bytes: 0, fresh, one, cleared: true }
    }

    /// A packet begins.
    pub(super) fn begin(&mut self) {
        if self.bytes > Texts::MOST {
            self.known.iter_mut().for_each(HashMap::clear);
            self.bytes = 0;
            self.cleared = true;
        }
    }

    /// The number of a text, which is the content of a JSON string as it is written.
    pub(super) fn number(&mut self, kind: TextKind, content: &[u8]) -> u64 {
        let known = &mut self.known[kind as usize - 1];
        if let Some(&number) = known.get(content) {
            return number;
        }
        let number = known.len() as u64 + 1;
        known.insert(content.into(), number);
        self.bytes += content.len() + 64;
        self.one.clear();
        self.one.number(1, number);
        self.one.field(2, plain(content).as_bytes());
        self.fresh.field(kind as u32, self.one.bytes());
        number
    }

    /// Adds to a packet what its reader must know first.
    pub(super) fn tell(&mut self, packet: &mut Message) {
        packet.number(packet::FLAGS, NEEDED | if self.cleared { CLEARED } else { 0 });
        self.cleared = false;
        if !self.fresh.bytes().is_empty() {
            packet.field(packet::INTERNED, self.fresh.bytes());
            self.fresh.clear();
        }
    }
}

/// The content of a JSON string as text.
pub(super) fn plain(content: &[u8]) -> String {
    let mut text = Vec::with_capacity(content.len());
    unescape(content, &mut text);
    to_text(&text)
}

/// A string without its quotes; anything else as it is written.
pub(super) fn content(value: &[u8]) -> &[u8] {
    match value {
        [b'"', content @ .., b'"'] => content,
        _ => value,
    }
}
