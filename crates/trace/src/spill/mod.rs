//! Containers for records of fixed size that spill from memory to files.
//!
//! Each container takes a [`Lease`](crate::run::memory::Lease): bytes of heap, and a folder. Data
//! beyond the lease goes to unlinked files, which vanish however the run ends. Files are mapped,
//! which takes no heap.
//!
//! | container | holds |
//! |---|---|
//! | [`SpillVec`] | records in insertion order |
//! | [`SpillArray`] | records that can be changed |
//! | [`SpillIndex`] | numbers by hash |
//! | [`SpillLists`] | many lists of records, in one file |
//! | [`RunFile`] | runs of bytes, in one file |
//! | [`Scratch`] | bytes, always in a file |
//! | [`ExternalSorter`](crate::order::ExternalSorter) | records by key and event order |
//! | [`Sorter`](crate::order::Sorter) | entries in output order |
//! | [`PartitionSpill`](crate::order::PartitionSpill) | entries of many partitions, in one file |
//!
//! ```
//! use tracemill_trace::run::memory::Lease;
//! use tracemill_trace::spill::SpillVec;
//! let mut numbers = SpillVec::new(Lease::alone(4096, std::env::temp_dir())); // bytes of heap, folder
//! for number in 0..100_000u64 {
//!     numbers.push(number)?;
//! }
//! let numbers = numbers.finish()?;
//! assert_eq!((numbers.len(), numbers.get(77_777)), (100_000, Some(77_777)));
//! assert!(numbers.spilled_bytes() > 790_000 && numbers.iter().eq(0..100_000));
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

mod array;
pub mod hash;
mod index;
mod lists;
mod record;
pub mod rows;
mod run_file;
mod scratch;
pub mod tally;
mod vec;

pub use array::{ArrayIter, SpillArray};
pub use index::SpillIndex;
pub use lists::{Records, SpillList, SpillLists};
pub use record::Record;
pub(crate) use record::records;
pub use run_file::{DiskRuns, RunFile};
pub use scratch::Scratch;
pub use vec::{SpillVec, SpilledIter, SpilledVec};
