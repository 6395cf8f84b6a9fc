//! `info`: what is in a trace, in one pass and memory that its events do not add to.
//!
//! ```text
//!   scan workers ─ each event: bounds, order, bins of time, tables by thread, name, category ──> census ─> report
//!        │ full: keys of args (tables), X B E (40 bytes) ─ by thread and time ─> nesting ─ self times ──┘
//!        └─ tables and slices go to disk beyond their share of the budget
//! ```
//!
//! Each event costs one look-up each by name and by category ([`table`]), and one bin of time ([`timeline`]): about as
//! much as finding it. All that is kept of parts can be added up in any order without a difference, and sums are exact
//! however many names there are ([`ledger`]), so that the answer depends on the inputs alone. Only threads, CPU profiles
//! and keys beside the events stay in memory.

mod args;
mod census;
mod lanes;
mod ledger;
mod nesting;
mod part;
mod profiles;
mod rank;
mod report;
mod runs;
mod slices;
mod table;
mod timeline;

pub use report::{
    Density, Gap, InfoReport, ProcessInfo, ProfileCount, RealEvent, ThreadInfo, TopList, TopRow,
    Usage,
};

use crate::config::Config;
use crate::inputs::read_all;
use census::Census;
use tracemill_core::error::Error;
use tracemill_core::source::Source;

/// What `info` is to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoConfig {
    /// Rows of each list of names, and of gaps.
    pub top: usize,
    /// Also what costs more: keys of args, and self times of threads and names. Each moment of a thread belongs to the
    /// slice (X, or B with its E) that began last among those open.
    pub full: bool,
    /// Also self times of threads and names where all events together take at most [`InfoConfig::SELF_TIMES_MAX`] bytes.
    pub self_times: bool,
}

impl InfoConfig {
    /// Bytes of events up to which self times cost little: a tenth of a second.
    pub const SELF_TIMES_MAX: u64 = 64 << 20;
}

/// Counts what is in `sources`, taken together.
///
/// Cost: one pass over the inputs on all cores. Heap: a row for each thread and, within an eighth of the budget's share
/// for indexes each, for each name and list of categories, beyond that on disk. With [`InfoConfig::full`] three times the
/// time, and 40 bytes for each X, B and E, on disk beyond half of that share; what is open at one time in one thread.
///
/// # Errors
/// As [`crate::merge()`], but for the output.
pub fn info(sources: &[Source], wanted: &InfoConfig, config: &Config) -> Result<InfoReport, Error> {
    config.check()?;
    let mut census = Census::new(*wanted, config);
    let inputs = read_all(sources, config, &mut census)?;
    inputs.check_unchanged()?;
    census.report(inputs)
}
