//! Bytes to trace events, fast and exactly.
//!
//! Chrome Trace Event JSON in, borrowed events out: each event's byte span and where its envelope fields (`ph`, `ts`,
//! `pid` …) stand in it. Nothing is decoded before it is asked for, nothing is copied, and no decision depends on how
//! the input was cut. No threads, no output, no environment.
//!
//! Read a trace: what is found is handed to a [`Sink`].
//!
//! ```
//! use tracemill_tokenizer::{Damage, Event, Scanner, Sink, Stop, Tier, Window};
//!
//! struct Longest(i64);
//!
//! impl Sink for Longest {
//!     fn event(&mut self, event: &Event<'_>) {
//!         self.0 = self.0.max(event.dur().map_or(0, |dur| dur.floor));
//!     }
//!     fn damage(&mut self, damage: Damage<'_>) {
//!         panic!("{} at byte {}", damage.kind.sentence(), damage.offset);
//!     }
//! }
//!
//! let trace = br#"{"traceEvents":[{"ph":"X","ts":1,"dur":2.5},{"ph":"X","ts":0,"dur":7}]}"#;
//! let mut longest = Longest(0);
//! Scanner::new(Tier::best()).feed(Window::whole(trace), Stop::NEVER, &mut longest);
//! assert_eq!(longest.0, 7000); // nanoseconds
//! ```
//!
//! Read what comes in pieces: give each call the bytes from [`Scanner::retain_from`] on. The findings are the same, wherever the
//! pieces end.
//!
//! ```
//! use tracemill_tokenizer::{Damage, Event, Field, Scanner, Sink, Stop, Tier, Window};
//!
//! struct Names(Vec<String>);
//!
//! impl Sink for Names {
//!     fn event(&mut self, event: &Event<'_>) {
//!         let name = event.field(Field::Name).unwrap_or(b"none");
//!         self.0.push(String::from_utf8_lossy(name).into_owned());
//!     }
//!     fn damage(&mut self, _: Damage<'_>) {}
//! }
//!
//! let trace = br#"[{"name":"a","ts":1},{"name":"b","ts":2}]"#;
//! let (mut names, mut scanner) = (Names(Vec::new()), Scanner::new(Tier::best()));
//! for end in 0..=trace.len() {
//!     let from = scanner.retain_from();
//!     let window = Window { bytes: &trace[from as usize..end], base: from, last: end == trace.len() };
//!     scanner.feed(window, Stop::NEVER, &mut names);
//! }
//! assert_eq!(names.0, ["\"a\"", "\"b\""]);
//! ```
//!
//! # What is exact, and what it costs
//!
//! | | shape | cost |
//! |---|---|---|
//! | events | byte spans, to the byte as they stand | one pass, 64 bytes at a step |
//! | times | [`Nanos`]: microseconds in the text, nanoseconds here, rounded down, and whether that is all | some ns each, when asked for |
//! | other fields | the bytes of the value | a look at them, when asked for |
//! | damage | [`Damage`]: kind, place, the bytes that are lost | linear in what is lost |
//!
//! Errors are findings: no bytes end a scan, or make it panic. Where rules come from: the envelope from the *Trace Event Format*
//! document, JSON from RFC 8259, what counts of duplicate keys from `JSON.parse`, and what real files look like from those that producers write.
//! What the format allows and JSON does not (no `]` at the end, a trailing comma) is read without loss and noted.
//!
//! Start reading at [`Scanner`]; `simd` has the block scan, [`Event`] the fields, [`nanos`] and [`Number`] the exact numbers.
//! [`validate`] is the full JSON grammar, [`Mapped`] a file as memory that survives truncation.

mod event;
mod grammar;
mod mapped;
mod scan;
mod simd;
mod text;

pub use event::Event;
pub use grammar::cursor::Cursor;
pub use grammar::mend::mend;
pub use grammar::value::members;
pub use grammar::{Defect, Validator, lapses, validate, validate_value};
pub use mapped::{Mapped, MappedMut, survive_lost_pages, temporary_lost};
pub use scan::find::{FieldFinder, FieldSpans, fields_of};
pub use scan::visit::visit_event;
pub use scan::{
    Damage, DamageKind, Form, Member, Note, Scanner, Sink, Status, Stop, Window, speculate,
};
pub use simd::{Tier, prefetch};
pub use text::field::Field;
pub use text::lapse::Lapse;
pub use text::number::{Nanos, Number, canonical, nanos, number_text};
pub use text::restyle::compact;
pub use text::{
    escaped_code_point, on_one_line, parse, string_is, swar, to_text, unescape, unescaped_text,
};

/// Of a long test every how many-th case is tried: few under Miri, which takes a thousand times as long for each.
#[cfg(test)]
const EVERY: usize = if cfg!(miri) { 37 } else { 1 };
