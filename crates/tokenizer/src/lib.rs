//! Bytes to trace events, fast and exactly.
//!
//! Chrome Trace Event JSON in, borrowed events out: each event's byte span and where its envelope fields (`ph`, `ts`,
//! `pid` …) stand in it. Nothing is decoded before it is asked for, nothing is copied, and no decision depends on how
//! the input was cut. No threads, no output, no environment.
//!
//! ```
//! use tracemill_tokenizer::{Damage, Event, Form, Member, Note, Scanner, Sink, Stop, Tier, Window};
//!
//! #[derive(Default)]
//! struct Longest(i64);
//!
//! impl Sink for Longest {
//!     fn event(&mut self, event: &Event<'_>) {
//!         self.0 = self.0.max(event.dur().map_or(0, |dur| dur.floor));
//!     }
//!     fn document(&mut self, _: Form) {}
//!     fn member(&mut self, _: Member<'_>) {}
//!     fn damage(&mut self, damage: Damage<'_>) {
//!         panic!("{} at byte {}", damage.kind.sentence(), damage.offset);
//!     }
//!     fn note(&mut self, _: Note, _: u64) {}
//! }
//!
//! let trace = br#"{"traceEvents":[{"ph":"X","ts":1,"dur":2.5},{"ph":"X","ts":0,"dur":7}]}"#;
//! let mut longest = Longest::default();
//! Scanner::new(Tier::best()).feed(Window::whole(trace), Stop::NEVER, &mut longest);
//! assert_eq!(longest.0, 7000); // nanoseconds
//! ```
//!
//! Start reading at [`Scanner`]; `simd` has the block scan, [`Event`] the fields, [`nanos`] and [`compare`] the exact numbers.
//! [`validate`] is the full JSON grammar, [`Mapped`] a file as memory that survives truncation.

mod cursor;
mod event;
mod find;
mod grammar;
mod mapped;
mod number;
mod restyle;
mod scan;
mod simd;
mod text;

pub use cursor::Cursor;
pub use event::{Event, Field, FieldSpans, fields_of};
pub use find::FieldFinder;
pub use grammar::{Defect, Validator, validate, validate_value};
pub use mapped::Mapped;
pub use number::{Nanos, canonical, compare, nanos, number_text};
pub use restyle::{compact, pretty};
pub use scan::{
    Damage, DamageKind, Form, Member, Note, Scanner, Sink, Status, Stop, Window, speculate,
};
pub use simd::Tier;
pub use text::{members, on_one_line, string_is, unescape};
