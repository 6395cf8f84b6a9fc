//! CPU profiles: functions, call tree, samples, and the calls computed from them.

pub(crate) mod frames;
pub mod functions;
pub(crate) mod made;
pub(crate) mod maps;
pub mod model;
pub(crate) mod raw;
pub(crate) mod refusals;
pub(crate) mod samples;
