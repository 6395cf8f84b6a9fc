//! What a run may take, and what it reports: limits, threads, losses, errors.

pub mod around;
pub mod error;
pub mod flaws;
pub mod limits;
pub mod losses;
pub mod memory;
pub mod remedy;
pub mod threads;
pub mod words;
