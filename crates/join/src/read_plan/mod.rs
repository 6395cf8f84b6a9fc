//! What an index answers, as data: which byte ranges of an input a verb reads, or why it scans everything.
//!
//! ```text
//!   index ─ query (`index`) ───┬─> Planned::Plan: a ReadPlan ─> slice, profile, view read its ranges ─┐ sums differ
//!                              └─> Planned::Scan: a reason ───> the verb scans its inputs <───────────┘
//! ```
//!
//! Verbs take plans as they take windows or filters: they never call the index.

mod event_sum;
mod index_file;
mod plan;
mod window_plan;

pub use event_sum::event_sum;
pub use index_file::{IndexFile, IndexOutcome, Planned, Stop, Unused};
pub use plan::{EventSum, ReadPlan};
pub use window_plan::{BASE, WindowPlan};
