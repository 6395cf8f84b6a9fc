//! Queries of indexes: each returns byte ranges to read, or the reason to scan the trace.

mod chunks;
mod drawn_index;
mod drawn_windows;
mod events;
mod index_file;
mod lookup;
mod profiles;
mod ranges;
mod summary;
mod windows;

pub use drawn_index::{DrawnBin, DrawnIndex, DrawnName, DrawnSpan, DrawnState};
pub use drawn_windows::{DrawnCount, DrawnStretch};
pub use events::{IndexedEvents, events_plan, indexed_events};
pub use index_file::index_unused;
pub(crate) use profiles::profile_plan;
pub(crate) use summary::summary;
pub(crate) use windows::window_plan;
