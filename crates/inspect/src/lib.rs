//! What is in a trace, and whether it is valid, sorted, paired and openable. Nothing is written.
//!
//! | module | job |
//! |---|---|
//! | [`info`] | counts by thread, name and category; density, gaps, CPU profiles; what DevTools opens |
//! | [`check`] | a table of rules: each finding with its offset and what to do |
//! | [`async_times`] | durations of async operations |
//! | [`around`] | where events of a name are |
#![forbid(unsafe_code)]

pub mod around;
pub mod async_times;
pub mod check;
pub mod info;
