//! Results of index queries: byte ranges for a command to read, or the reason for a full scan.
//!
//! ```text
//!   index ─ query ─┬─> Planned::Plan: a ReadPlan ─> the command reads its ranges ───┐ if checksums
//!                  └─> Planned::Scan: a reason ───> the command scans its inputs <──┘ differ
//! ```
//!
//! Commands take plans as arguments, like windows or filters. They never query the index
//! themselves.

mod event_sum;
mod index_file;
mod plan;
mod window_plan;

pub use event_sum::event_sum;
pub use index_file::{IndexFile, IndexOutcome, Planned, Stop, Unused};
pub use plan::{EventSum, ReadPlan};
pub use window_plan::{BASE, WindowPlan};
