//! All CPU profile streams of a run: of each its profiles, and of these the places of their chunks.
//!
//! ```text
//!   stream (pid, id)    input 1           input 2      input 3
//!                       Profile █ █ █     █ █          Profile █ █
//!   profiles            └───── one ─────────┘          └─ another ┘
//! ```
//!
//! A stream goes on in later inputs (rotated logs) unless that input has a `Profile` event of its own for the key: then it
//! is another profile that happens to have the same ids.
//!
//! Inputs come one after the other, and each in stretches of its own order ([`Streams::append`]); what a stretch says of the last profile
//! may have to move to the one before once the input is over (`Stream::end_input`). When all is read ([`Streams::finish`]) the lists are
//! read from the file, one after the other, and nothing changes any more.
//!
//! Memory: 16 bytes a chunk, 64 where it was skimmed, on disk beyond their share of the budget ([`SpillLists`]). What was
//! decoded is kept within another share; the rest is decoded again when its profile is put together.

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

/// Of the lease of streams, that of what was decoded ([`DecodedChunks::heap`]).
const DECODED: Share = Share::of(5, 8);
/// That of places of chunks, and what was skimmed of them.
const PLACES: Share = Share::of(1, 3);
/// That of the lengths of long chunks.
const LONG: Share = Share::of(1, 24);

/// One stream.
struct StreamProfiles {
    owner: StreamOwner,
    /// In input order. The last one has the events of the current input, and may turn out to belong to the one before.
    profiles: Vec<ProfileParts>,
    /// Where the input of the last events begins.
    input: u64,
}

impl StreamProfiles {
    /// Takes over events of the input that begins at `input`.
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

    /// Where its first event stands.
    fn first(&self, file: &[u8]) -> Option<u64> {
        let heads = self.profiles.iter().flat_map(|own| own.heads.iter().map(|h| h.entry));
        let chunks =
            self.profiles.iter().filter_map(|profile| profile.chunks.records(file).first());
        heads.chain(chunks).map(|entry| entry.place.offset()).min()
    }

    /// What the input has goes on what was there before, unless it has a `Profile` event, and that too.
    fn end_input(&mut self) {
        if let [.., before, last] = &mut self.profiles[..]
            && (before.heads.is_empty() || last.heads.is_empty())
        {
            before.append(std::mem::take(last));
            self.profiles.pop();
        }
    }
}

/// Bytes of heap of a stream with one profile, beside the places of its chunks: about, in lists that double.
fn heap_of(key: &StreamKey, owner: &StreamOwner) -> u64 {
    let text = 2 * key.len() + owner.pid.len() + owner.tid.len() + owner.id.len();
    let entry = 2 * size_of::<(StreamKey, StreamProfiles)>() + 4 * size_of::<StreamKey>();
    // two short lists, and what the allocator keeps for all of these
    (text + entry + size_of::<ProfileParts>() + 256) as u64
}

/// All streams of a run, and the profiles in them.
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
/// let mut router = Router::default(); // each stretch of an input has one
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
    /// In order of their first events.
    all: Vec<(StreamKey, StreamProfiles)>,
    /// Indices in `all`.
    numbers: HashMap<StreamKey, usize>,
    /// Events of 16 KiB and more among them: a store needs their lengths.
    pub long: LongEvents,
    /// Decoded chunks, by stretches of the inputs, and their bytes.
    kept: Vec<DecodedChunks>,
    decoded: u64,
    lease: Lease,
    lists: SpillLists,
    /// How often places went to disk.
    pub spilled: u64,
    /// What went to disk, once all inputs were read.
    file: Option<Mapped>,
    /// Chunks of odd lengths.
    pub odd: OddChunks,
    known: Option<Arc<KnownChunks>>,
    /// For the streams themselves, which stay in memory.
    quota: Quota,
}

impl Streams {
    /// None yet. What of places is more than the lease has goes to disk; what of chunks is more is decoded again. Of streams themselves there are as many as a quarter of
    /// its memory takes.
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

    /// Takes over what a later part of the input that begins at `input` has. Parts come in the order of the inputs, and in that of each
    /// input; decoded chunks of a part are dropped where they exceed their share.
    ///
    /// Cost: a look-up by key for each stream of the part, and a copy of the 16 bytes (64) of each chunk; now and then a write of all lists,
    /// when they exceed theirs.
    ///
    /// # Errors
    /// [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if the disk does not take the places of its chunks;
    /// [`Exceeded`](tracemill_trace::run::error::ErrorKind::Exceeded) if there are more streams than have room.
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

    /// The number of a stream, a new one for a new key: streams stay in memory, so there may not be more than have room.
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

    /// All inputs were read: from now on it can be asked ([`Streams::groups`]), and takes nothing more.
    ///
    /// # Errors
    /// As [`Streams::append`].
    pub fn finish(&mut self) -> Result<(), Error> {
        self.all.iter_mut().for_each(|(_, stream)| stream.end_input());
        self.file = self.lists.finish()?;
        Ok(())
    }

    /// Forgets streams whose first events do not stand at places that `keeps` has. Only behind [`Streams::finish`].
    pub fn retain(&mut self, keeps: impl Fn(u64) -> bool) {
        let file = self.file.as_deref().unwrap_or_default();
        self.all.retain(|(_, stream)| stream.first(file).is_some_and(&keeps));
        let keys = self.all.iter().enumerate().map(|(at, (key, _))| (key.clone(), at));
        self.numbers = keys.collect();
    }

    /// Gives streams of the one input the chunks that are known of them, in place of those that were read. Only behind [`Streams::finish`].
    pub fn complete(&mut self, known: &Arc<KnownChunks>) {
        self.known = Some(Arc::clone(known));
    }

    /// Whether a chunk that was known proved to be another one.
    pub(crate) fn is_wrong(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.is_wrong())
    }

    /// All profiles, in the order in which their streams and they begin in the inputs. Cost: a few dozen bytes a profile; nothing is read.
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
        stream.profiles.iter().map(move |own| ProfileGroup { key, owner, own, kept, file, known })
    }

    /// Streams whose chunks may not stand in time order (see `time_order`): a look at the time of each chunk, none at their bytes.
    pub fn suspects(&self) -> HashSet<StreamKey> {
        let may_swap = |(key, stream): &&(StreamKey, StreamProfiles)| {
            let mut last = None;
            // those that an index knows chunk by chunk are in order
            let in_question =
                |group: &ProfileGroup<'_>| group.own.whole.is_none() && group.known.is_none();
            self.groups_of(key, stream).filter(in_question).any(|group| {
                let mut chunks = group.chunks().iter();
                chunks.any(|chunk| last.replace(chunk).is_some_and(|last| may_swap(last, chunk)))
            })
        };
        self.all.iter().filter(may_swap).map(|(key, _)| key.clone()).collect()
    }
}

/// The events of one profile: those of a stream, less those of inputs that have a profile of the same ids of their own. A handful of
/// references: copies cost nothing. [`ProfileGroup::assemble`] puts the profile together.
#[derive(Clone, Copy)]
pub struct ProfileGroup<'c> {
    /// What tells its stream from others.
    pub key: &'c StreamKey,
    /// Process, thread and id, as written.
    pub owner: &'c StreamOwner,
    /// Its events.
    pub own: &'c ProfileParts,
    /// Chunks that are decoded already.
    pub kept: &'c [DecodedChunks],
    /// What went to disk.
    file: &'c [u8],
    /// Its chunks, if an index knows them and few of them were read.
    pub(crate) known: Option<KnownGroup<'c>>,
}

impl<'c> ProfileGroup<'c> {
    /// pid and id of its stream, as written.
    pub fn owner_ids(self) -> (Box<[u8]>, Box<[u8]>) {
        (self.owner.pid.clone(), self.owner.id.clone())
    }

    /// Chunks of all streams that were kept decoded, in the order of the inputs.
    pub fn kept_chunks(self) -> &'c [DecodedChunks] {
        self.kept
    }

    /// Its chunks in input order, or the event that it is.
    pub fn chunks(self) -> Records<'c, Entry> {
        self.known.map_or_else(|| self.own.chunks.records(self.file), KnownGroup::chunks)
    }

    /// What was skimmed of each chunk, where that was asked for ([`Detail::Times`](crate::Detail)); else there are none.
    pub fn skims(self) -> Records<'c, Skim> {
        self.known.map_or_else(|| self.own.skims.records(self.file), KnownGroup::skims)
    }

    /// Samples, and steps of time, in all of its chunks.
    pub(crate) fn counts(self) -> (u64, u64) {
        match self.known {
            // of those chunks each has as many steps as samples
            Some(known) => (known.samples(), known.samples()),
            None => (self.own.sums.samples, self.own.sums.deltas),
        }
    }

    /// Its events, heads first; both in input order.
    pub fn events(self) -> impl Iterator<Item = Entry> + 'c {
        self.own.heads.iter().map(|head| head.entry).chain(self.chunks().iter())
    }

    /// Times of events, in nanoseconds ([`i64::MIN`] of one without).
    pub(crate) fn times(self) -> impl Iterator<Item = i64> + 'c {
        self.events().map(|event| event.time)
    }

    /// The thread that the profile is of, as written: that of the last `Profile` event, which counts in DevTools; else
    /// that of its first chunk.
    pub fn tid(self) -> &'c [u8] {
        self.own.heads.last().map_or(&self.owner.tid, |head| &head.tid)
    }

    /// When it begins, as far as one event tells: nanoseconds of its last `Profile` event, else of its first chunk; 0 without any, [`i64::MIN`] if
    /// that event has no time.
    pub fn first_time(self) -> i64 {
        let head = self.own.heads.last().map(|head| head.entry);
        head.or_else(|| self.chunks().first()).map_or(0, |entry| entry.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    /// Offsets of heads and of chunks.
    type Offsets = (Vec<u64>, Vec<u64>);

    /// Events of three streams in several inputs, by a simple generator: input, stream, whether it is a head.
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

    /// By the rule as it is said: an input goes on what was there before, unless both have heads.
    fn expected(events: &[(u64, u64, bool)]) -> Vec<Offsets> {
        let mut order: Vec<u64> = events.iter().map(|event| event.1).collect();
        let mut seen = HashSet::default();
        order.retain(|&stream| seen.insert(stream));
        let mut all = Vec::new();
        for stream in order {
            let mut own: Vec<Offsets> = vec![Default::default()];
            for input in 0..=events.len() as u64 {
                let numbered = (0..).zip(events).filter(|(_, e)| (e.0, e.1) == (input, stream));
                let of_input: Vec<(u64, bool)> = numbered.map(|(at, e)| (at, e.2)).collect();
                let has_head = of_input.iter().any(|event| event.1);
                if has_head && own.last().is_some_and(|last| !last.0.is_empty()) {
                    own.push(Default::default());
                }
                let last = own.len() - 1;
                for (at, is_head) in of_input {
                    if is_head { own[last].0.push(at) } else { own[last].1.push(at) }
                }
            }
            all.extend(own);
        }
        all
    }

    /// Streams are cut where an input has a profile of its own, whatever went to disk before that was known.
    #[test]
    fn profiles_go_on_over_inputs() {
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
                    let heads = group.own.heads.iter().map(|head| head.entry.place.offset());
                    let chunks = group.chunks().iter().map(|chunk| chunk.place.offset());
                    (heads.collect(), chunks.collect())
                });
                assert_eq!(found.collect::<Vec<Offsets>>(), expected(&events), "seed {seed}");
            }
        }
    }
}
