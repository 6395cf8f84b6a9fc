//! Collects entries in any order and returns them in output order, within a memory budget.
//!
//! ```text
//!   push part, part, …  ─ above the limit ─> spill: one run in exact order, to the file
//!        │ finish
//!        ├─ nothing spilled ─> Runs::Memory ─> Buckets      threads sort buckets in cache
//!        └─ otherwise ───────> Runs::Disk ───> MergedRuns   a loser tree over the runs
//! ```
//!
//! The order is the same in memory and on disk. See [`crate::order`] for an example.

use super::{Buckets, Lists, MergedRuns, Order, SortedRun, write_run};
use crate::run::error::Error;
use crate::run::memory::Lease;
use crate::spill::{DiskRuns, RunFile, SpillVec};
use crate::store::Store;
use crate::store::entry::Entry;
use crate::store::place::Place;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

/// Number of entries read from disk at once.
const BATCH: usize = 8 * 1024;
/// Parts with fewer entries than this are gathered into runs of [`GATHERED`] entries, because each
/// run is searched for each bucket, so thousands of tiny runs would be slow.
const SMALL: usize = 4 * 1024;
/// Number of entries in a run that is gathered from small parts.
const GATHERED: usize = 64 * 1024;

/// Collects entries. Entries beyond the lease go to disk as sorted runs.
///
/// Each part is sorted; parts arrive in any order. Heap: 16 bytes per entry and 8 per place, up to
/// the lease plus one part. Callers check [`Sorter::is_full`] and spill, because only callers have
/// the store with the events of ties.
pub struct Sorter {
    parts: Vec<Vec<Entry>>,
    /// Entries of small parts, concatenated.
    small: Vec<Entry>,
    lists: [SpillVec<Place>; 2],
    /// Bytes of entries and places in memory.
    heap: u64,
    lease: Lease,
    runs: RunFile,
}

impl Sorter {
    /// Creates an empty sorter that spills beyond its lease.
    pub fn new(lease: Lease) -> Self {
        Sorter {
            parts: Vec::new(),
            small: Vec::new(),
            lists: lists(&lease),
            heap: 0,
            runs: RunFile::new(lease.tmp_dir()),
            lease,
        }
    }

    /// Returns the lease, which the lists keep alive.
    pub(super) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Adds entries, which must be sorted by their 16 bytes.
    pub fn push(&mut self, part: Vec<Entry>) {
        debug_assert!(part.is_sorted());
        if part.is_empty() {
            return;
        }
        if part.len() < SMALL {
            self.heap += size_of_val(&*part) as u64;
            self.small.extend(part);
            if self.small.len() >= GATHERED {
                self.gather();
            }
            return;
        }
        self.heap += (part.capacity() * size_of::<Entry>()) as u64;
        self.parts.push(part);
    }

    fn gather(&mut self) {
        if self.small.is_empty() {
            return;
        }
        let mut run = std::mem::take(&mut self.small);
        // the stable sort detects the parts and merges them
        run.sort();
        run.shrink_to_fit();
        self.parts.push(run);
    }

    /// Appends places to a list: [`METADATA`](super::METADATA) or [`UNTIMED`](super::UNTIMED).
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if the file cannot be written.
    pub fn list(&mut self, list: usize, places: &[Place]) -> Result<(), Error> {
        self.heap += size_of_val(places) as u64;
        self.lists[list].extend(places)
    }

    /// Returns whether entries exceed the lease, so that [`Sorter::spill`] is due.
    pub fn is_full(&self) -> bool {
        self.heap > self.lease.bytes()
    }

    /// Writes the entries in memory as a run. `order` covers all events read so far.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if the file cannot be written.
    pub fn spill(&mut self, order: Order<'_, '_>) -> Result<(), Error> {
        self.gather();
        write_run(&mut self.runs, self.parts.iter().map(Vec::as_slice), order)?;
        self.lists.iter_mut().try_for_each(SpillVec::spill)?;
        self.parts.clear();
        self.heap = 0;
        Ok(())
    }

    /// Returns the collected runs and lists, and resets the sorter. Entries stay in memory if no
    /// entry was spilled.
    ///
    /// # Errors
    /// See [`Sorter::spill`].
    pub fn finish(&mut self, store: &Store<'_>) -> Result<(EntryRuns, Lists), Error> {
        let is_on_disk = !self.runs.is_empty();
        if is_on_disk {
            self.spill(Order(store))?;
        }
        self.gather();
        let [metadata, untimed] = std::mem::replace(&mut self.lists, lists(&self.lease));
        let lists = Lists([metadata.finish()?, untimed.finish()?]);
        if !is_on_disk {
            return Ok((EntryRuns::Memory(std::mem::take(&mut self.parts)), lists));
        }
        let runs = std::mem::replace(&mut self.runs, RunFile::new(self.lease.tmp_dir()));
        Ok((EntryRuns::Disk(vec![runs.finish()?]), lists))
    }
}

/// Creates lists that spill when the entries do.
fn lists(lease: &Lease) -> [SpillVec<Place>; 2] {
    [0, 1].map(|_| SpillVec::new(lease.unbounded()))
}

/// Collects single entries in parts of 256 KiB, and spills automatically.
pub struct Gather<'s, 'p> {
    sorter: Sorter,
    /// Unsorted entries since the last part.
    part: Vec<Entry>,
    order: Order<'s, 'p>,
    /// Number of entries added.
    pub events: u64,
    /// Total bytes of the events of these entries.
    pub bytes: u64,
}

impl<'s, 'p> Gather<'s, 'p> {
    /// Creates an empty collector that spills beyond its lease.
    pub fn new(lease: Lease, order: Order<'s, 'p>) -> Self {
        Self::onto(Sorter::new(lease), order)
    }

    /// Creates a collector that adds to a sorter, whose entries are not counted.
    pub fn onto(sorter: Sorter, order: Order<'s, 'p>) -> Self {
        Gather { sorter, part: Vec::new(), order, events: 0, bytes: 0 }
    }

    /// Adds an entry, in any order.
    ///
    /// # Errors
    /// Returns [`crate::run::error::ErrorKind::Scratch`] if the file cannot be written.
    pub fn push(&mut self, entry: Entry) -> Result<(), Error> {
        self.part.push(entry);
        self.events += 1;
        self.bytes += self.order.0.len(entry.place);
        if self.part.len() * size_of::<Entry>() >= 1 << 18 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let mut part = std::mem::take(&mut self.part);
        part.sort_unstable();
        self.sorter.push(part);
        if self.sorter.is_full() { self.sorter.spill(self.order) } else { Ok(()) }
    }

    /// Returns the sorter with all entries.
    ///
    /// # Errors
    /// Returns [`crate::run::error::ErrorKind::Scratch`] if the file cannot be written.
    pub fn finish(mut self) -> Result<Sorter, Error> {
        self.flush()?;
        Ok(self.sorter)
    }
}

/// Sorted runs of entries, in memory or on disk.
pub enum EntryRuns {
    /// Sorted parts in memory.
    Memory(Vec<Vec<Entry>>),
    /// Runs on disk, of one or more sorters.
    Disk(Vec<DiskRuns>),
}

impl EntryRuns {
    /// Returns the number of runs on disk.
    pub fn spilled(&self) -> u64 {
        match self {
            EntryRuns::Memory(_) => 0,
            EntryRuns::Disk(all) => all.iter().map(|runs| runs.count() as u64).sum(),
        }
    }

    /// Returns the runs, each sorted by time.
    fn runs(&self) -> Box<dyn Iterator<Item = SortedRun<'_>> + '_> {
        match self {
            EntryRuns::Memory(parts) => Box::new(parts.iter().map(|part| SortedRun::Memory(part))),
            EntryRuns::Disk(all) => Box::new(all.iter().flat_map(DiskRuns::entries)),
        }
    }

    /// Returns every entry at `time`, in any order. Cost: a binary search per run.
    pub fn at(&self, time: i64) -> impl Iterator<Item = Entry> + '_ {
        self.runs().flat_map(move |run| run.at_time(time))
    }

    /// Returns every entry, in any order.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        self.runs().flat_map(SortedRun::iter)
    }

    /// Passes every entry to `each` in exact output order, on the calling thread. Cost: an in-cache
    /// sort per bucket; from disk log2(runs) comparisons per entry.
    ///
    /// # Errors
    /// Returns any error of `each`.
    pub fn each_in_order(
        &self,
        order: Order<'_, '_>,
        mut each: impl FnMut(Entry) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut batch = Vec::new();
        match self.timed(order) {
            TimedEntries::Buckets(buckets) => {
                for bucket in 0..buckets.count() {
                    buckets.collect(bucket, &mut batch);
                    order.resolve_ties(&mut batch);
                    batch.iter().try_for_each(|&entry| each(entry))?;
                }
                Ok(())
            }
            TimedEntries::Merged(merged) => {
                let mut merged = merged.into_inner().unwrap_or_else(|e| e.into_inner());
                loop {
                    batch.clear();
                    merged.next_batch(order, BATCH, &mut batch);
                    if batch.is_empty() {
                        return Ok(());
                    }
                    batch.iter().try_for_each(|&entry| each(entry))?;
                }
            }
        }
    }

    /// Returns the entries in output order, in batches that threads can share.
    pub fn timed(&self, order: Order<'_, '_>) -> TimedEntries<'_> {
        match self {
            EntryRuns::Memory(parts) => {
                TimedEntries::Buckets(Buckets::over(parts.iter().map(Vec::as_slice)))
            }
            EntryRuns::Disk(all) => {
                let runs = all.iter().flat_map(DiskRuns::entries);
                TimedEntries::Merged(Mutex::new(MergedRuns::over(runs, order)))
            }
        }
    }

    /// Returns the entries whose times are in `window`, like [`EntryRuns::timed`]. Cost: two binary
    /// searches per run.
    pub fn timed_in(&self, window: Range<i64>, order: Order<'_, '_>) -> TimedEntries<'_> {
        let within = |run: SortedRun<'_>| {
            let start = run.before(window.start);
            start..run.before(window.end).max(start)
        };
        match self {
            EntryRuns::Memory(parts) => {
                let parts = parts.iter().map(|part| &part[within(SortedRun::Memory(part))]);
                TimedEntries::Buckets(Buckets::over(parts))
            }
            EntryRuns::Disk(all) => {
                let runs = all.iter().flat_map(DiskRuns::entries);
                let runs = runs.map(|run| run.slice(within(run)));
                TimedEntries::Merged(Mutex::new(MergedRuns::over(runs, order)))
            }
        }
    }

    /// Joins the runs of two sorters.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if the file cannot be written.
    pub fn join(
        self,
        others: EntryRuns,
        order: Order<'_, '_>,
        tmp_dir: &Path,
    ) -> Result<EntryRuns, Error> {
        let on_disk = |runs| -> Result<Vec<DiskRuns>, Error> {
            match runs {
                EntryRuns::Disk(runs) => Ok(runs),
                EntryRuns::Memory(parts) => {
                    let mut file = RunFile::new(tmp_dir);
                    write_run(&mut file, parts.iter().map(Vec::as_slice), order)?;
                    Ok(vec![file.finish()?])
                }
            }
        };
        match (self, others) {
            (EntryRuns::Memory(mut runs), EntryRuns::Memory(others)) => {
                runs.extend(others);
                Ok(EntryRuns::Memory(runs))
            }
            (runs, others) => {
                let mut all = on_disk(runs)?;
                all.extend(on_disk(others)?);
                Ok(EntryRuns::Disk(all))
            }
        }
    }
}

/// Timed entries in order, for reading in batches.
pub enum TimedEntries<'r> {
    /// Runs in memory; a bucket is a batch.
    Buckets(Buckets<'r>),
    /// Runs on disk.
    Merged(Mutex<MergedRuns<'r>>),
}

impl<'r> TimedEntries<'r> {
    /// Returns the runs, each sorted by time.
    pub fn runs(&self) -> Vec<SortedRun<'r>> {
        match self {
            TimedEntries::Buckets(buckets) => buckets.runs().map(SortedRun::Memory).collect(),
            TimedEntries::Merged(merged) => {
                merged.lock().unwrap_or_else(|e| e.into_inner()).runs().to_vec()
            }
        }
    }
}
