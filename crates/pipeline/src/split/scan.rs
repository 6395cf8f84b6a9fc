//! Collects the partitions of all inputs, joined by value, with their runs in memory or on disk.

use super::look::{Mode, SplitLook};
use super::partition::{Partition, PartitionKind, RawThread};
use std::marker::PhantomData;
use tracemill_cpuprofile::{StreamKey, StreamOrders};
use tracemill_join::config::THREADS;
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::observe::{Needs, Observer, SealedChunk, Starter};
use tracemill_trace::order::{Order, PartitionRun, PartitionRuns, PartitionSpill};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::time::bounds::Times;

/// The findings of the scan. [`SplitScan::end_reading`] returns the entries.
pub(super) struct SplitInputs {
    pub(super) partitions: Vec<Partition>,
    numbers: HashMap<Vec<u8>, u32>,
    /// The last `Profile` event of each stream, and the partition of its thread.
    pub(super) heads: HashMap<StreamKey, (u32, Entry)>,
    pub(super) names: MetadataNames,
    pub(super) documents: Vec<Document>,
    pub(super) streams: StreamOrders,
    pub(super) times: Times,
    /// Number of events in the inputs.
    pub(super) events: u64,
    heap: u64,
}

impl SplitInputs {
    /// Returns the number of a partition, adding it if its key is new.
    pub(super) fn number(&mut self, partition: Partition) -> u32 {
        let next = self.partitions.len() as u32;
        let number = *self.numbers.entry(partition.key()).or_insert(next);
        if number == next {
            self.heap += partition.heap();
            self.partitions.push(partition);
        } else {
            self.partitions[number as usize].append(&partition);
        }
        number
    }

    pub(super) fn thread_of(&self, ids: RawThread<'_>) -> Option<u32> {
        self.numbers.get(&Partition::new(PartitionKind::Thread, ids, Vec::new()).key()).copied()
    }

    /// Returns the partition of a thread, adding it if needed.
    pub(super) fn thread(&mut self, ids: RawThread<'_>) -> u32 {
        self.number(Partition::new(PartitionKind::Thread, ids, Vec::new()))
    }
}

/// Collects the partitions of all inputs: their entries, and the CPU profile streams.
///
/// An event may be in two partitions, so this collector stores the entries instead of the index.
pub(super) struct SplitScan<M> {
    /// Memory for entries, in bytes.
    lease: Lease,
    runs: Vec<PartitionRun>,
    heap: u64,
    pub(super) found: SplitInputs,
    spill: PartitionSpill,
    quota: Quota,
    mode: PhantomData<M>,
}

impl<M: Mode> SplitScan<M> {
    pub(super) fn new(limits: &Limits) -> Self {
        SplitScan {
            lease: limits.lease("entries of partitions", Share::of_index(1, 1)),
            runs: Vec::new(),
            heap: 0,
            found: SplitInputs {
                partitions: Vec::new(),
                numbers: HashMap::default(),
                heads: HashMap::default(),
                names: MetadataNames::default(),
                documents: Vec::new(),
                streams: StreamOrders::default(),
                times: Times::NONE,
                events: 0,
                heap: 0,
            },
            quota: limits.table_quota(),
            spill: PartitionSpill::new(&limits.tmp_dir),
            mode: PhantomData,
        }
    }

    fn spill(&mut self, store: &Store<'_>) -> Result<(), Error> {
        self.spill.spill(&self.runs, Order(store))?;
        self.runs.clear();
        self.heap = 0;
        Ok(())
    }

    /// Returns the partitions and their runs.
    pub(super) fn end_reading(
        mut self,
        documents: Vec<Document>,
        store: &Store<'_>,
    ) -> Result<(SplitInputs, PartitionRuns), Error> {
        let is_on_disk = !self.spill.is_empty();
        if is_on_disk {
            self.spill(store)?;
        }
        let runs = match is_on_disk {
            true => self.spill.finish()?,
            false => PartitionRuns::in_memory(self.runs),
        };
        Ok((SplitInputs { documents, ..self.found }, runs))
    }
}

impl<M: Mode> Observer for SplitScan<M> {
    type Chunk = SplitLook<M>;

    fn needs(&self) -> Needs {
        Needs::WRITES
    }

    fn starter(&self) -> Starter<SplitLook<M>> {
        Box::new(|chunk| SplitLook::new(chunk.len_hint))
    }

    fn merge(&mut self, part: SplitLook<M>, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let found = &mut self.found;
        found.events += chunk.stats.events;
        let numbers: Vec<u32> =
            part.partitions.all.into_iter().map(|partition| found.number(partition)).collect();
        #[expect(clippy::iter_over_hash_type, reason = "each stream is on its own")]
        for (key, (thread, entry)) in part.heads {
            found.heads.insert(key, (numbers[thread as usize], entry));
        }
        found.names.append(part.names);
        self.quota.check(found.heap + found.names.heap(), THREADS)?;
        found.streams.append(part.streams);
        found.times = found.times.unite(part.times);
        let mut run = part.run;
        run.ends.iter_mut().for_each(|(partition, _)| *partition = numbers[*partition as usize]);
        if !run.entries.is_empty() {
            self.heap += run.heap() as u64;
            self.runs.push(run);
        }
        if self.heap > self.lease.bytes() { self.spill(&chunk.store()) } else { Ok(()) }
    }
}
