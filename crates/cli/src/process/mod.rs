//! The process: the program that called it, its memory, and positions in its inputs.

pub(crate) mod caller;
pub(crate) mod memory;
pub(crate) mod pointer;
