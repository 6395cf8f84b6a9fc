//! The tables that queries read.

mod analysed;
mod args;
mod columns;
mod events;
mod facts;
pub mod pushdown;
mod row_table;
mod rows;
pub mod table;
pub mod views;

pub use events::EventsTable;

use row_table::RowTable;
use std::sync::Arc;
use table::TraceTable;

/// Returns all tables.
pub fn all() -> Vec<Arc<dyn TraceTable>> {
    let mut all: Vec<Arc<dyn TraceTable>> = vec![Arc::new(EventsTable)];
    let add = |table: &'static RowTable| Arc::new(table) as Arc<dyn TraceTable>;
    all.extend(facts::TABLES.into_iter().map(add));
    all.extend(columns::tables());
    all.push(add(&args::ARGS));
    all.extend(analysed::TABLES.into_iter().map(add));
    all
}
