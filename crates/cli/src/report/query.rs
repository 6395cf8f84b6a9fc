//! The report of `query`, and of `convert` to tables.

use super::head::{Run, base};
use super::object::Object;
use crate::engine::QueryEnd;

pub(crate) fn query<'r>(verb: &str, end: &'r QueryEnd, lost: u64, run: &Run<'_>) -> Object<'r> {
    base(verb, &end.inputs, lost, run, [("rows", end.rows.into())])
}
