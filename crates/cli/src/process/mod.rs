//! The process: its caller, its memory, and where its binary is.

pub(crate) mod caller;
pub(crate) mod memory;
pub(crate) mod pointer;
