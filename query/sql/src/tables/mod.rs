//! The tables that queries read.

mod events;
mod facts;
pub mod pushdown;
mod table;

pub use events::EventsTable;
pub use facts::FactTable;
pub use table::{TableOfTraces, TraceTable, description};

use std::sync::Arc;

/// Returns all tables.
pub fn all() -> Vec<Arc<dyn TraceTable>> {
    let mut all: Vec<Arc<dyn TraceTable>> = vec![Arc::new(EventsTable)];
    all.extend(FactTable::ALL.map(|table| Arc::new(table) as Arc<dyn TraceTable>));
    all
}
