//! The order of the output and how it is reached.
//!
//! Metadata events first, then events without a time, both in input order: lists of places, sorted as they come. Then
//! the timed events: 16 bytes each ([`Entry`](crate::entry::Entry): time in nanoseconds, [`Place`](crate::place::Place)), ascending; at equal times the longer
//! duration first, then input order.
//!
//! A place begins with a *rank* that orders durations coarsely ([`rank`](crate::entry::rank): exactly for whole microseconds up to 384), so nearly all ties
//! are settled by comparing 16 bytes. What the bytes cannot settle, two durations of one rank or numbers finer than a
//! nanosecond ([`EXACT`](crate::entry::EXACT)), is settled on the digits in the file ([`Order::resolve_ties`]): those events are read once more.
//!
//! ```text
//!   part = one scanned chunk, sorted by its worker         (already sorted: one comparison an event)
//!   bucket = a stretch of time with some 16,000 events     (cut from every part by binary search)
//!   writer: copy a bucket's slices, sort in cache, resolve ties, gather
//! ```
//!
//! No entry is copied but into its bucket, so the heap stays at 16 bytes an event. Tried and slower: one big
//! sort (page faults of the copy cost more than the scan), a loser tree over natural runs (three times the time).
//! Where even 16 bytes are too many, sorted runs go to disk (`spill`) and a loser tree merges them.
//!
//! # What grows beyond memory
//! Each takes a limit in bytes and a folder; what is more goes to files without names, which are read as maps.
//!
//! | container | holds | on disk |
//! |---|---|---|
//! | [`Sorter`] | entries of events, in the order of the output | sorted runs, merged by a loser tree |
//! | [`PartitionSpill`] | entries of many partitions, each in that order | one file, of each partition a run each time |
//! | [`KeyedSorter`] | records by what they belong to, and time | sorted runs, merged by a loser tree |
//! | [`Spool`] | records in the order in which they come | one file |
//! | [`SpillLists`] | many lists of records that grow side by side | one file for all |
//! | [`Column`] | numbers that are read while more come | one file, read in blocks |
//! | [`Scratch`] | bytes | always |

mod column;
mod compare;
mod keyed;
mod loser_tree;
mod partitions;
mod record;
mod run;
mod runs;
mod sorted;
mod sorter;
mod spill;
mod spill_lists;
mod spool;
mod stamp;

pub use column::{Column, ColumnReader};
pub use compare::Order;
pub use keyed::{Keyed, KeyedRuns, KeyedSorter};
pub use loser_tree::LoserTree;
pub use partitions::{PartitionRun, PartitionRuns, PartitionSpill, Sequence};
pub use record::{Record, word};
pub use run::{Run, decode, encode};
pub use runs::Buckets;
pub use sorted::Sorted;
pub use sorter::{Gather, Runs, Sorter, Timed};
pub use spill::{Lists, MergedRuns, Scratch, Spill, SpilledRuns};
pub use spill_lists::{Records, SpillList, SpillLists};
pub use spool::{Spool, Spooled};
pub use stamp::Stamp;

/// Lists that need no sorting: metadata events and events without a time.
pub const METADATA: usize = 0;
/// The list of events without a time.
pub const UNTIMED: usize = 1;
