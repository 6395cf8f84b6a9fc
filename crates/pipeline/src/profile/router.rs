//! Every `Profile`, `ProfileChunk` and `CpuProfile` event to its stream, and its args decoded, while the scan runs.
//!
//! ```text
//!   scan worker ─ finds a chunk ─> decodes it there and then, while its bytes are in cache
//!        │ part, in input order, over the scan's bounded channel
//!        v
//!   Router: (pid, id) ─> chunks of the stream     decoded, or by place only beyond the budget
//! ```
//!
//! No pool of decoders stands beside the scan's workers: the worker that finds a chunk decodes it, so decoding is as
//! parallel as the scan and needs no queue of its own. What is decoded is kept within a share of the budget; a chunk
//! beyond it is decoded again when its stream is put together.
//!
//! The key is (pid, id), types strict, as in DevTools; where there is no `id`, `id2` takes its place (DevTools would fuse
//! all streams of the process). A stream goes on in later inputs (rotated logs) unless that input has a `Profile` event
//! of its own for the key: then it is another profile that happens to have the same ids.

use super::chunk::{Chunk, ProfileSource};
use super::kept::Kept;
use super::skim::Skim;
use crate::order::{Entry, rank};
use crate::store::{Long, Place};
use crate::streams::may_swap;
use std::collections::{HashMap, HashSet};
use tracemill_tokenizer::{Event, Field, canonical, string_is, unescape};

/// A value as it is written.
type Written = Box<[u8]>;

/// (pid, id), canonical and joined.
pub(crate) type StreamKey = Vec<u8>;

/// The key of an event's stream.
pub(crate) fn stream_key(event: &Event<'_>) -> StreamKey {
    let mut key = Vec::new();
    push_canonical(event.field(Field::Pid), &mut key);
    match event.field(Field::Id) {
        None if event.field(Field::Id2).is_some() => {
            key.push(b'2');
            push_canonical(event.field(Field::Id2), &mut key);
        }
        id => push_canonical(id, &mut key),
    }
    key
}

/// A form of a value that is the same for equal values of one type only.
pub(crate) fn push_canonical(value: Option<&[u8]>, key: &mut Vec<u8>) {
    match value {
        None => key.push(b'-'),
        Some([quote @ b'"', content @ .., b'"']) => {
            key.push(*quote);
            let mut text = Vec::new();
            unescape(content, &mut text);
            // the length keeps ("a", "b") and ("a\0b", …) apart
            key.extend_from_slice(&(text.len() as u64).to_le_bytes());
            key.extend_from_slice(&text);
        }
        Some(value) => {
            key.push(b'#');
            if !canonical(value, key) {
                key.extend_from_slice(value);
            }
        }
    }
    key.push(0);
}

/// What an event is to its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// `Profile`: thread and start.
    Head,
    /// `ProfileChunk`
    Chunk,
    /// `CpuProfile`: a whole profile in one event.
    Whole,
}

impl Role {
    /// By name, as DevTools has it; a `CpuProfile` must be complete (ph X).
    #[inline]
    pub(crate) fn of(event: &Event<'_>) -> Option<Role> {
        // nearly all names are none of these: one look at how they begin tells
        let name = event.field_and_rest(Field::Name)?;
        if !matches!(name, [b'"', b'P' | b'C' | b'\\', ..]) {
            return None;
        }
        if event.is_string(Field::Name, b"ProfileChunk") {
            return Some(Role::Chunk);
        }
        if event.is_string(Field::Name, b"Profile") {
            return Some(Role::Head);
        }
        let whole = event.is_string(Field::Name, b"CpuProfile") && event.is_string(Field::Ph, b"X");
        whole.then_some(Role::Whole)
    }
}

/// What a chunk holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) nodes: u32,
    pub(crate) samples: u32,
    /// Steps of time, and their sum in nanoseconds.
    pub(crate) deltas: u32,
    pub(crate) duration: i64,
}

impl Counts {
    fn of(chunk: &Chunk) -> Self {
        Counts {
            nodes: chunk.nodes.len() as u32,
            samples: chunk.samples.len() as u32,
            deltas: chunk.deltas.len() as u32,
            duration: chunk.deltas.iter().fold(0, |sum: i64, &delta| sum.saturating_add(delta)),
        }
    }
}

/// An event of a stream: 64 bytes, since there may be millions of chunks.
pub(crate) struct Found {
    pub(crate) entry: Entry,
    pub(crate) args: Args,
    /// Of all but chunks.
    origin: Option<Box<Origin>>,
}

/// What is known of the args of an event.
#[derive(Clone, Copy)]
pub(crate) enum Args {
    /// What they hold: they are those of a head, there was no room for them, or they do not fit among the kept ones.
    Counted(Counts),
    /// They are among [`Streams::kept`]: the stretch, and the number in it.
    Kept(Counts, u32, u32),
    /// They were only skimmed.
    Skimmed(Skim),
}

/// What events say of start and origin of a profile.
struct Origin {
    role: Role,
    /// `tid` of a head as it is written; empty if missing.
    tid: Written,
    start: Option<i64>,
    source: Option<ProfileSource>,
}

impl Found {
    pub(crate) fn role(&self) -> Role {
        self.origin.as_ref().map_or(Role::Chunk, |origin| origin.role)
    }

    /// `tid` of a head as it is written; empty if missing.
    pub(crate) fn tid(&self) -> &[u8] {
        self.origin.as_ref().map_or(b"", |origin| &origin.tid)
    }

    pub(crate) fn start(&self) -> Option<i64> {
        self.origin.as_ref()?.start
    }

    pub(crate) fn source(&self) -> Option<ProfileSource> {
        self.origin.as_ref()?.source
    }

    /// What it holds.
    pub(crate) fn counts(&self) -> Counts {
        match self.args {
            Args::Counted(counts) | Args::Kept(counts, ..) => counts,
            Args::Skimmed(skim) => skim.counts(),
        }
    }

    /// What was found of its args, if they were skimmed.
    pub(crate) fn skim(&self) -> Option<&Skim> {
        match &self.args {
            Args::Skimmed(skim) => Some(skim),
            _ => None,
        }
    }
}

const _: () = assert!(size_of::<Found>() <= 64);

/// How much of the args of chunks is found while they are scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Everything.
    All,
    /// Times and ids of nodes, where that is quick to find; everything elsewhere (see `skim`).
    Times,
}

/// All events of one stream, in input order.
pub(crate) struct Stream {
    /// As written in its first event; empty if missing.
    pub(crate) pid: Written,
    pub(crate) id: Written,
    /// `tid` of its first event.
    pub(crate) tid: Written,
    pub(crate) events: Vec<Found>,
    /// Numbers of the first events of each input, but for the first one, and where the last of these inputs begins.
    inputs: (Vec<usize>, Option<u64>),
}

/// All streams, in order of their first events.
#[derive(Default)]
pub(crate) struct Streams {
    pub(crate) all: Vec<(StreamKey, Stream)>,
    numbers: HashMap<StreamKey, usize>,
    pub(crate) long: Vec<Long>,
    /// What was decoded, by stretches of the inputs; heads, which are few and small, keep what matters themselves.
    pub(crate) kept: Vec<Kept>,
    /// Bytes of heap of that.
    decoded: usize,
    scratch: Chunk,
    /// Streams of the last events, by their ids as written.
    recent: Vec<(WrittenIds, usize)>,
}

/// pid, id, id2
type WrittenIds = [Option<Written>; 3];

/// Streams that are known by their ids as written: a few are recorded at one time.
const RECENT: usize = 16;

impl Stream {
    /// An empty one, for the first event of it.
    fn of(event: &Event<'_>) -> Self {
        let field = |field| Box::from(event.field(field).unwrap_or_default());
        let id = event.field(Field::Id).or(event.field(Field::Id2)).unwrap_or_default();
        let (pid, tid) = (field(Field::Pid), field(Field::Tid));
        Stream { pid, id: id.into(), tid, events: Vec::new(), inputs: (Vec::new(), None) }
    }

    /// Its events by input.
    pub(crate) fn by_input(&self) -> impl Iterator<Item = &[Found]> {
        let (firsts, _) = &self.inputs;
        let ends = firsts.iter().copied().chain([self.events.len()]);
        let starts = std::iter::once(0).chain(firsts.iter().copied());
        starts.zip(ends).map(|(start, end)| &self.events[start..end])
    }

    /// Takes over later events, of the input that begins at `input`.
    fn extend(&mut self, events: impl ExactSizeIterator<Item = Found>, input: u64) {
        if self.inputs.1.replace(input).is_some_and(|last| last != input) {
            self.inputs.0.push(self.events.len());
        }
        // doubling would leave half of the memory unused: what is moved now and then costs less
        if self.events.capacity() - self.events.len() < events.len() {
            self.events.reserve_exact(events.len().max(self.events.len() / 8));
        }
        self.events.extend(events);
    }
}

impl Streams {
    /// Streams whose chunks may not stand in time order (see `crate::streams`).
    pub(crate) fn suspects(&self) -> HashSet<StreamKey> {
        let may_swap = |stream: &Stream| {
            let chunks = stream.events.iter().filter(|found| found.role() == Role::Chunk);
            let entries: Vec<Entry> = chunks.map(|found| found.entry).collect();
            entries.array_windows().any(|&[a, b]| may_swap(a, b))
        };
        let suspects = self.all.iter().filter(|(_, stream)| may_swap(stream));
        suspects.map(|(key, _)| key.clone()).collect()
    }

    /// Takes an event that is part of a stream; `offset` is its place among all inputs.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, offset: u64) {
        if let Some(role) = Role::of(event)
            && !event.is_metadata()
        {
            self.take(event, offset, role, Detail::All);
        }
    }

    /// As [`Streams::note`], of an event whose role is known.
    pub(crate) fn take(&mut self, event: &Event<'_>, offset: u64, role: Role, detail: Detail) {
        let len = event.bytes.len();
        if Place::is_long(len) {
            self.long.push((offset, len as u64));
        }
        let entry = match event.ts() {
            Some(ts) => {
                let place = Place::new(offset, len, rank(ts, event.dur()));
                Entry { time: ts.floor, place }
            }
            None => Entry { time: i64::MIN, place: Place::new(offset, len, 0) },
        };
        if detail == Detail::Times
            && role == Role::Chunk
            && let Some(skim) = Skim::of(event)
        {
            let found = Found { entry, args: Args::Skimmed(skim), origin: None };
            let at = self.number_of(event);
            return self.all[at].1.events.push(found);
        }
        decode_into(event, offset, &mut self.scratch);
        let counts = Counts::of(&self.scratch);
        let args = if role == Role::Head { Args::Counted(counts) } else { self.keep(counts) };
        let (start, source) = (self.scratch.start, self.scratch.source);
        let origin = (role != Role::Chunk).then(|| {
            let tid = event.field(Field::Tid).filter(|_| role == Role::Head).unwrap_or_default();
            Box::new(Origin { role, tid: tid.into(), start, source })
        });
        let found = Found { entry, args, origin };
        let at = match role {
            // each is a profile of its own
            Role::Whole => {
                let mut key = stream_key(event);
                key.extend_from_slice(&offset.to_le_bytes());
                self.stream(key, || Stream::of(event))
            }
            Role::Head | Role::Chunk => self.number_of(event),
        };
        self.all[at].1.events.push(found);
    }

    /// Keeps a copy of what was decoded last, if it can be kept.
    fn keep(&mut self, counts: Counts) -> Args {
        if !self.kept.last().is_some_and(Kept::has_room) {
            self.kept.push(Kept::default());
        }
        let stretch = self.kept.len() as u32 - 1;
        let number = self.kept[stretch as usize].push(&self.scratch);
        number.map_or(Args::Counted(counts), |number| Args::Kept(counts, stretch, number))
    }

    /// The number of the stream of an event that is part of one, given as quickly as for the event before, if it is the
    /// same.
    fn number_of(&mut self, event: &Event<'_>) -> usize {
        let ids = [Field::Pid, Field::Id, Field::Id2].map(|field| event.field(field));
        let same = |(own, _): &&(WrittenIds, usize)| own.each_ref().map(Option::as_deref) == ids;
        if let Some(&(_, at)) = self.recent.iter().find(same) {
            return at;
        }
        let at = self.stream(stream_key(event), || Stream::of(event));
        if self.recent.len() == RECENT {
            self.recent.clear();
        }
        self.recent.push((ids.map(|id| id.map(Box::from)), at));
        at
    }

    fn stream(&mut self, key: StreamKey, new: impl FnOnce() -> Stream) -> usize {
        if let Some(&at) = self.numbers.get(&key) {
            return at;
        }
        self.numbers.insert(key.clone(), self.all.len());
        self.all.push((key, new()));
        self.all.len() - 1
    }

    /// Takes over what a later part of the input that begins at `input` has; keeps at most `most` bytes decoded.
    pub(crate) fn append(&mut self, later: Streams, input: u64, most: usize) {
        self.long.extend(later.long);
        let heap: usize = later.kept.iter().map(Kept::heap).sum();
        let room = self.decoded + heap <= most;
        let before = self.kept.len() as u32;
        if room {
            self.decoded += heap;
            self.kept.extend(later.kept);
        }
        for (key, stream) in later.all {
            let Stream { events, .. } = stream;
            let at = self.stream(key, || Stream { events: Vec::new(), ..stream });
            let events = events.into_iter().map(|mut found| {
                if let Args::Kept(counts, stretch, number) = found.args {
                    let kept = Args::Kept(counts, before + stretch, number);
                    found.args = if room { kept } else { Args::Counted(counts) };
                }
                found
            });
            self.all[at].1.extend(events, input);
        }
    }
}

/// Decodes the args of an event that begins at `offset` into `chunk`, which is emptied before.
pub(crate) fn decode_into(event: &Event<'_>, offset: u64, chunk: &mut Chunk) {
    chunk.clear();
    if let Some(args) = event.field_and_rest(Field::Args) {
        let within = args.as_ptr() as usize - event.bytes.as_ptr() as usize;
        chunk.read_args(args, offset + within as u64);
    }
}

/// As [`decode_into`], for those that look at one chunk only.
pub(crate) fn decode(event: &Event<'_>, offset: u64) -> Chunk {
    let mut chunk = Chunk::default();
    decode_into(event, offset, &mut chunk);
    chunk
}

/// The content of a string, readable; anything else as it is written.
pub(crate) fn printable(value: &[u8]) -> String {
    let mut plain = Vec::new();
    match value {
        [b'"', content @ .., b'"'] => unescape(content, &mut plain),
        _ => plain.extend_from_slice(value),
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// Names of threads and processes, by (pid, tid) as written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) processes: HashMap<Written, Written>,
    pub(crate) threads: HashMap<(Written, Written), Written>,
}

impl Names {
    /// Looks at a metadata event; of two names the later one counts.
    pub(crate) fn note(&mut self, event: &Event<'_>) {
        let process = event.is_string(Field::Name, b"process_name");
        if !process && !event.is_string(Field::Name, b"thread_name") {
            return;
        }
        let Some(args) = event.field(Field::Args) else { return };
        let mut members = tracemill_tokenizer::members(args);
        let Some((_, name)) = members.find(|(key, _)| string_is(key, b"name")) else { return };
        let field = |field| Box::<[u8]>::from(event.field(field).unwrap_or_default());
        if process {
            self.processes.insert(field(Field::Pid), name.into());
        } else {
            self.threads.insert((field(Field::Pid), field(Field::Tid)), name.into());
        }
    }

    /// The name of a process, given its pid as written.
    pub(crate) fn process(&self, pid: &[u8]) -> Option<String> {
        self.processes.get(pid).map(|name| printable(name))
    }

    /// The name of a thread, given its pid and tid as written.
    pub(crate) fn thread(&self, pid: &[u8], tid: &[u8]) -> Option<String> {
        self.threads.get(&(pid.into(), tid.into())).map(|name| printable(name))
    }

    pub(crate) fn append(&mut self, later: Names) {
        self.processes.extend(later.processes);
        self.threads.extend(later.threads);
    }
}
