//! An opened trace: one immutable object over any number of inputs.
//!
//! ```text
//!   entries   time, place      16 bytes per event, sorted by time        ┐ spill to
//!   lists     place             8 bytes per metadata or untimed event    ├ disk beyond
//!   places    place             8 bytes per event, in input order        ┘ their share
//!   threads, documents with their keys                                   in memory
//! ```
//!
//! The index may take a quarter of the memory: entries and lists half of it, places a quarter. The
//! bytes of events stay in mapped files, or in the kept bytes of streams.

mod events;
mod opened;
mod threads;

pub use events::{EventOrder, Events, TraceEvent};
pub use opened::Trace;
pub use threads::Thread;
