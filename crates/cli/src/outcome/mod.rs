//! The end of a run: its exit status, failures, and suggestions for the user.

pub(crate) mod exit;
pub(crate) mod remedies;
