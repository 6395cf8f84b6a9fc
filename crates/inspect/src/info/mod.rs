//! Summarizes a trace in one pass, in memory that does not grow with its events.
//!
//! ```text
//!   scan workers ─ each event: bounds, order, time bins, tables by name ──> accumulator ─> report
//!        │ full: tables of keys of args, X B E (40 bytes) ─> nesting ─> self times ──┘
//!        └─ tables and slices go to disk beyond their share of the budget
//! ```
//!
//! Each event costs a lookup by name, a lookup by categories (`table`), and a time bin
//! (`timeline`); together about as much as finding the event. Chunk results can be summed in any
//! order, and sums are exact for any number of names (`ledger`), so the report depends only on the
//! inputs. Several inputs are read twice: first for their new pids and clock offsets. Only threads,
//! CPU profiles and top-level keys stay in memory.

mod accumulator;
mod args;
mod ledger;
mod look;
mod needs;
mod nesting;
mod profiles;
mod rank;
mod report;
mod slices;
mod table;
mod threads;
mod timeline;
mod window;

pub use report::{
    Density, Gap, InfoReport, KeptWindow, ProcessInfo, ProfileCount, RealEvent, ThreadInfo,
    TopList, TopRow, Unended, Usage,
};

pub use accumulator::InfoAccumulator;
pub use look::{InfoLook, LastEvent};
pub use needs::InfoConfig;
pub use table::UsageTable;
use tracemill_join::config::Config;
use tracemill_join::input_set::InputSet;
use tracemill_join::inputs::scan;
use tracemill_join::read_plan::{IndexFile, Planned};
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{Nothing, Scanned};
use tracemill_trace::run::error::Error;

/// A report stored in an index.
pub struct IndexedReport {
    /// The stored report.
    pub report: InfoReport,
    /// The index file.
    pub file: IndexFile,
}

/// Returns the report of an index, or scans `sources` as one trace. `look` receives the report
/// before the final check that the inputs are unchanged.
///
/// # Errors
/// Returns the errors of `merge()`, except for its output.
pub fn info(
    sources: &[Source],
    wanted: &InfoConfig,
    planned: Planned<IndexedReport>,
    config: &Config,
    look: impl FnOnce(&InfoReport),
) -> Result<InfoReport, Error> {
    let reason = match planned {
        Planned::Plan(IndexedReport { report, file }) => {
            look(&report);
            return file.check_unchanged().map(|()| report);
        }
        Planned::Scan(reason) => reason,
    };
    let places = InputSet::places(sources, config)?;
    let accumulator = InfoAccumulator::new(*wanted, config).with_places(places);
    let Scanned { inputs, index, observed } = scan(sources, config, Nothing, accumulator)?;
    inputs.check_unchanged()?;
    let (mut report, _) = observed.report(&inputs, &index.documents)?;
    look(&report);
    inputs.check_unchanged()?;
    report.index_unused = reason.unused;
    report.warnings.extend(reason.warning);
    Ok(report)
}
