//! Indexes of traces: what is where, in a file beside the trace (`X.json.tmi`).
//!
//! ```text
//!   trace ─ scan workers ─ build: an observer of counts, blocks, long slices, CPU profiles ─> X.json.tmi
//!   windows, profiles, info ─ query: is it the index of the trace as it is now? ─> a plan, or a reason to scan
//! ```
//!
//! [`slice()`], [`info()`], [`list_profiles()`] and [`extract_profiles()`] query the index first and hand the plan to the verb. A damaged or
//! foreign index is refused: then the trace is scanned, and the answer is the same. [`mod@format`] specifies the files.

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
    DrawnBin, DrawnCount, DrawnIndex, DrawnName, DrawnSpan, DrawnState, DrawnStretch, index_unused,
};
use query::{profile_plan, summary, window_plan};
