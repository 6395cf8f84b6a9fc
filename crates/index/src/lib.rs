//! Indexes of traces: files next to a trace (`X.json.tmi`) that record where each time range is.
//!
//! ```text
//!   trace ─ scan workers ─ build: counts, blocks, long slices, CPU profiles ─> X.json.tmi
//!   windows, profiles, info ─ query: is the index up to date? ─> a plan, or a reason to scan
//! ```
//!
//! [`slice()`], [`info()`], [`list_profiles()`] and [`extract_profiles()`] query the index first
//! and pass a plan to the command. If the index is damaged or belongs to another file, the trace is
//! scanned, with the same result. [`mod@format`] specifies the files.

mod build;
mod by_index;
mod chunk_rows;
pub mod drawing;
pub mod format;
mod fresh;
mod meta;
mod packed;
mod pages;
mod place;
mod query;
mod sound;

pub use build::{IndexConfig, IndexReport, IndexSection, Reach, index};
pub use by_index::{extract_profiles, info, info_with, list_profiles, slice};
pub use place::{has_index, index_path};
pub use query::{
    DrawnBin, DrawnCount, DrawnIndex, DrawnName, DrawnSpan, DrawnState, DrawnStretch,
    IndexedEvents, events_plan, index_unused, indexed_events,
};
use query::{profile_plan, summary, window_plan};
