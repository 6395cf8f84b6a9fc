//! The scan of an analysis: reads the inputs, and produces records and threads.

pub(crate) mod asked;
pub(crate) mod facts;
pub(crate) mod metadata;
pub(crate) mod opening;
pub(crate) mod placing;
pub(crate) mod reading;
pub(crate) mod refused;
pub(crate) mod spools;
pub(crate) mod texts;
mod threads;
