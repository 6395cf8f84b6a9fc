//! The report of `view`.

use super::head::{Run, base};
use super::object::Object;
use tracemill_trace::run::losses::InputReport;

pub(crate) fn view<'r>(inputs: &'r [InputReport], lost: u64, run: &Run<'_>) -> Object<'r> {
    base("view", inputs, lost, run, [])
}
