//! Collects CPU profile streams: the time range of each stream, and the locations of its events. A
//! stream is all events of one CPU profile.
//!
//! ```text
//!   stream 0   Profile ─ chunk ─ chunk ─────── chunk         10 … 95 µs
//!   stream 1             Profile ── chunk ─ chunk            unknown: chunks not in time order
//!   events     0         1    0  1  0   1      0             by offset, each with its stream
//! ```
//!
//! A chunk depends on earlier chunks: each time is relative to the previous sample, and each node
//! is defined once. A skim is a summary of a chunk: its times and node ids. With the skims of all
//! chunks, a reader needs only the chunks with samples in a window, and the chunks that define
//! their nodes (`tracemill_cpuprofile::KnownChunks`). Without skims the reader needs the whole
//! stream, if an event or sample is near the window. If skims do not give the times, the stream is
//! always read.

use crate::chunk_rows::Expected;
use crate::format::{Writer, id, streams};
use crate::pages::write_rows;
use std::io;
use tracemill_cpuprofile::{Detail, ProfileParts, Role, Router, Skim, StreamKey, is_far};
use tracemill_tokenizer::Event;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::spill::{SpillVec, SpilledVec};
use tracemill_trace::store::entry::{Entry, says_all};
use tracemill_trace::time::bounds::widen;

record! {
    #[derive(Clone, Copy)]
    pub(super) struct StreamMember {
        place: u64,
        len: u64,
        stream: u32,
        sum: u32,
        time: i64,
        /// Skim of the event, if it is a chunk.
        skim: Option<Skim>,
    }
}

#[derive(Default)]
pub(super) struct PartStreams {
    router: Router,
    members: Vec<StreamMember>,
}

impl PartStreams {
    pub(super) fn note(&mut self, event: &Event<'_>, role: Role, sum: u32) {
        let place = event.offset;
        let stream = self.router.take(event, place, role, Detail::Times) as u32;
        let time = event.ts().map_or(0, |ts| ts.floor);
        let len = event.bytes.len() as u64;
        self.members.push(StreamMember { place, len, stream, sum, time, skim: None });
        // only the times of decoded chunks are needed
        self.router.kept.clear();
    }
}

/// The known times of a stream, in nanoseconds.
#[derive(Default)]
struct StreamExtent {
    of_events: Option<(i64, i64)>,
    /// Time range of the stream's samples, relative to the start.
    of_samples: Option<(i64, i64)>,
    /// Time of the last `Profile` event.
    start: Option<i64>,
    elapsed: i64,
    last: Option<Entry>,
    /// Whether the stream's times cannot be computed from events and steps in order.
    is_unknown: bool,
}

impl StreamExtent {
    fn append(&mut self, parts: &ProfileParts) {
        self.is_unknown |= parts.whole.is_some();
        for head in &parts.heads {
            self.event(head.entry);
            self.start = Some(head.entry.time);
        }
        for (chunk, skim) in skimmed(parts) {
            self.event(chunk);
            self.chunk(chunk, skim);
        }
    }

    fn event(&mut self, entry: Entry) {
        match entry.time {
            i64::MIN => self.is_unknown = true,
            time => widen(&mut self.of_events, time, time),
        }
    }

    fn chunk(&mut self, chunk: Entry, skim: Skim) {
        // sub-nanosecond digits may decide the order; such an order counts as unknown
        let follows = |last: Entry| {
            let is_same = last.time == chunk.time && last.place.rank() == chunk.place.rank();
            last.time < chunk.time || is_same && says_all(chunk.place.rank())
        };
        let in_order = self.last.replace(chunk).is_none_or(follows);
        self.is_unknown |= !in_order || !skim.is_even();
        if skim.samples() > 0 {
            let (least, greatest) = skim.times(self.elapsed);
            widen(&mut self.of_samples, least, greatest);
        }
        self.elapsed = self.elapsed.saturating_add(skim.duration());
        let of_samples = self.of_samples.unwrap_or_default();
        let times = [self.elapsed, of_samples.0, of_samples.1];
        self.is_unknown |= times.iter().any(|time| is_far(*time));
    }

    /// Returns the time range of events and samples, if known.
    fn times(&self) -> Option<(i64, i64)> {
        let start = self.start.filter(|start| !self.is_unknown && !is_far(*start))?;
        let mut times = self.of_events;
        if let Some((least, greatest)) = self.of_samples {
            widen(&mut times, start.saturating_add(least), start.saturating_add(greatest));
        }
        times
    }
}

impl StreamExtent {
    /// Returns the [`streams`] bits of the stream. The bit for chunks is set only if `has_room`.
    fn known(&self, has_room: bool) -> u64 {
        match self.times() {
            None => 0,
            Some(_) if !has_room => streams::TIMES,
            Some(_) => streams::TIMES | streams::CHUNKS,
        }
    }
}

fn skimmed(parts: &ProfileParts) -> impl Iterator<Item = (Entry, Skim)> {
    // one chunk of the text has spilled nothing
    let (chunks, skims) = (parts.chunks.records(&[]), parts.skims.records(&[]));
    chunks.iter().zip(skims.iter())
}

fn note_skims(part: &mut PartStreams) {
    let streams = part.router.found.iter().map(|(.., stream)| skimmed(stream).peekable());
    let mut streams: Vec<_> = streams.collect();
    for member in &mut part.members {
        let chunk = streams[member.stream as usize]
            .next_if(|(chunk, _)| chunk.place.offset() == member.place);
        member.skim = chunk.map(|(_, skim)| skim);
    }
}

pub(super) struct AllStreams {
    numbers: HashMap<StreamKey, u32>,
    all: Vec<StreamExtent>,
    members: SpillVec<StreamMember>,
}

impl AllStreams {
    pub(super) fn new(members: SpillVec<StreamMember>) -> Self {
        AllStreams { numbers: HashMap::default(), all: Vec::new(), members }
    }

    pub(super) fn append(&mut self, mut part: PartStreams) -> Result<(), Error> {
        note_skims(&mut part);
        let mut numbers = Vec::new();
        for (key, _, parts) in part.router.found {
            let next = self.all.len() as u32;
            let number = *self.numbers.entry(key).or_insert(next);
            if number == next {
                self.all.push(StreamExtent::default());
            }
            self.all[number as usize].append(&parts);
            numbers.push(number);
        }
        for member in &mut part.members {
            member.stream = numbers[member.stream as usize];
        }
        self.members.extend(&part.members)
    }

    pub(super) fn finish(mut self) -> Result<StreamTable, Error> {
        Ok(StreamTable { all: self.all, members: self.members.take()? })
    }
}

pub(super) struct StreamTable {
    all: Vec<StreamExtent>,
    members: SpilledVec<StreamMember>,
}

impl StreamTable {
    /// Writes STREAMS and STREAM_EVENTS, with the data of chunks if `has_room`.
    pub(super) fn write<W: io::Write>(&self, has_room: bool, to: &mut Writer<W>) -> io::Result<()> {
        let times = |times: Option<(i64, i64)>| {
            let (least, greatest) = times.unwrap_or_default();
            [least as u64, greatest.abs_diff(least)]
        };
        let of_stream = |track: &StreamExtent| {
            let ([least, width], [event_least, event_width]) =
                (times(track.times()), times(track.of_events));
            ([track.known(has_room), least, width, event_least, event_width], 0)
        };
        write_rows(id::STREAMS, self.all.iter().map(of_stream), to)?;
        let mut expected = Expected::default();
        let of_event = |StreamMember { place, len, stream, sum, time, skim }| {
            let numbers = has_room.then(|| expected.encode(u64::from(stream), time, skim));
            let [later, kind, samples, duration, low, rest, least, ids] =
                numbers.unwrap_or_default();
            let (stream, sum) = (u64::from(stream), u64::from(sum));
            let row =
                [place, len, stream, sum, later, kind, samples, duration, low, rest, least, ids];
            (row, place)
        };
        write_rows(id::STREAM_EVENTS, self.members.iter().map(of_event), to)
    }
}
