//! Indexes of traces: what lies where, in a file beside the trace (`X.json.tmi`).
//!
//! ```text
//!   trace ─ scan workers ─ info's counts, granules, threads, places ─> build ─> X.json.tmi
//!   info ─> answer ─ is it that of the trace, and sound? ─ yes: what META says ─ no: the scan
//! ```
//!
//! The format is that of `tracemill-index`. An index may be wrong only by being refused: whoever asks it gets what a scan would
//! say, or scans.

mod bins;
mod build;
mod chunk_rows;
mod chunks;
mod drawing;
mod drawn;
mod drawn_windows;
mod fresh;
mod granule_names;
mod granules;
mod index_file;
mod lasting;
mod look;
mod lookup;
mod meta;
mod packed;
mod pages;
mod place;
mod profiles;
mod query;
mod rows;
mod sections;
mod sound;
mod span;
mod spans;
mod streams;
mod summary;
mod whole;
mod windows;
mod write;

pub use drawing::{DrawnBin, DrawnIndex, DrawnName, DrawnSpan, DrawnState};
pub use drawn_windows::{DrawnCount, DrawnStretch};
pub(crate) use index_file::index_unused;
pub use place::{has_index, index_path};
pub(crate) use profiles::profile_plan;
pub(crate) use summary::summary;
pub use whole::{IndexConfig, IndexReport, IndexSection, Reach, index};
pub(crate) use windows::window_plan;
