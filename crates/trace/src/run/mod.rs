//! Limits of a run, and its reports: threads, memory, losses, errors.

pub mod around;
pub mod error;
pub mod flaws;
pub mod limits;
pub mod losses;
pub mod memory;
pub mod remedy;
pub mod threads;
pub mod words;
