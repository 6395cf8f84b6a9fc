//! The scan of an analysis: which events count, what is kept of each, and the threads that they belong to.

pub(crate) mod asked;
pub(crate) mod facts;
pub(crate) mod opening;
pub(crate) mod placing;
pub(crate) mod reading;
pub(crate) mod refused;
mod threads;
