//! Call trees in the forms of other programs: folded stacks, speedscope, pprof.
//!
//! All three are written from the same flat list of rows, so that they say the same: self times in whole nanoseconds, a frame for each
//! name and place, and rows in the order of the tree.

mod folded;
mod form;
pub(crate) mod perfetto;
pub(crate) mod picture;
mod pprof;
pub(crate) mod proto;
mod speedscope;
pub(crate) mod stacks;

use crate::table::united::Part;
use crate::trace::Trace;
pub use form::{ExportForm, Exported};
use stacks::Stacks;
use std::io::{self, Write};
use tracemill_trace::run::error::Error;

/// Call trees that are ready to be written in the form of another program.
pub struct Export {
    stacks: Stacks,
    form: ExportForm,
}

impl Export {
    /// Writes them. The same tables make the same bytes everywhere.
    ///
    /// Folded stacks and pprof write the whole path of each row: rows × depth; speedscope writes each row twice.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.form {
            ExportForm::Folded => folded::write(&self.stacks, out),
            ExportForm::Speedscope => speedscope::write(&self.stacks, out),
            ExportForm::Pprof => pprof::write(&self.stacks, out),
        }
    }

    /// What is written.
    pub fn exported(&self) -> Exported {
        self.stacks.exported
    }
}

impl Trace {
    /// Call trees ([`Shape::CallTree`](crate::Shape::CallTree)) in the form of another program.
    ///
    /// Self times are rounded to whole nanoseconds, so their sum is that of the tree but for half a nanosecond a row. Rows below `depth`
    /// give their time to their caller at that depth.
    ///
    /// Cost: 32 bytes a row, on disk beyond their share of the budget, and a frame in memory for each name and place.
    ///
    /// # Errors
    /// What temporary files say; [`tracemill_trace::ErrorKind::Exceeded`] if names and places are more than there is room for.
    pub fn export(&self, parts: &[Part], form: ExportForm, depth: usize) -> Result<Export, Error> {
        let stacks = Stacks::new(self, parts, depth, form == ExportForm::Pprof)?;
        Ok(Export { stacks, form })
    }
}
