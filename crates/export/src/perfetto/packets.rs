//! Writes packets of a Perfetto trace. Texts are interned: written once, and then named by a
//! number.

use crate::proto::Message;
use std::io::{self, Write};
use tracemill_tokenizer::{to_text, unescape};
use tracemill_trace::spill::hash::HashMap;

/// Field numbers of `TracePacket`.
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

/// Id of the packet sequence for events. CPU profiles have sequences with higher ids.
pub(super) const EVENTS: u64 = 1;

/// Flag of a packet at which the reader forgets the interned texts of the sequence.
pub(super) const CLEARED: u64 = 1;
/// Flag of a packet that refers to interned texts of earlier packets.
pub(super) const NEEDED: u64 = 2;

/// A writer of packets. It keeps the first error, and writes nothing more.
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

/// Kinds of interned texts. The value is the field number in `InternedData`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    Category = 1,
    Name = 2,
    Annotation = 3,
}

/// The interned texts of a sequence. If they exceed [`Texts::MOST`] bytes, the sequence starts
/// again without texts.
pub(super) struct Texts {
    known: [HashMap<Box<[u8]>, u64>; 3],
    bytes: usize,
    fresh: Message,
    one: Message,
    cleared: bool,
}

impl Texts {
    /// Maximum size of the texts in bytes, including their tables.
    const MOST: usize = 4 << 20;

    pub(super) fn new() -> Self {
        let (fresh, one) = (Message::default(), Message::default());
        Texts { known: Default::default(), bytes: 0, fresh, one, cleared: true }
    }

    pub(super) fn begin(&mut self) {
        if self.bytes > Texts::MOST {
            self.known.iter_mut().for_each(HashMap::clear);
            self.bytes = 0;
            self.cleared = true;
        }
    }

    /// Returns the number of a text. `content` is a JSON string without its quotes.
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

    /// Adds the texts to a packet that no packet has contained before.
    pub(super) fn tell(&mut self, packet: &mut Message) {
        packet.number(packet::FLAGS, NEEDED | if self.cleared { CLEARED } else { 0 });
        self.cleared = false;
        if !self.fresh.bytes().is_empty() {
            packet.field(packet::INTERNED, self.fresh.bytes());
            self.fresh.clear();
        }
    }
}

/// Unescapes the content of a JSON string.
pub(super) fn plain(content: &[u8]) -> String {
    let mut text = Vec::with_capacity(content.len());
    unescape(content, &mut text);
    to_text(&text)
}

/// Returns the content of a JSON string, without its quotes. Returns other values unchanged.
pub(super) fn content(value: &[u8]) -> &[u8] {
    match value {
        [b'"', content @ .., b'"'] => content,
        _ => value,
    }
}
