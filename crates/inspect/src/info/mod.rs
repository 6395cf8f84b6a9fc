//! `info`: what is in a trace, in one pass and memory that its events do not add to.
//!
//! ```text
//!   scan workers ─ each event: bounds, order, bins of time, tables by thread, name, category ──> accumulator ─> report
//!        │ full: keys of args (tables), X B E (40 bytes) ─ by thread and time ─> nesting ─ self times ──┘
//!        └─ tables and slices go to disk beyond their share of the budget
//! ```
//!
//! Each event costs one look-up each by name and by category (`table`), and one bin of time (`timeline`): about as
//! much as finding it. All that is kept of parts can be added up in any order without a difference, and sums are exact
//! however many names there are (`ledger`), so that the answer depends on the inputs alone. Several inputs are read
//! twice, first for their places in a merge: new pids and moved clocks. Only threads, CPU profiles
//! and keys beside the events stay in memory.

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

/// The report that an index has.
pub struct IndexedReport {
    /// The report.
    pub report: InfoReport,
    /// The index that holds it.
    pub file: IndexFile,
}

/// Returns the report that an index has, or counts what is in `sources`, taken together. `look` sees the report before it is known
/// that the inputs are what they were.
///
/// # Errors
/// As `merge()`, but for the output.
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
