//! The scan of an analysis: which events count, their records, and their threads.

pub(crate) mod asked;
pub(crate) mod facts;
pub(crate) mod opening;
pub(crate) mod placing;
pub(crate) mod reading;
pub(crate) mod refused;
mod threads;
