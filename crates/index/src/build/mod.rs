//! Builds indexes: observes the scan of a trace, and writes the index within its size limit.

mod bins;
mod drawn;
mod granule_names;
mod granules;
mod index;
mod lasting;
mod look;
mod observer;
mod rows;
mod sections;
mod span;
mod spans;
mod streams;
mod write;

pub(super) use index::make_or_hold;
pub use index::{IndexConfig, IndexReport, IndexSection, Reach, index};
