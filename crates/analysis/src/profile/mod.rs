//! A CPU profile: its functions, its tree, its samples, and the calls that are made of them.

pub(crate) mod frames;
pub mod functions;
pub(crate) mod made;
pub(crate) mod maps;
pub mod model;
pub(crate) mod raw;
pub(crate) mod refusals;
pub(crate) mod samples;
