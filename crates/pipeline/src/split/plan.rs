//! Plans the parts: decides which events each file will contain, before the first file is written.

use super::by::SplitBy;
use super::cut::{Anchor, CutStretch, Cutter, OpenPairs, PARTS_MOST, SEPARATOR, too_many};
use super::frames::TraceFrames;
use super::group::ThreadGroup;
use super::live_threads::LiveThreads;
use super::look::{TIMED, UNTIMED};
use super::partition::PartitionKind;
use super::scan::SplitInputs;
use std::collections::BTreeSet;
use tracemill_cpuprofile::StreamKey;
use tracemill_trace::order::{Order, PartitionRuns, Sequence, SortedRun};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::store::entry::Entry;

/// A part, which becomes one file.
pub(super) struct OutputPart {
    /// The number of the part, from 0 on.
    pub(super) number: usize,
    /// The index of the part's group.
    pub(super) group: usize,
    /// Whether the part contains its whole group.
    whole: bool,
    /// The first entries of this part and of the next part, in the group's sequence.
    pub(super) range: (Option<Entry>, Option<Entry>),
    chunks: Vec<u32>,
    metadata: Vec<u32>,
    /// Repeated events, in order.
    pub(super) copies: Vec<Entry>,
    pub(super) threads: Vec<u32>,
    /// Number of events, including metadata and repeated events.
    pub(super) events: u64,
    /// Bytes of the events that `events` counts.
    pub(super) bytes: u64,
    pub(super) metadata_events: u64,
    /// Times of the first and the last event.
    pub(super) times: Option<(i64, i64)>,
}

impl OutputPart {
    /// Returns whether the part contains a CPU profile stream.
    pub(super) fn has_streams(&self) -> bool {
        !self.chunks.is_empty()
    }
}

/// Partitions of begin and end events by thread key; true for begin events.
type Halves = HashMap<Vec<u8>, Vec<(u32, bool)>>;

/// Metadata bytes that every part of a group may have, and that only the first part has.
struct MetadataBytes {
    every: u64,
    first: u64,
}

/// The partitions and options by which parts are planned.
pub(super) struct Planner<'f, 's, 'p> {
    pub(super) found: &'f SplitInputs,
    pub(super) runs: &'f PartitionRuns,
    pub(super) order: Order<'s, 'p>,
    pub(super) by: SplitBy,
    pub(super) max_size: Option<u64>,
    /// Bytes of each part outside its events, without stack frames.
    pub(super) overhead: u64,
    pub(super) frames: Option<&'f TraceFrames>,
    /// Memory quota for repeated events.
    pub(super) room: Quota,
}

/// Returns the partition of each stream with the partition of its thread. Creates missing
/// partitions of threads.
pub(super) fn owners(found: &mut SplitInputs) -> Vec<(u32, u32)> {
    let streams: Vec<u32> = partitions_of(found, PartitionKind::Chunks).collect();
    let mut owner = |&chunks: &u32| {
        let partition = found.partitions[chunks as usize].clone();
        let head = found.heads.get(&partition.stream).map(|head| head.0);
        (chunks, head.unwrap_or_else(|| found.thread(partition.ids())))
    };
    streams.iter().map(&mut owner).collect()
}

pub(super) fn partitions_of(
    found: &SplitInputs,
    kind: PartitionKind,
) -> impl Iterator<Item = u32> + '_ {
    (0..found.partitions.len() as u32)
        .filter(move |&partition| found.partitions[partition as usize].kind == kind)
}

impl<'f> Planner<'f, '_, '_> {
    /// Returns all parts. The parts of a group are adjacent.
    ///
    /// # Errors
    /// Returns [`tracemill_trace::ErrorKind::Parts`] if there are too many parts.
    pub(super) fn parts(&self, groups: &[ThreadGroup]) -> Result<Vec<OutputPart>, Error> {
        let by_thread = self.metadata_partitions(PartitionKind::ThreadMetadata);
        let by_process = self.metadata_partitions(PartitionKind::ProcessMetadata);
        let named = |threads: &[u32]| -> Vec<u32> {
            let partitions = threads.iter().map(|&thread| &self.found.partitions[thread as usize]);
            let named = partitions.flat_map(|partition| {
                let process = by_process.get(&partition.process_key());
                by_thread.get(&partition.thread_key()).into_iter().chain(process).copied()
            });
            named.collect::<BTreeSet<u32>>().into_iter().collect()
        };
        let halves = self.halves();
        let all: Vec<u32> = groups.iter().flat_map(|group| group.threads.clone()).collect();
        let strays = self.strays(&named(&all).into_iter().collect());
        let processes = self.processes(&all);
        let of_nobody = |&stray: &u32| !processes.contains(&self.process_key(stray));
        let mut parts = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let metadata = named(&group.threads);
            if self.is_cut() {
                let group_processes = self.processes(&group.threads);
                let of_group = |&stray: &u32| group_processes.contains(&self.process_key(stray));
                let every = strays.iter().copied().filter(of_group).chain(metadata);
                let first = strays.iter().copied().filter(|stray| number == 0 && of_nobody(stray));
                let bytes = MetadataBytes { every: self.bytes(every), first: self.bytes(first) };
                for mut part in self.cut(number, group, bytes, &halves)? {
                    part.metadata = named(&part.threads);
                    parts.push(part);
                }
            } else {
                parts.push(self.whole(number, group, metadata));
            }
            if parts.len() > PARTS_MOST {
                return Err(too_many());
            }
        }
        self.place_strays(&mut parts);
        for (number, part) in parts.iter_mut().enumerate() {
            part.number = number;
            for &partition in &part.metadata {
                let (events, bytes) = self.weight(partition);
                part.events += events;
                part.bytes += bytes;
                part.metadata_events += events;
            }
        }
        Ok(parts)
    }

    /// Groups the threads by the criterion of the split. Returns at least one group.
    pub(super) fn groups(&self, owners: &[(u32, u32)]) -> Vec<ThreadGroup> {
        let mut groups: Vec<ThreadGroup> = Vec::new();
        let mut numbers: HashMap<Vec<u8>, usize> = HashMap::default();
        let mut group_of = HashMap::default();
        let is_whole = !matches!(self.by, SplitBy::Pid | SplitBy::Tid | SplitBy::Cat);
        for thread in partitions_of(self.found, PartitionKind::Thread) {
            let partition = &self.found.partitions[thread as usize];
            let key = match self.by {
                SplitBy::Pid => partition.process_key(),
                SplitBy::Tid => partition.thread_key(),
                SplitBy::Cat => partition.category_key(),
                SplitBy::Time(_) | SplitBy::Size(_) | SplitBy::Events(_) => Vec::new(),
            };
            let number = *numbers.entry(key).or_insert(groups.len());
            if number == groups.len() {
                groups.push(ThreadGroup {
                    threads: Vec::new(),
                    plain: Vec::new(),
                    chunks: Vec::new(),
                });
            }
            groups[number].threads.push(thread);
            group_of.insert(thread, number);
            if !is_whole {
                groups[number].plain.push(thread);
            }
        }
        if groups.is_empty() {
            groups.push(ThreadGroup { threads: Vec::new(), plain: Vec::new(), chunks: Vec::new() });
        }
        if is_whole {
            groups[0].plain.extend(partitions_of(self.found, PartitionKind::Whole));
        }
        for (chunks, thread) in owners {
            groups[group_of.get(thread).copied().unwrap_or(0)].chunks.push(*chunks);
        }
        groups
    }

    fn is_cut(&self) -> bool {
        self.max_size.is_some() || !matches!(self.by, SplitBy::Pid | SplitBy::Tid | SplitBy::Cat)
    }

    /// Returns the partitions of metadata by thread or process.
    fn metadata_partitions(&self, kind: PartitionKind) -> HashMap<Vec<u8>, u32> {
        let partitions = partitions_of(self.found, kind).map(|number| {
            let partition = &self.found.partitions[number as usize];
            match kind {
                PartitionKind::ThreadMetadata => (partition.thread_key(), number),
                _ => (partition.process_key(), number),
            }
        });
        partitions.collect()
    }

    fn weight(&self, partition: u32) -> (u64, u64) {
        let partition = &self.found.partitions[partition as usize];
        (partition.events, partition.bytes)
    }

    fn runs_of<'a>(&'a self, partitions: &'a [u32]) -> impl Iterator<Item = SortedRun<'f>> + 'a {
        partitions.iter().flat_map(|&partition| self.runs.of(partition))
    }

    /// Returns a group as a single part.
    fn whole(&self, number: usize, group: &ThreadGroup, metadata: Vec<u32>) -> OutputPart {
        let partitions = || group.plain.iter().chain(&group.chunks);
        let (events, bytes) = partitions()
            .map(|&partition| self.weight(partition))
            .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let sequence =
            Sequence(partitions().flat_map(|&partition| self.runs.of(partition)).collect());
        OutputPart {
            number: 0,
            group: number,
            whole: true,
            range: (None, None),
            chunks: group.chunks.clone(),
            metadata,
            copies: Vec::new(),
            threads: group.threads.clone(),
            events,
            bytes,
            metadata_events: 0,
            times: sequence.times(TIMED),
        }
    }

    fn cut(
        &self,
        number: usize,
        group: &ThreadGroup,
        metadata: MetadataBytes,
        halves: &Halves,
    ) -> Result<Vec<OutputPart>, Error> {
        let sequence = Sequence(self.runs_of(&group.plain).collect());
        let anchors = self.anchors(&group.chunks);
        let mut opens = self.opens(group, halves);
        let mut cutter = Cutter {
            order: self.order,
            by: self.max_size.map_or(self.by, SplitBy::Size),
            start: self.found.times.bounds().map_or(0, |bounds| bounds.start),
            overhead: self.overhead + metadata.every,
            first: metadata.first,
            frames: self.frames,
            opens: &mut opens,
            room: &self.room,
        };
        let cuts = cutter.cut(&sequence, &anchors)?;
        let ends = cuts.iter().skip(1).map(|cut| cut.from);
        let ends: Vec<Option<Entry>> = ends.chain([None]).collect();
        let mut living = LiveThreads::of(group, self.found);
        // streams follow each other in the order of the parts
        let mut rest = &anchors[..];
        let mut parts = Vec::with_capacity(cuts.len());
        for (cut, to) in cuts.into_iter().zip(ends) {
            let (in_cut, later) = rest.split_at(cut.chunks.len());
            rest = later;
            let mut threads: BTreeSet<u32> = cut.open.iter().map(|&t| group.threads[t]).collect();
            threads.extend(living.at(cut.times));
            if parts.is_empty() {
                let is_untimed = |thread: &&u32| self.found.partitions[**thread as usize].untimed;
                threads.extend(group.threads.iter().filter(is_untimed));
            }
            threads.extend(in_cut.iter().map(|anchor| anchor.thread));
            parts.push(self.part(number, cut, to, threads.into_iter().collect()));
        }
        Ok(parts)
    }

    fn part(
        &self,
        group: usize,
        cut: CutStretch,
        to: Option<Entry>,
        threads: Vec<u32>,
    ) -> OutputPart {
        let streams = Sequence(self.runs_of(&cut.chunks).collect());
        let times = [cut.times, streams.times(TIMED)].into_iter().flatten();
        OutputPart {
            number: 0,
            group,
            whole: false,
            range: (cut.from, to),
            chunks: cut.chunks,
            metadata: Vec::new(),
            copies: cut.copies,
            threads,
            events: cut.events,
            bytes: cut.bytes,
            metadata_events: 0,
            times: times.reduce(|(a, b), (c, d)| (a.min(c), b.max(d))),
        }
    }

    /// Returns streams at the positions of their `Profile` events or first chunks.
    fn anchors(&self, chunks: &[u32]) -> Vec<Anchor> {
        let anchor = |&chunks: &u32| {
            let partition = &self.found.partitions[chunks as usize];
            let first = || {
                let order = self.order;
                let firsts = self.runs.of(chunks).filter_map(|run| run.at(0));
                firsts.min_by(|a, b| order.compare(a, b))
            };
            let head = self.found.heads.get(&partition.stream);
            let (entry, is_chunk) = match head {
                Some(head) => (head.1, false),
                None => (first()?, true),
            };
            let thread = match head {
                Some(head) => head.0,
                None => self.found.thread_of(partition.ids())?,
            };
            Some(Anchor {
                entry,
                chunks,
                thread,
                events: partition.events,
                bytes: partition.bytes,
                is_chunk,
            })
        };
        let mut anchors: Vec<Anchor> = chunks.iter().filter_map(anchor).collect();
        anchors.sort_unstable_by(|a, b| self.order.compare(&a.entry, &b.entry));
        anchors
    }

    fn halves(&self) -> Halves {
        let mut halves = Halves::default();
        for kind in [PartitionKind::Begins, PartitionKind::Ends] {
            for partition in partitions_of(self.found, kind) {
                let key = self.found.partitions[partition as usize].thread_key();
                halves.entry(key).or_default().push((partition, kind == PartitionKind::Begins));
            }
        }
        halves
    }

    /// Returns the begin and end events of a group's threads.
    fn opens(&self, group: &ThreadGroup, halves: &Halves) -> OpenPairs<'f> {
        // several categories may have partitions of the same thread
        let mut numbers: HashMap<Vec<u8>, usize> = HashMap::default();
        for (number, &thread) in group.threads.iter().enumerate() {
            numbers.insert(self.found.partitions[thread as usize].thread_key(), number);
        }
        let mut numbers: Vec<_> = numbers.into_iter().collect();
        numbers.sort_unstable_by_key(|&(_, number)| number);
        let mut runs = Vec::new();
        for (key, thread) in &numbers {
            for &(partition, begins) in halves.get(key).into_iter().flatten() {
                runs.extend(self.runs.of(partition).map(|run| (run, *thread, begins)));
            }
        }
        OpenPairs::new(runs, group.threads.len(), self.order)
    }

    /// Returns the bytes of partitions with separators.
    fn bytes(&self, partitions: impl Iterator<Item = u32>) -> u64 {
        let weights = partitions.map(|partition| self.weight(partition));
        weights.map(|(events, bytes)| bytes + events * SEPARATOR).sum()
    }

    fn process_key(&self, partition: u32) -> Vec<u8> {
        self.found.partitions[partition as usize].process_key()
    }

    fn processes(&self, threads: &[u32]) -> HashSet<Vec<u8>> {
        threads.iter().map(|&thread| self.process_key(thread)).collect()
    }

    /// Returns the partitions of metadata that are not in `placed`.
    fn strays(&self, placed: &BTreeSet<u32>) -> Vec<u32> {
        let kinds = [PartitionKind::ThreadMetadata, PartitionKind::ProcessMetadata].into_iter();
        let all = kinds.flat_map(|kind| partitions_of(self.found, kind));
        all.filter(|partition| !placed.contains(partition)).collect()
    }

    /// Assigns metadata without a thread to the first part with its process, or else to the first
    /// part.
    fn place_strays(&self, parts: &mut [OutputPart]) {
        let placed: BTreeSet<u32> =
            parts.iter().flat_map(|part| part.metadata.iter().copied()).collect();
        let mut firsts: HashMap<Vec<u8>, usize> = HashMap::default();
        for (number, part) in parts.iter().enumerate() {
            for &thread in &part.threads {
                firsts
                    .entry(self.found.partitions[thread as usize].process_key())
                    .or_insert(number);
            }
        }
        for partition in self.strays(&placed) {
            let process = self.found.partitions[partition as usize].process_key();
            let number = firsts.get(&process).copied().unwrap_or(0);
            parts[number].metadata.push(partition);
        }
    }

    /// Returns all events of a part.
    pub(super) fn sequence<'a>(
        &'a self,
        part: &'a OutputPart,
        groups: &'a [ThreadGroup],
    ) -> Sequence<'a> {
        let plain = Sequence(self.runs_of(&groups[part.group].plain).collect());
        let mut sequence = match part.whole {
            true => plain,
            false => plain.between(part.range.0, part.range.1, self.order),
        };
        sequence.0.extend(self.runs_of(&part.chunks));
        sequence.0.extend(self.runs_of(&part.metadata));
        if !part.copies.is_empty() {
            sequence.0.push(SortedRun::Memory(&part.copies));
        }
        sequence
    }

    /// Returns the entries of all streams in `suspects`.
    pub(super) fn chunks(&self, suspects: &HashSet<StreamKey>) -> impl Iterator<Item = Entry> + '_ {
        let partitions: Vec<u32> = partitions_of(self.found, PartitionKind::Chunks)
            .filter(|&partition| {
                suspects.contains(&self.found.partitions[partition as usize].stream)
            })
            .collect();
        Sequence(self.runs_of(&partitions).collect()).into_entries()
    }
}

const _: () = assert!(UNTIMED < TIMED);
