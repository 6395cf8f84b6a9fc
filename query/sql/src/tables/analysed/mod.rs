//! Tables that analyses compute: calls, CPU profiles, initiators and stacks.
//!
//! A table is an [`AnalysedTable`](table::AnalysedTable): its columns, whether it needs causes, and a function that
//! passes rows to a [`RowBuilder`](rows::RowBuilder). All inputs are read as one trace, by the rules of `merge`.

mod calls;
mod causes;
mod rows;
mod samples;
mod table;
mod threads;

use super::table::TraceTable;
use std::sync::Arc;

/// Returns the tables.
pub(super) fn tables() -> impl Iterator<Item = Arc<dyn TraceTable>> {
    let all = [
        &calls::CALL,
        &causes::INITIATOR,
        &causes::STACK,
        &samples::PROFILE,
        &samples::SAMPLE,
        &samples::CALLSITE,
        &samples::FRAME,
    ];
    all.into_iter().map(|table| Arc::new(table) as Arc<dyn TraceTable>)
}
