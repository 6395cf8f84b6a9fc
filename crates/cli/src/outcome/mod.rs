//! How a run ends: exit status, failures, and what to do about them.

pub(crate) mod exit;
pub(crate) mod remedies;
