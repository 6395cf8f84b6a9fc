//! What the scanner finds and says, and the stretch of input that it looks at.

use crate::event::Event;
use crate::text::field::Field;

/// How a document holds its events. Producers write all of these: Chrome and DevTools the first, many tools the second, and
/// loggers that never end the third.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `{"traceEvents":[…], …}`
    Object,
    /// `[…]`
    Array,
    /// One event after the other, without brackets around them; most often one a line, though line breaks mean nothing here.
    Ndjson,
    /// An object without `traceEvents` that is no event: a CPU profile, or something else.
    Plain,
}

/// Why bytes were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DamageKind {
    /// A string with a bare quote, an open string, text where JSON has none: `{"name":"a"b"}`, `{"ph" x}`.
    Malformed,
    /// A bracket that closes nothing, the wrong thing, or opens where no value may stand: `{"args":{]}`.
    Brackets,
    /// The input ends inside of it, as that of a process that was killed.
    Truncated,
    /// Something between events that is no event: `[{…},7,{…}]`.
    Garbage,
    /// `traceEvents` is not an array.
    NotEvents,
    /// An event whose brackets match and that still is no JSON. The scanner does not look for it; who proves events
    /// ([`crate::Validator`]) says so.
    NotJson,
}

impl DamageKind {
    /// All kinds, in the order in which reports list them.
    pub const ALL: [DamageKind; 6] = [
        DamageKind::Malformed,
        DamageKind::Brackets,
        DamageKind::Truncated,
        DamageKind::Garbage,
        DamageKind::NotEvents,
        DamageKind::NotJson,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            DamageKind::Malformed => "malformed",
            DamageKind::Brackets => "unbalanced",
            DamageKind::Truncated => "truncated",
            DamageKind::Garbage => "garbage",
            DamageKind::NotEvents => "not-events",
            DamageKind::NotJson => "not-json",
        }
    }

    /// One sentence for the user.
    pub fn sentence(self) -> &'static str {
        match self {
            DamageKind::Malformed => {
                "an event that is not JSON: an unescaped quote, an unfinished string or stray text"
            }
            DamageKind::Brackets => "a bracket that does not match",
            DamageKind::Truncated => "cut off before its end",
            DamageKind::Garbage => "text between the events that is not an event",
            DamageKind::NotEvents => "traceEvents is not an array",
            DamageKind::NotJson => {
                "an event that is not JSON: a missing colon or comma, an unknown word, a bad number or a bad escape"
            }
        }
    }
}

/// Bytes that could not be read as events or keys. What follows them is read as if they were not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage<'w> {
    /// What is wrong.
    pub kind: DamageKind,
    /// Offset of the first lost byte.
    pub offset: u64,
    /// Offset at which it was noticed.
    pub noticed: u64,
    /// The lost bytes.
    pub lost: &'w [u8],
}

/// A deviation from JSON by which nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// A document without its closing brackets.
    Unclosed,
    /// A missing, leading or doubled comma between events.
    Separators,
}

/// A key of a document beside its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'w> {
    /// The key as it is written, with its quotes.
    pub key: &'w [u8],
    /// The value as it is written.
    pub value: &'w [u8],
    /// Offset of the value in the input.
    pub value_offset: u64,
}

/// Takes what the scanner finds, in input order. Nobody need listen to all of it, but damage is for everybody.
///
/// What is handed over borrows from the window and lives as long as the call: keep [`Event::offset`] and a length, or a copy.
///
/// ```
/// use tracemill_tokenizer::{Damage, Event, Form, Member, Scanner, Sink, Stop, Tier, Window};
///
/// #[derive(Default)]
/// struct Outline(String);
///
/// impl Sink for Outline {
///     fn document(&mut self, form: Form) {
///         self.0 += &format!("{form:?}: ");
///     }
///     fn event(&mut self, event: &Event<'_>) {
///         self.0.push(event.phase() as char);
///     }
///     fn member(&mut self, member: Member<'_>) {
///         self.0 += &format!(" {}={}", String::from_utf8_lossy(member.key), String::from_utf8_lossy(member.value));
///     }
///     fn damage(&mut self, _: Damage<'_>) {
///         self.0.push('!');
///     }
/// }
///
/// let trace = br#"{"unit":"ms","traceEvents":[{"ph":"B"},{"ph":"E"}],"n":[1,2]}"#;
/// let mut outline = Outline::default();
/// Scanner::new(Tier::best()).feed(Window::whole(trace), Stop::NEVER, &mut outline);
/// assert_eq!(outline.0, r#"Object:  "unit"="ms"BE "n"=[1,2]"#);
/// ```
pub trait Sink {
    /// A sound event.
    fn event(&mut self, event: &Event<'_>);
    /// A document begins; for [`Form::Object`] and [`Form::Plain`] this comes with its first finding, not its `{`.
    fn document(&mut self, form: Form) {
        let _ = form;
    }
    /// A key of the current document.
    fn member(&mut self, member: Member<'_>) {
        let _ = member;
    }
    /// Something is lost.
    fn damage(&mut self, damage: Damage<'_>);
    /// A deviation without loss at `offset`.
    fn note(&mut self, note: Note, offset: u64) {
        let _ = (note, offset);
    }
}

/// What a call to [`Scanner::feed`](super::Scanner::feed) came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Everything that can be decided is; more input is needed.
    NeedInput,
    /// The input is used up.
    End,
    /// An item begins at this offset, at or after [`Stop::border`]. It was not taken.
    Border(u64),
    /// The next byte is the first inside of an array of events, or follows the first event of NDJSON. Once a scanner, and
    /// only if [`Stop::at_events`].
    Events(u64),
}

/// Where to stop before the input is used up: at a border between two scanners, or where it is clear what the events are in.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Offset at or after which no item is begun.
    pub border: u64,
    /// Stop once the first events are reached.
    pub at_events: bool,
}

impl Stop {
    /// Never.
    pub const NEVER: Stop = Stop { border: u64::MAX, at_events: false };
}

/// A stretch of the input: all of it, or as much of a pipe as is at hand.
///
/// Windows overlap. Each begins at or before [`Scanner::retain_from`](super::Scanner::retain_from), so that an item which the last one cut
/// lies in one piece.
#[derive(Clone, Copy)]
pub struct Window<'w> {
    /// The bytes from `base` on.
    pub bytes: &'w [u8],
    /// Offset of the first byte in the input; at most [`Scanner::retain_from`](super::Scanner::retain_from).
    pub base: u64,
    /// Whether the input ends with these bytes.
    pub last: bool,
}

impl<'w> Window<'w> {
    /// A whole input at once.
    pub fn whole(bytes: &'w [u8]) -> Self {
        Window { bytes, base: 0, last: true }
    }

    pub(super) fn index(&self, offset: u64) -> usize {
        (offset - self.base) as usize
    }

    pub(super) fn slice(&self, from: u64, to: u64) -> &'w [u8] {
        &self.bytes[self.index(from)..self.index(to)]
    }

    pub(super) fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }
}

/// Why the walk cannot go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub(super) kind: DamageKind,
    pub(super) noticed: u64,
}

/// Values of the envelope keys of the item at hand: per field, one past its colon.
pub(super) type Values = [u64; Field::COUNT];
