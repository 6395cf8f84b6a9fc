//! Stores the CPU profile streams of a run: the profiles of each stream, and the locations of their
//! chunks.
//!
//! ```text
//!   stream (pid, id)    input 1           input 2      input 3
//!                       Profile █ █ █     █ █          Profile █ █
//!   profiles            └───── one ─────────┘          └─ another ┘
//! ```
//!
//! A stream continues in later inputs (rotated logs), until an input has its own `Profile` event
//! for the key: that begins another profile with the same ids.
//!
//! Inputs are added in batches ([`Streams::append`]). Chunks may move to the previous profile when
//! their input ends (`Stream::end_input`).
//!
//! Memory: 16 bytes per chunk, 64 if skimmed, on disk beyond their share ([`SpillLists`]). Decoded
//! chunks beyond their share are dropped and decoded again.

pub(crate) mod check;
pub(crate) mod collect;
pub(crate) mod contents;
pub(crate) mod known;
pub(crate) mod order;
pub(crate) mod profile_parts;
pub(crate) mod router;
pub(crate) mod time_order;

use crate::chunk::decoded_chunks::DecodedChunks;
use crate::chunk::key::StreamKey;
use crate::chunk::skim::Skim;
use crate::streams::known::{KnownChunks, KnownGroup};
use crate::streams::profile_parts::{ProfileParts, StreamOwner};
use crate::streams::router::{OddChunks, Router};
use crate::streams::time_order::may_swap;
use std::sync::Arc;
use tracemill_tokenizer::Mapped;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::{Limits, Quota};
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::spill::{Records, SpillLists};
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::long_events::LongEvents;

/// Share of the lease for decoded chunks ([`DecodedChunks::heap`]).
const DECODED: Share = Share::of(5, 8);
/// Share of the lease for locations and skims of chunks.
const PLACES: Share = Share::of(1, 3);
/// Share of the lease for the lengths of oversized chunks.
const LONG: Share = Share::of(1, 24);

struct StreamProfiles {
    owner: StreamOwner,
    /// Profiles in input order; the last one has the events of the current input so far.
    profiles: Vec<ProfileParts>,
    /// Offset of the current input in the concatenated inputs.
    input: u64,
}

impl StreamProfiles {
    fn append(&mut self, later: ProfileParts, input: u64) {
        if self.input != input {
            self.end_input();
            self.input = input;
            self.profiles.reserve_exact(1);
            self.profiles.push(later);
        } else if let Some(last) = self.profiles.last_mut() {
            last.append(later);
        }
    }

    fn first(&self, file: &[u8]) -> Option<u64> {
        let heads = self.profiles.iter().flat_map(|profile| profile.heads.iter().map(|h| h.entry));
        let chunks =
            self.profiles.iter().filter_map(|profile| profile.chunks.records(file).first());
        heads.chain(chunks).map(|entry| entry.place.offset()).min()
    }

    /// Ends the input: its events continue the previous profile, unless the input and that profile
    /// both have a `Profile` event.
    fn end_input(&mut self) {
        if let [.., before, last] = &mut self.profiles[..]
            && (before.heads.is_empty() || last.heads.is_empty())
        {
            before.append(std::mem::take(last));
            self.profiles.pop();
        }
    }
}

/// Estimates the bytes of heap of a stream with one profile, without the locations of chunks.
fn heap_of(key: &StreamKey, owner: &StreamOwner) -> u64 {
    let text = 2 * key.len() + owner.pid.len() + owner.tid.len() + owner.id.len();
    let entry = 2 * size_of::<(StreamKey, StreamProfiles)>() + 4 * size_of::<StreamKey>();
    // two short lists, and overhead of the allocator
    (text + entry + size_of::<ProfileParts>() + 256) as u64
}

/// All streams of a run and their profiles.
///
/// ```
/// use tracemill_trace::run::memory::Share;
/// use tracemill_trace::{EventOrder, Limits, Source, Trace};
/// use tracemill_cpuprofile::{Assembly, Router, Streams};
///
/// let text = r#"[{"name":"Profile","ph":"P","pid":7,"tid":8,"id":"0x1","ts":1,"args":{"data":{"startTime":1}}},
///   {"name":"ProfileChunk","ph":"P","pid":7,"tid":9,"id":"0x1","ts":2,"args":{"data":{"cpuProfile":{"nodes":[{"id":1}],
///   "samples":[1,1]},"timeDeltas":[5,7]}}}]"#;
/// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
/// let trace = Trace::open(&[Source::bytes("a.json", text)], &limits)?;
///
/// let mut router = Router::default(); // one for each part of an input
/// trace.events(EventOrder::Input).for_each(|event| router.note(&event.fields(), event.offset));
/// let mut streams = Streams::new(limits.lease("profiles", Share::of(1, 32)), &limits);
/// streams.append(router, 0)?; // of the input that begins at 0
/// streams.finish()?;
///
/// let group = streams.groups()[0];
/// assert_eq!((group.chunks().count(), group.tid()), (1, &b"8"[..])); // not the thread of the chunk
/// let store = trace.store();
/// let whole = group.assemble(&store, Assembly::All(limits.lease("samples", Share::of(1, 32))), &limits)?;
/// assert_eq!((whole.start, whole.last), (1_000, 13_000)); // nanoseconds
/// assert_eq!(whole.profile.columns().expect("nothing is wrong with it").steps.iter().collect::<Vec<_>>(), [5_000, 7_000]);
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub struct Streams {
    all: Vec<(StreamKey, StreamProfiles)>,
    numbers: HashMap<StreamKey, usize>,
    /// Locations of events of 16 KiB and more, for a store.
    pub long: LongEvents,
    /// Decoded chunks by batches of the input; `decoded` is their heap in bytes.
    kept: Vec<DecodedChunks>,
    decoded: u64,
    lease: Lease,
    lists: SpillLists,
    /// Number of spills to disk.
    pub spilled: u64,
    /// The spilled lists, once all inputs were read.
    file: Option<Mapped>,
    /// Chunks that `check` reports.
    pub odd: OddChunks,
    known: Option<Arc<KnownChunks>>,
    /// Limit for the streams themselves, which stay in memory.
    quota: Quota,
}

impl Streams {
    /// Creates an empty list of streams.
    ///
    /// Beyond the lease, locations spill to disk, and chunks are decoded again. The streams
    /// themselves may take a quarter of the memory of `limits`.
    pub fn new(lease: Lease, limits: &Limits) -> Self {
        Streams {
            all: Vec::new(),
            numbers: HashMap::default(),
            long: LongEvents::within(lease.part(LONG)),
            kept: Vec::new(),
            decoded: 0,
            lists: SpillLists::new(lease.part(PLACES)),
            lease: lease.part(DECODED),
            spilled: 0,
            file: None,
            odd: OddChunks::default(),
            known: None,
            quota: limits.quota("streams of CPU profiles", Share::of(1, 4)),
        }
    }

    /// Appends a batch of the input at offset `input`.
    ///
    /// Batches must come in input order. Decoded chunks beyond their share are dropped. Cost: a
    /// hash lookup per stream, and copying 16 or 64 bytes per chunk; sometimes lists spill.
    ///
    /// # Errors
    /// Returns [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file
    /// cannot be written, and [`Exceeded`](tracemill_trace::run::error::ErrorKind::Exceeded) if the
    /// streams exceed their memory.
    pub fn append(&mut self, later: Router, input: u64) -> Result<(), Error> {
        self.long.append(&later.long)?;
        self.odd.append(&later.odd);
        let heap: u64 = later.kept.iter().map(|kept| kept.heap() as u64).sum();
        if self.decoded + heap <= self.lease.bytes() {
            self.decoded += heap;
            self.kept.extend(later.kept.into_iter().filter(|kept| !kept.is_empty()));
        }
        for (key, owner, gathered) in later.found {
            self.lists.heap += gathered.heap();
            let at = self.stream(key, owner, input)?;
            self.all[at].1.append(gathered, input);
        }
        if self.lists.is_full() { self.spill() } else { Ok(()) }
    }

    /// Returns the index of a stream; adds a stream for a new key.
    fn stream(&mut self, key: StreamKey, owner: StreamOwner, input: u64) -> Result<usize, Error> {
        if let Some(&at) = self.numbers.get(&key) {
            return Ok(at);
        }
        self.quota.take(heap_of(&key, &owner), "CPU profiles")?;
        self.numbers.insert(key.clone(), self.all.len());
        let profiles = vec![ProfileParts::default()];
        self.all.push((key, StreamProfiles { owner, profiles, input }));
        Ok(self.all.len() - 1)
    }

    fn spill(&mut self) -> Result<(), Error> {
        self.spilled += 1;
        let profiles = self.all.iter_mut().flat_map(|(_, stream)| &mut stream.profiles);
        profiles.into_iter().try_for_each(|profile| profile.spill(&mut self.lists))
    }

    /// Ends reading: [`Streams::groups`] may be called from now on, and nothing may be appended.
    ///
    /// # Errors
    /// Returns the errors of [`Streams::append`].
    pub fn finish(&mut self) -> Result<(), Error> {
        self.all.iter_mut().for_each(|(_, stream)| stream.end_input());
        self.file = self.lists.finish()?;
        Ok(())
    }

    /// Keeps only the streams for which `keeps` returns true. `keeps` receives the offset of the
    /// first event of a stream.
    ///
    /// Call this after [`Streams::finish`].
    pub fn retain(&mut self, keeps: impl Fn(u64) -> bool) {
        let file = self.file.as_deref().unwrap_or_default();
        self.all.retain(|(_, stream)| stream.first(file).is_some_and(&keeps));
        let keys = self.all.iter().enumerate().map(|(at, (key, _))| (key.clone(), at));
        self.numbers = keys.collect();
    }

    /// Replaces the chunks of streams by chunks from an index. Call this after [`Streams::finish`].
    pub fn complete(&mut self, known: &Arc<KnownChunks>) {
        self.known = Some(Arc::clone(known));
    }

    pub(crate) fn is_wrong(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.is_wrong())
    }

    /// Returns all profiles: streams in the order of their first events, each with its profiles in
    /// input order.
    ///
    /// Cost: a few dozen bytes per profile; nothing is read.
    pub fn groups(&self) -> Vec<ProfileGroup<'_>> {
        self.all.iter().flat_map(|(key, stream)| self.groups_of(key, stream)).collect()
    }

    fn groups_of<'c>(
        &'c self,
        key: &'c StreamKey,
        stream: &'c StreamProfiles,
    ) -> impl Iterator<Item = ProfileGroup<'c>> {
        let file = self.file.as_deref().unwrap_or_default();
        let (owner, kept) = (&stream.owner, &*self.kept);
        let known = self.known.as_ref().zip(stream.first(file));
        let known = known.and_then(|(known, first)| known.stream(first));
        stream.profiles.iter().map(move |parts| ProfileGroup {
            key,
            owner,
            parts,
            kept,
            file,
            known,
        })
    }

    /// Returns the streams whose chunks may not be in time order, judged by times alone.
    pub fn suspects(&self) -> HashSet<StreamKey> {
        let may_swap = |(key, stream): &&(StreamKey, StreamProfiles)| {
            let mut last = None;
            // streams of an index are in time order
            let in_question =
                |group: &ProfileGroup<'_>| group.parts.whole.is_none() && group.known.is_none();
            self.groups_of(key, stream).filter(in_question).any(|group| {
                let mut chunks = group.chunks().iter();
                chunks.any(|chunk| last.replace(chunk).is_some_and(|last| may_swap(last, chunk)))
            })
        };
        self.all.iter().filter(may_swap).map(|(key, _)| key.clone()).collect()
    }
}

/// The events of one profile: the events of its stream, except in inputs that have another profile
/// with the same ids. It consists of references, so copies are cheap. [`ProfileGroup::assemble`]
/// builds the profile.
#[derive(Clone, Copy)]
pub struct ProfileGroup<'c> {
    /// Key of the stream.
    pub key: &'c StreamKey,
    /// Process, thread and id, as written.
    pub owner: &'c StreamOwner,
    /// Events of the profile.
    pub parts: &'c ProfileParts,
    /// Decoded chunks of all streams, in input order.
    pub kept: &'c [DecodedChunks],
    file: &'c [u8],
    /// Chunks from an index, if one is used.
    pub(crate) known: Option<KnownGroup<'c>>,
}

impl<'c> ProfileGroup<'c> {
    /// Returns pid and id of the stream, as written.
    pub fn owner_ids(self) -> (Box<[u8]>, Box<[u8]>) {
        (self.owner.pid.clone(), self.owner.id.clone())
    }

    /// Returns the decoded chunks of all streams, in input order.
    pub fn kept_chunks(self) -> &'c [DecodedChunks] {
        self.kept
    }

    /// Returns the chunks in input order, or the `CpuProfile` event.
    pub fn chunks(self) -> Records<'c, Entry> {
        self.known.map_or_else(|| self.parts.chunks.records(self.file), KnownGroup::chunks)
    }

    /// Returns the skim of each chunk. Returns no skims without [`Detail::Times`](crate::Detail).
    pub fn skims(self) -> Records<'c, Skim> {
        self.known.map_or_else(|| self.parts.skims.records(self.file), KnownGroup::skims)
    }

    /// Returns the numbers of samples and of time steps.
    pub(crate) fn counts(self) -> (u64, u64) {
        match self.known {
            // chunks of an index have as many steps as samples
            Some(known) => (known.samples(), known.samples()),
            None => (self.parts.sums.samples, self.parts.sums.deltas),
        }
    }

    /// Returns the events in input order, `Profile` events first.
    pub fn events(self) -> impl Iterator<Item = Entry> + 'c {
        self.parts.heads.iter().map(|head| head.entry).chain(self.chunks().iter())
    }

    /// Returns the times of events in nanoseconds, [`i64::MIN`] for events without a time.
    pub(crate) fn times(self) -> impl Iterator<Item = i64> + 'c {
        self.events().map(|event| event.time)
    }

    /// Returns the sampled thread, as written.
    ///
    /// The last `Profile` event names that thread, as in DevTools. Without a `Profile` event, the
    /// first event names it.
    pub fn tid(self) -> &'c [u8] {
        self.parts.heads.last().map_or(&self.owner.tid, |head| &head.tid)
    }

    /// Returns the time of the last `Profile` event, else of the first chunk, in nanoseconds.
    ///
    /// The result is [`i64::MIN`] if that event has no time, and 0 without any event.
    pub fn first_time(self) -> i64 {
        let head = self.parts.heads.last().map(|head| head.entry);
        head.or_else(|| self.chunks().first()).map_or(0, |entry| entry.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    /// Offsets of `Profile` events and of chunks.
    type Offsets = (Vec<u64>, Vec<u64>);

    /// Generates events of three streams in several inputs: input, stream, is a `Profile` event.
    fn events(seed: u64) -> Vec<(u64, u64, bool)> {
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
            (state >> 33) % below
        };
        let mut input = 0;
        let event = |_| {
            input += u64::from(random(6) == 0);
            (input, random(3), random(5) == 0)
        };
        (0..40).map(event).collect()
    }

    /// Computes the expected profiles: an input continues the previous profile, unless the input
    /// and the profile both have a `Profile` event.
    fn expected(events: &[(u64, u64, bool)]) -> Vec<Offsets> {
        let mut order: Vec<u64> = events.iter().map(|event| event.1).collect();
        let mut seen = HashSet::default();
        order.retain(|&stream| seen.insert(stream));
        let mut all = Vec::new();
        for stream in order {
            let mut profiles: Vec<Offsets> = vec![Default::default()];
            for input in 0..=events.len() as u64 {
                let numbered = (0..).zip(events).filter(|(_, e)| (e.0, e.1) == (input, stream));
                let of_input: Vec<(u64, bool)> = numbered.map(|(at, e)| (at, e.2)).collect();
                let has_head = of_input.iter().any(|event| event.1);
                if has_head && profiles.last().is_some_and(|last| !last.0.is_empty()) {
                    profiles.push(Default::default());
                }
                let last = profiles.len() - 1;
                for (at, is_head) in of_input {
                    if is_head { profiles[last].0.push(at) } else { profiles[last].1.push(at) }
                }
            }
            all.extend(profiles);
        }
        all
    }

    #[test]
    fn profiles_continue_until_an_input_has_its_own_profile() {
        for seed in 0..200 {
            let events = events(seed);
            for (limit, part) in [(0, 1), (40, 3), (300, 7), (u64::MAX, 5)] {
                let lease = Lease::alone(limit.saturating_mul(3), std::env::temp_dir());
                let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
                let mut streams = Streams::new(lease, &limits);
                let numbered: Vec<_> = (0..).zip(&events).collect();
                for of_input in numbered.chunk_by(|a, b| a.1.0 == b.1.0) {
                    for some in of_input.chunks(part) {
                        let mut router = Router::default();
                        for (offset, (_, stream, is_head)) in some {
                            let name = if *is_head { "Profile" } else { "ProfileChunk" };
                            let text = format!(r#"{{"name":"{name}","pid":{stream},"ts":5}}"#);
                            let bytes = text.as_bytes();
                            router.note(&fields_of(bytes).of(bytes), *offset);
                        }
                        streams.append(router, some[0].1.0).unwrap();
                    }
                }
                streams.finish().unwrap();
                assert_eq!(streams.spilled > 0, limit < u64::MAX);
                let found = streams.groups().into_iter().map(|group| {
                    let heads = group.parts.heads.iter().map(|head| head.entry.place.offset());
                    let chunks = group.chunks().iter().map(|chunk| chunk.place.offset());
                    (heads.collect(), chunks.collect())
                });
                assert_eq!(found.collect::<Vec<Offsets>>(), expected(&events), "seed {seed}");
            }
        }
    }
}
