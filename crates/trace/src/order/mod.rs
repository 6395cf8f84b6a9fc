//! Puts events in the order of the output.
//!
//! Metadata events come first, then events without a time, both in input order. Then follow the
//! timed events, 16 bytes each ([`Entry`](crate::store::entry::Entry)), by time; at equal times the
//! longer event is first, then input order decides.
//!
//! An entry contains a coarse *rank* of the duration ([`rank`](crate::store::entry::rank)), exact
//! for whole microseconds below 384, so 16 bytes settle nearly all ties. The remaining ties (two
//! durations of one rank, or times finer than a nanosecond: [`EXACT`](crate::store::entry::EXACT))
//! are settled by reading both events again ([`Order::resolve_ties`]).
//!
//! ```text
//!   part = one scanned chunk, sorted by its worker         (already sorted: one comparison each)
//!   bucket = a time interval with about 16,000 events      (cut from every part by binary search)
//!   writer: sort the slices of a bucket in cache, resolve ties, gather
//! ```
//!
//! Entries are copied only into their bucket, so the heap stays at 16 bytes per event. Beyond the
//! memory limit, sorted runs go to disk ([`crate::spill`]) and a loser tree merges them.
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

/// Index of the list of metadata events in [`Lists`].
pub const METADATA: usize = 0;
/// Index of the list of events without a time in [`Lists`].
pub const UNTIMED: usize = 1;
