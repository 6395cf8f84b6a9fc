//! Splits Chrome Trace Event JSON into events, fast and exactly.
//!
//! An event borrows its bytes from the input and has the positions of its envelope fields (`ph`,
//! `ts`, `pid` …). Values are decoded on request. The crate has no threads, output or environment
//! variables.
//!
//! To read a trace, implement [`Sink`]; the [`Scanner`] calls it for each event.
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
//! To read a stream, pass each call the bytes from [`Scanner::retain_from`] on. The results do not
//! depend on where the windows end.
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
//! # Exactness and cost
//!
//! | | representation | cost |
//! |---|---|---|
//! | events | exact byte spans | one pass, 64 bytes per step |
//! | times | [`Nanos`]: nanoseconds rounded down, and whether that is exact | a few ns each, on request |
//! | other fields | the raw bytes of the value | one pass over them, on request |
//! | damage | [`Damage`]: kind, position, lost bytes | linear in the lost bytes |
//!
//! No input ends a scan or causes a panic: the sink receives all damage. Deviations that the format
//! allows (no final `]`, a trailing comma) lose nothing and are noted. Sources: the *Trace Event
//! Format* document for the envelope, RFC 8259 for JSON, `JSON.parse` for duplicate keys.
//!
//! Start reading at [`Scanner`]. `simd` contains the block scan, [`nanos`] and [`Number`] exact
//! numbers, [`validate`] the JSON grammar, and [`Mapped`] memory-mapped files that survive
//! truncation.

mod event;
mod grammar;
mod mapped;
mod scan;
mod simd;
mod text;

pub use event::Event;
pub use grammar::cursor::Cursor;
pub use grammar::mend::mend;
pub use grammar::value::{members, value_at};
pub use grammar::{Defect, Validator, lapses, validate, validate_value};
pub use mapped::{Mapped, MappedMut, survive_lost_pages, temporary_lost};
pub use scan::find::{FieldFinder, FieldSpans, fields_of};
pub use scan::visit::visit_event;
pub use scan::{
    Damage, DamageKind, Form, Member, Note, Scanner, Shapes, Sink, Status, Stop, Window, speculate,
};
pub use simd::{Tier, prefetch};
pub use text::field::Field;
pub use text::lapse::Lapse;
pub use text::number::{Nanos, Number, canonical, nanos, number_text};
pub use text::restyle::compact;
pub use text::{
    escaped_code_point, on_one_line, parse, string_is, swar, to_text, unescape, unescaped_text,
};

/// Step between the cases of long tests; larger under Miri, which is slow.
#[cfg(test)]
const EVERY: usize = if cfg!(miri) { 37 } else { 1 };
