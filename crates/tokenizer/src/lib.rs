//! Bytes to trace events.
mod event;
mod grammar;
mod mapped;
mod number;
mod scan;
mod simd;
mod text;

pub use event::{Event, Field, FieldSpans, fields_of};
pub use grammar::{Defect, validate};
pub use mapped::Mapped;
pub use number::{Nanos, canonical, compare, nanos, number_text};
pub use scan::{
    Damage, DamageKind, Form, Member, Note, Scanner, Sink, Status, Stop, Window, speculate,
};
pub use simd::Tier;
pub use text::{members, on_one_line, string_is, unescape};
