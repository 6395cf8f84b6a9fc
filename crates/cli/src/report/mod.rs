//! JSON reports of `--report` and `info --json`. Later versions may add keys, but never rename
//! them.
//!
//! `docs/json.md` lists all keys. A test checks that the list is complete.

mod findings;
mod head;
mod index;
mod object;
mod query;
mod traces;
#[cfg(feature = "view")]
mod view;

pub(crate) use findings::{check, profiles};
pub(crate) use head::{Run, base, id, map};
pub(crate) use index::index;
pub(crate) use object::Object;
pub(crate) use query::query;
pub(crate) use traces::{convert, filter, manifest, merge, redact, slice, split};
#[cfg(feature = "view")]
pub(crate) use view::view;
