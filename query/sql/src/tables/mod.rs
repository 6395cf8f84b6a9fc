//! The tables that queries read.

mod analysed;
mod columns;
mod events;
mod facts;
pub mod pushdown;
pub mod table;
pub mod views;

pub use events::EventsTable;
pub use facts::FactTable;

use std::sync::Arc;
use table::TraceTable;

/// Returns all tables.
pub fn all() -> Vec<Arc<dyn TraceTable>> {
    let mut all: Vec<Arc<dyn TraceTable>> = vec![Arc::new(EventsTable)];
    all.extend(FactTable::ALL.map(|table| Arc::new(table) as Arc<dyn TraceTable>));
    all.extend(columns::tables());
    all.extend(analysed::tables());
    all
}
