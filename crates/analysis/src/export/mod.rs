//! Call trees in the forms of other programs: folded stacks, speedscope, pprof.
//!
//! All three are written from the same flat list of rows, so that they say the same: self times in whole nanoseconds, a frame for each
//! name and place, and rows in the order of the tree.

mod folded;
mod form;
mod pprof;
mod speedscope;
pub(crate) mod stacks;

use crate::trace::Trace;
use crate::united::Part;
pub use form::{ExportForm, Exported};
use stacks::Stacks;
use std::io::{self, Write};

impl Trace {
    /// Writes call trees ([`Shape::CallTree`](crate::Shape::CallTree)) in the form of another program.
    ///
    /// Self times are rounded to whole nanoseconds, so their sum is that of the tree but for half a nanosecond a row. Rows below `depth`
    /// give their time to their caller at that depth. The same tables make the same bytes everywhere.
    ///
    /// Cost: 32 bytes of heap a row, and a frame for each name and place. Folded stacks and pprof write the whole path of each row: rows ×
    /// depth; speedscope writes each row twice.
    ///
    /// # Errors
    /// What `out` says.
    pub fn export(
        &self,
        parts: &[Part],
        form: ExportForm,
        depth: usize,
        out: &mut dyn Write,
    ) -> io::Result<Exported> {
        let stacks = Stacks::new(self, parts, depth, form == ExportForm::Pprof);
        match form {
            ExportForm::Folded => folded::write(&stacks, out)?,
            ExportForm::Speedscope => speedscope::write(&stacks, out)?,
            ExportForm::Pprof => pprof::write(&stacks, out)?,
        }
        Ok(stacks.exported)
    }
}
