//! Reports as JSON: `--report`, and `info --json`. Keys are added over time, never renamed.
//!
//! The page `docs/json.md` has all keys; a test holds it to what is written.

mod findings;
mod head;
mod index;
mod object;
mod traces;
#[cfg(feature = "view")]
mod view;

pub(crate) use findings::{check, profiles};
pub(crate) use head::{Run, base, id, map};
pub(crate) use index::index;
pub(crate) use object::Object;
pub(crate) use traces::{convert, filter, manifest, merge, redact, slice, split};
#[cfg(feature = "view")]
pub(crate) use view::view;
