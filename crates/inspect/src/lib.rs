//! Reports the contents of a trace, and whether it is valid, sorted, paired and openable. Writes
//! nothing.
//!
//! | module | job |
//! |---|---|
//! | [`info`] | counts by thread, name and category; density, gaps, CPU profiles; what DevTools opens |
//! | [`check`] | a table of rules; each finding with its offset and a suggestion |
//! | [`async_times`] | durations of async operations |
//! | [`around`] | start and end of an event with a given name |
#![forbid(unsafe_code)]

pub mod around;
pub mod async_times;
pub mod check;
pub mod info;
