//! Entries that are collected in any order and read in the order of the output, within a budget.
//!
//! ```text
//!   push part, part, …  ─ more than the limit ─> spill: one run in exact order, to the file
//!        │ finish
//!        ├─ nothing was spilled ─> Runs::Memory ─> Buckets      threads sort buckets in cache
//!        └─ else ────────────────> Runs::Disk ───> MergedRuns   a loser tree over the runs
//! ```
//!
//! Both give the same order to the last entry: what differs is who does the work, and when. See [`crate::order`] for an example.

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

/// Entries read from disk at a time.
const BATCH: usize = 8 * 1024;
/// Parts with fewer entries become runs of this many together: each run is searched for each bucket, and thousands of small
/// inputs would be as many (20,000 of 100 events took 10 s of CPU time instead of 1).
const SMALL: usize = 4 * 1024;
const GATHERED: usize = 64 * 1024;

/// Collects entries; beyond its limit they go to disk as sorted runs.
///
/// Parts come as workers sorted them, in any order. Heap: 16 bytes an entry and 8 a place, up to the limit and one part more; callers ask
/// [`Sorter::is_full`] and spill, since only they have the store that ties are resolved with.
pub struct Sorter {
    /// Sorted each.
    parts: Vec<Vec<Entry>>,
    /// Entries of small parts, one part behind the other.
    small: Vec<Entry>,
    lists: [SpillVec<Place>; 2],
    /// Bytes of entries and places in memory.
    heap: u64,
    /// Bytes of entries and places that may be in memory.
    lease: Lease,
    runs: RunFile,
}

impl Sorter {
    /// None yet; of entries that are more than the lease has the rest goes to disk.
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

    /// What it takes of the memory; the lists hold it on.
    pub(super) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Takes entries, which must be sorted by their 16 bytes.
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

    /// Makes a run of the small parts.
    fn gather(&mut self) {
        if self.small.is_empty() {
            return;
        }
        let mut run = std::mem::take(&mut self.small);
        // the stable sort finds the parts and merges them
        run.sort();
        run.shrink_to_fit();
        self.parts.push(run);
    }

    /// Appends to a list: [`METADATA`](super::METADATA) or [`UNTIMED`](super::UNTIMED).
    ///
    /// # Errors
    /// [`Scratch`](crate::run::error::ErrorKind::Scratch) if the disk does not take them.
    pub fn list(&mut self, list: usize, places: &[Place]) -> Result<(), Error> {
        self.heap += size_of_val(places) as u64;
        self.lists[list].extend(places)
    }

    /// Whether there is more than may be in memory: then [`Sorter::spill`] is due.
    pub fn is_full(&self) -> bool {
        self.heap > self.lease.bytes()
    }

    /// Writes everything that is in memory as a run; `order` is over all that was read so far.
    ///
    /// # Errors
    /// [`Scratch`](crate::run::error::ErrorKind::Scratch) if the disk does not take it.
    pub fn spill(&mut self, order: Order<'_, '_>) -> Result<(), Error> {
        self.gather();
        write_run(&mut self.runs, self.parts.iter().map(Vec::as_slice), order)?;
        self.lists.iter_mut().try_for_each(SpillVec::spill)?;
        self.parts.clear();
        self.heap = 0;
        Ok(())
    }

    /// Ends collecting, and begins anew: what is in memory stays there, unless some of it went to disk already.
    ///
    /// # Errors
    /// As [`Sorter::spill`].
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

/// Lists that go to disk when the entries do.
fn lists(lease: &Lease) -> [SpillVec<Place>; 2] {
    [0, 1].map(|_| SpillVec::new(lease.unbounded()))
}

/// Collects entries that come one by one, in parts of 256 KiB, and spills by itself.
pub struct Gather<'s, 'p> {
    sorter: Sorter,
    /// Those that came since the last part, not sorted.
    part: Vec<Entry>,
    order: Order<'s, 'p>,
    /// How many there are, and their bytes.
    pub events: u64,
    /// Bytes of heap of those not handed on yet.
    pub bytes: u64,
}

impl<'s, 'p> Gather<'s, 'p> {
    /// None yet; what is more than the lease has goes to disk.
    pub fn new(lease: Lease, order: Order<'s, 'p>) -> Self {
        Self::onto(Sorter::new(lease), order)
    }

    /// Adds to what a sorter has, which is not counted.
    pub fn onto(sorter: Sorter, order: Order<'s, 'p>) -> Self {
        Gather { sorter, part: Vec::new(), order, events: 0, bytes: 0 }
    }

    /// Adds one, in any order.
    ///
    /// # Errors
    /// [`crate::run::error::ErrorKind::Scratch`] if the disk does not take a run.
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

    /// All of them, to be put in order.
    ///
    /// # Errors
    /// [`crate::run::error::ErrorKind::Scratch`] if the disk does not take the rest.
    pub fn finish(mut self) -> Result<Sorter, Error> {
        self.flush()?;
        Ok(self.sorter)
    }
}

/// Sorted runs: in memory, or on disk.
pub enum EntryRuns {
    /// Sorted parts, in memory.
    Memory(Vec<Vec<Entry>>),
    /// Those of several sorters, one after the other.
    Disk(Vec<DiskRuns>),
}

impl EntryRuns {
    /// How many were spilled.
    pub fn spilled(&self) -> u64 {
        match self {
            EntryRuns::Memory(_) => 0,
            EntryRuns::Disk(all) => all.iter().map(|runs| runs.count() as u64).sum(),
        }
    }

    /// The runs, each sorted by time.
    fn runs(&self) -> Box<dyn Iterator<Item = SortedRun<'_>> + '_> {
        match self {
            EntryRuns::Memory(parts) => Box::new(parts.iter().map(|part| SortedRun::Memory(part))),
            EntryRuns::Disk(all) => Box::new(all.iter().flat_map(DiskRuns::entries)),
        }
    }

    /// Every entry of a time, in no particular order. Cost: a binary search a run.
    pub fn at(&self, time: i64) -> impl Iterator<Item = Entry> + '_ {
        self.runs().flat_map(move |run| run.at_time(time))
    }

    /// Every entry, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        self.runs().flat_map(SortedRun::iter)
    }

    /// Every entry in the exact order of the output, on this thread. Cost: by entry a copy and its share of a sort in cache, or, from disk, a
    /// comparison for each doubling of the number of runs.
    ///
    /// # Errors
    /// Those of `each`.
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

    /// As the output takes them: for who shares buckets out among threads.
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

    /// As [`EntryRuns::timed`], of the times in `window`. Cost: two binary searches a run.
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

    /// These and others as one.
    ///
    /// # Errors
    /// [`Scratch`](crate::run::error::ErrorKind::Scratch) if the disk does not take it.
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
            (EntryRuns::Memory(mut own), EntryRuns::Memory(others)) => {
                own.extend(others);
                Ok(EntryRuns::Memory(own))
            }
            (own, others) => {
                let mut all = on_disk(own)?;
                all.extend(on_disk(others)?);
                Ok(EntryRuns::Disk(all))
            }
        }
    }
}

/// Timed events in order, to be taken a batch at a time.
pub enum TimedEntries<'r> {
    /// Runs in memory: a batch is a bucket.
    Buckets(Buckets<'r>),
    /// Runs on disk.
    Merged(Mutex<MergedRuns<'r>>),
}

impl<'r> TimedEntries<'r> {
    /// The runs, each sorted by time.
    pub fn runs(&self) -> Vec<SortedRun<'r>> {
        match self {
            TimedEntries::Buckets(buckets) => buckets.runs().map(SortedRun::Memory).collect(),
            TimedEntries::Merged(merged) => {
                merged.lock().unwrap_or_else(|e| e.into_inner()).runs().to_vec()
            }
        }
    }
}
