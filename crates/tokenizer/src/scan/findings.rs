//! Arguments and results of a scan: [`Window`], [`Stop`], [`Sink`], [`Status`].

use crate::event::Event;
use crate::text::field::Field;

/// The form of a document. Chrome and DevTools write the object form, many tools the array form,
/// and continuous loggers NDJSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `{"traceEvents":[…], …}`
    Object,
    /// `[…]`
    Array,
    /// Consecutive events without brackets around them, usually one per line.
    Ndjson,
    /// An object that is not an event and has no `traceEvents`, such as a CPU profile.
    Plain,
}

/// The reason why bytes were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DamageKind {
    /// An unescaped quote, an open string, or text that JSON does not allow: `{"name":"a"b"}`,
    /// `{"ph" x}`.
    Malformed,
    /// A bracket that closes nothing or the wrong bracket, or opens where no value may begin:
    /// `{"args":{]}`.
    Brackets,
    /// An item that the end of the input cuts off.
    Truncated,
    /// Text between events that is not an event: `[{…},7,{…}]`.
    Garbage,
    /// `traceEvents` is not an array.
    NotEvents,
    /// An event whose brackets match but that is not JSON. The scanner never reports this kind;
    /// code that proves events with [`crate::Validator`] does.
    NotJson,
}

impl DamageKind {
    /// All kinds, in the order of reports.
    pub const ALL: [DamageKind; 6] = [
        DamageKind::Malformed,
        DamageKind::Brackets,
        DamageKind::Truncated,
        DamageKind::Garbage,
        DamageKind::NotEvents,
        DamageKind::NotJson,
    ];

    /// Returns the name for reports.
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

    /// Returns a description for users.
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

/// Bytes that could not be read as events or keys. The scan continues as if they were missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage<'w> {
    /// Kind of damage.
    pub kind: DamageKind,
    /// Offset of the first lost byte.
    pub offset: u64,
    /// Offset at which the scan detected the damage.
    pub noticed: u64,
    /// The lost bytes.
    pub lost: &'w [u8],
}

/// A deviation from JSON that loses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// The closing brackets of a document are missing.
    Unclosed,
    /// A comma between events is missing, repeated, leading or trailing.
    Separators,
}

/// A top-level key of a document other than `traceEvents`, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'w> {
    /// The raw key, with its quotes.
    pub key: &'w [u8],
    /// The raw value.
    pub value: &'w [u8],
    /// Offset of the value in the input.
    pub value_offset: u64,
}

/// Receives the results of a scan, in input order.
///
/// The arguments borrow from the window: keep [`Event::offset`] and a length, or a copy.
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
    /// Receives a sound event.
    fn event(&mut self, event: &Event<'_>);
    /// Receives the form of a document that begins. For [`Form::Object`] and [`Form::Plain`] this
    /// comes before the document's first key or event, not at its `{`.
    fn document(&mut self, form: Form) {
        let _ = form;
    }
    /// Receives a top-level key of the current document.
    fn member(&mut self, member: Member<'_>) {
        let _ = member;
    }
    /// Receives lost bytes.
    fn damage(&mut self, damage: Damage<'_>);
    /// Receives a deviation without loss at `offset`.
    fn note(&mut self, note: Note, offset: u64) {
        let _ = (note, offset);
    }
}

/// The reason why [`Scanner::feed`](super::Scanner::feed) returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// More input is needed.
    NeedInput,
    /// The input is used up.
    End,
    /// An item begins at this offset, at or after [`Stop::border`]. The next call reads it.
    Border(u64),
    /// This offset is just inside an array of events, or just after the first event of NDJSON.
    /// A scanner returns this status at most once, and only if [`Stop::at_events`] is set.
    Events(u64),
}

/// Conditions that stop a scan before the end of the input.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Offset in the input. Items that begin at this offset or later are not read.
    pub border: u64,
    /// Whether to stop at the first events.
    pub at_events: bool,
}

impl Stop {
    /// No stop before the end of the input.
    pub const NEVER: Stop = Stop { border: u64::MAX, at_events: false };
}

/// A range of the input: all of it, or the bytes read so far from a pipe.
///
/// A window begins at or before [`Scanner::retain_from`](super::Scanner::retain_from), so that it
/// contains the item that the previous window cut.
#[derive(Clone, Copy)]
pub struct Window<'w> {
    /// The bytes at and after `base`.
    pub bytes: &'w [u8],
    /// Offset of the first byte in the input; at most [`Scanner::retain_from`](super::Scanner::retain_from).
    pub base: u64,
    /// Whether the input ends with this window.
    pub last: bool,
}

impl<'w> Window<'w> {
    /// Returns a window of the whole input.
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

/// The reason why the walk cannot continue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub(super) kind: DamageKind,
    pub(super) noticed: u64,
}

/// Per field of the current item, the offset just after its colon.
pub(super) type Values = [u64; Field::COUNT];
