//! Tables that analyses compute: calls, CPU profiles, initiators and stacks.
//!
//! All inputs are read as one trace, by the rules of `merge`.

mod calls;
mod causes;
mod samples;
mod threads;
mod trace;

use super::row_table::RowTable;

/// The tables.
pub(super) static TABLES: [&RowTable; 7] = [
    &calls::CALL,
    &causes::INITIATOR,
    &causes::STACK,
    &samples::PROFILE,
    &samples::SAMPLE,
    &samples::CALLSITE,
    &samples::FRAME,
];
