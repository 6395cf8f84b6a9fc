//! The tables that queries read.

mod analysed;
mod events;
pub mod pushdown;
pub mod table;

pub use events::EventsTable;

use std::sync::Arc;
use table::TraceTable;

/// Returns all tables.
pub fn all() -> Vec<Arc<dyn TraceTable>> {
    let events: Arc<dyn TraceTable> = Arc::new(EventsTable);
    std::iter::once(events).chain(analysed::tables()).collect()
}
