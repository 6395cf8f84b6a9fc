//! What an index answers, as data: which byte ranges of an input a verb reads, or why it scans everything.
//!
//! ```text
//!   index ─ query (`index`) ───┬─> Planned::Plan: a ReadPlan ─> slice, profile, view read its ranges ─┐ sums differ
//!                              └─> Planned::Scan: a reason ───> the verb scans its inputs <───────────┘
//! ```
//!
//! Verbs take plans as they take windows or filters: they never call the index.

mod index_file;
mod plan;
mod window_plan;

pub use index_file::Unused;
pub(crate) use index_file::{IndexFile, IndexOutcome, Planned, Stop};
pub(crate) use plan::EventSum;
pub use plan::ReadPlan;
pub(crate) use window_plan::{BASE, WindowPlan};
