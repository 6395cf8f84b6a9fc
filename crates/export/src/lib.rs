//! Writes call trees and traces in formats of other programs: folded stacks, speedscope, pprof,
//! flame graphs as SVG, and Perfetto.
//!
//! ```text
//!  tables ─> stacks: rows as numbers ─┬─> folded, speedscope, pprof
//!                                     └─> picture: nodes ─> rectangles ─> SVG, terminal
//!  inputs ─ merge for Perfetto ─> draft ─> packets
//! ```
//!
//! Folded stacks, speedscope and pprof are written from the same list of rows, so that they agree.
//! The list has self times in whole nanoseconds, a frame for each name and location, and rows in
//! the order of the tree.
//!
//! ```
//! use tracemill_analysis::{
//!     GroupBy, Per, Picks, Query, ReadRules, Shape, TableRules, ThreadChoice, Trace,
//! };
//! use tracemill_export::{ExportForm, export};
//! use tracemill_pipeline::{Config, Source};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("trace.json");
//! # std::fs::write(&path, r#"[{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000,"dur":5000},
//! #   {"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":2000,"dur":3000}]"#)?;
//!
//! let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
//! let trace = Trace::read(&[Source::Path(path)], ReadRules::default(), &config)?;
//! let query = Query {
//!     shape: Shape::CallTree,
//!     by: GroupBy::None,
//!     rules: TableRules::default(),
//!     per: Per::All,
//!     windows: Vec::new(),
//!     picks: Picks::default(),
//!     key: None,
//! };
//! let parts = trace.parts(&trace.choose(&ThreadChoice::default()), &query)?;
//! let mut out = Vec::new();
//! export(&trace, &parts, ExportForm::Folded, usize::MAX)?.write(&mut out)?;
//! assert_eq!(String::from_utf8(out)?, "a 2000000\na;b 3000000\n"); // nanoseconds
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | job |
//! |---|---|
//! | `stacks` | rows of call trees as numbers |
//! | `folded`, `speedscope`, `pprof` | one form each |
//! | `picture` | flame graphs and flame charts |
//! | `perfetto` | traces for Perfetto |
//! | `calls` | calls of samples as events |
//! | `proto` | messages of protocol buffers |
#![forbid(unsafe_code)]

mod calls;
mod folded;
mod form;
mod perfetto;
mod picture;
mod pprof;
mod proto;
mod speedscope;
mod stacks;

pub use calls::{WrittenCalls, draft_calls, write_calls};
pub use form::{ExportForm, Exported};
pub use perfetto::{Perfetto, PerfettoDraft};
pub use picture::{
    ChangeRules, Drawn, Order, Picture, PictureRules, differential, picture, sandwich,
};
use stacks::{KeptRows, Stacks};
use std::io::{self, Write};
use tracemill_analysis::{Part, Trace};
use tracemill_trace::run::error::Error;

/// Call trees that are ready to be written in the format of another program.
pub struct Export {
    stacks: Stacks,
    form: ExportForm,
}

impl Export {
    /// Writes the call trees. Equal tables give equal bytes on all machines.
    ///
    /// Cost: in folded stacks and pprof, writes the whole path of each row.
    ///
    /// # Errors
    /// Returns the error of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.form {
            ExportForm::Folded => folded::write(&self.stacks, out),
            ExportForm::Speedscope => speedscope::write(&self.stacks, out),
            ExportForm::Pprof => pprof::write(&self.stacks, out),
        }
    }

    /// Returns the numbers of exported and changed rows.
    pub fn exported(&self) -> Exported {
        self.stacks.exported
    }
}

/// Converts call trees ([`Shape::CallTree`](tracemill_analysis::Shape::CallTree)) for a format of
/// another program.
///
/// Self times are rounded to whole nanoseconds. The rounding error of their sum is at most half a
/// nanosecond per row. The time of rows below `depth` counts as time of their caller at that depth.
///
/// Memory: 32 bytes per row, on disk beyond the budget. Heap: a frame for each name and location.
///
/// # Errors
/// Returns an I/O error of a temporary file, or [`tracemill_trace::ErrorKind::Exceeded`] if names
/// and locations need more memory than the budget has.
pub fn export(
    trace: &Trace,
    parts: &[Part],
    form: ExportForm,
    depth: usize,
) -> Result<Export, Error> {
    let kept = KeptRows { signed: form == ExportForm::Pprof, idle: true };
    let stacks = Stacks::new(trace, parts, depth, kept)?;
    Ok(Export { stacks, form })
}
