//! Functions of queries: those that PerfettoSQL has, too.

mod bounds;
mod extract_arg;

pub(crate) use bounds::BoundFunction;
pub(crate) use extract_arg::{ExtractArg, ExtractArgs};
