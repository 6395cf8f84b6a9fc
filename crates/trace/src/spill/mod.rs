//! What grows beyond memory: records of fixed size in memory, and beyond a limit in files.
//!
//! Each container takes a [`Lease`](crate::run::memory::Lease): bytes of heap, and a folder. What is more goes to files that have no names, so nothing stays behind
//! whatever ends the run; they are read as maps, which take no heap.
//!
//! | container | holds | on disk |
//! |---|---|---|
//! | [`SpillVec`] | records in the order in which they come | one file |
//! | [`SpillArray`] | records that are changed where they stand | one file |
//! | [`SpillIndex`] | numbers by hash | one file |
//! | [`SpillLists`] | many lists of records that grow side by side | one file for all |
//! | [`RunFile`] | runs of bytes, each written at once | one file |
//! | [`Scratch`] | bytes | always |
//! | [`ExternalSorter`](crate::order::ExternalSorter) | records by a key, then by the order of their events | sorted runs, merged by a loser tree |
//! | [`Sorter`](crate::order::Sorter) | entries of events, in the order of the output | the same |
//! | [`PartitionSpill`](crate::order::PartitionSpill) | entries of many partitions, each in that order | one file, of each partition a run each time |
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
