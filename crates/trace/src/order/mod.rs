//! The order of the output and how it is reached.
//!
//! Metadata events first, then events without a time, both in input order: lists of places, sorted as they come. Then
//! the timed events: 16 bytes each ([`Entry`](crate::store::entry::Entry): time in nanoseconds, [`Place`](crate::store::place::Place)), ascending; at equal times the longer
//! duration first, then input order.
//!
//! A place begins with a *rank* that orders durations coarsely ([`rank`](crate::store::entry::rank): exactly for whole microseconds up to 384), so nearly all ties
//! are settled by comparing 16 bytes. What the bytes cannot settle, two durations of one rank or numbers finer than a
//! nanosecond ([`EXACT`](crate::store::entry::EXACT)), is settled on the digits in the file ([`Order::resolve_ties`]): those events are read once more.
//!
//! ```text
//!   part = one scanned chunk, sorted by its worker         (already sorted: one comparison an event)
//!   bucket = a stretch of time with some 16,000 events     (cut from every part by binary search)
//!   writer: put a bucket's slices in order in cache, resolve ties, gather
//! ```
//!
//! No entry is copied but into its bucket, so the heap stays at 16 bytes an event. Tried and slower: one big
//! sort (page faults of the copy cost more than the scan), a loser tree over natural runs (three times the time).
//! Where even 16 bytes are too many, sorted runs go to disk ([`crate::spill`]) and a loser tree merges them.
//!
//! ```
//! use tracemill_trace::store::entry::Entry;
//! use tracemill_trace::order::{Gather, Order};
//! use tracemill_trace::run::memory::Lease;
//! use tracemill_trace::store::place::Place;
//! use tracemill_trace::store::Store;
//!
//! let mut gather = Gather::new(Lease::alone(64 << 10, std::env::temp_dir()), Order::none()); // bytes of heap, folder, events to look at
//! for number in 0..50_000_u64 {
//!     let time = (number * 7919 % 50_000) as i64;
//!     gather.push(Entry { time, place: Place::new(100 * number, 90, 0) })?;
//! }
//! let (runs, _) = gather.finish()?.finish(&Store::none())?;
//! let mut times = Vec::new();
//! runs.each_in_order(Order::none(), |entry| {
//!     times.push(entry.time);
//!     Ok(())
//! })?;
//! assert!(times.into_iter().eq(0..50_000) && runs.spilled() > 1);
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

mod compare;
mod distribution;
mod external;
mod lists;
mod loser_tree;
mod merged;
pub mod overlap;
mod partitions;
mod run;
mod runs;
mod sorted;
mod sorter;
mod stamp;

pub use compare::Order;
pub use external::{ExternalSorter, KeySorter, Keyed, SortedByKey, SortedRecords};
pub use lists::Lists;
pub use loser_tree::LoserTree;
pub use merged::MergedRuns;
pub use partitions::{PartitionRun, PartitionRuns, PartitionSpill, Sequence};
pub use run::{SortedRun, write_run};
pub use runs::Buckets;
pub use sorter::{EntryRuns, Gather, Sorter, TimedEntries};
pub use stamp::Stamp;

/// Lists that need no sorting: metadata events and events without a time.
pub const METADATA: usize = 0;
/// The list of events without a time.
pub const UNTIMED: usize = 1;
