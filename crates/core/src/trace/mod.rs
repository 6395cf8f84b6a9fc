//! An opened trace: one object over any number of inputs, which does not change any more.
//!
//! Of each event 24 bytes stay: an [`Entry`](crate::entry::Entry) to sort by and a [`Place`](crate::place::Place) in input
//! order. Events themselves stay where they are: in mapped files, or in what was kept of streams.

mod events;
mod index;
mod opened;
mod threads;

pub use events::{EventOrder, Events, TraceEvent};
pub use index::Watch;
pub use opened::Trace;
pub use threads::Thread;
