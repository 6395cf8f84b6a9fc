//! CPU profile streams: when each has samples, and where its events stand.
//!
//! ```text
//!   stream 0   Profile ─ chunk ─ chunk ─────── chunk         10 … 95 µs
//!   stream 1             Profile ── chunk ─ chunk            unknown: chunks are not in order of time
//!   events     0         1    0  1  0   1      0             by place, each with its stream
//! ```
//!
//! What a chunk means depends on those before it: times count from sample to sample, and nodes are defined where they come first. So a
//! window needs all of a stream, or nothing. It needs nothing if no event and no sample of the stream lies near; where that cannot be told
//! from one look at each chunk, the times are unknown, and the stream is always read.

use std::io;
use tracemill_core::entry::{Entry, says_all};
use tracemill_core::error::Error;
use tracemill_core::hash::HashMap;
use tracemill_core::order::{Record, Spool, Spooled, word};
use tracemill_index::{PageBuilder, Section, Writer, id};
use tracemill_profile::{Detail, ProfileParts, Role, Router, Skim, StreamKey};
use tracemill_tokenizer::Event;

/// Rows of a page.
const ROWS: usize = 8192;

/// An event of a stream.
#[derive(Clone, Copy)]
pub(super) struct Member {
    place: u64,
    len: u64,
    stream: u32,
    sum: u32,
}

impl Record for Member {
    const BYTES: usize = 24;

    fn encode(&self, bytes: &mut [u8]) {
        let own = u64::from(self.stream) | u64::from(self.sum) << 32;
        for (chunk, word) in
            bytes.as_chunks_mut::<8>().0.iter_mut().zip([self.place, self.len, own])
        {
            *chunk = word.to_le_bytes();
        }
    }

    fn decode(bytes: &[u8]) -> Self {
        let [place, len, own] = std::array::from_fn(|at| word(bytes, 8 * at));
        Member { place, len, stream: own as u32, sum: (own >> 32) as u32 }
    }
}

/// Those of one part of the text.
#[derive(Default)]
pub(super) struct PartStreams {
    router: Router,
    members: Vec<Member>,
}

impl PartStreams {
    /// The next event of a stream.
    pub(super) fn note(&mut self, event: &Event<'_>, role: Role, sum: u32) {
        let place = event.offset;
        let stream = self.router.take(event, place, role, Detail::Times) as u32;
        self.members.push(Member { place, len: event.bytes.len() as u64, stream, sum });
        // what is not quick to read was decoded for its times
        self.router.kept.clear();
    }
}

/// A stream as far as it is known.
#[derive(Default)]
struct Track {
    events: u64,
    bytes: u64,
    /// Times of its events.
    of_events: Option<(i64, i64)>,
    /// Times of its samples, from its start on.
    of_samples: Option<(i64, i64)>,
    /// Where it starts: the time of the last head.
    start: Option<i64>,
    /// The time of the last sample, from its start on.
    elapsed: i64,
    last: Option<Entry>,
    /// Whether its times are more than those of its events and the steps of its chunks, one after the other.
    is_unknown: bool,
}

fn unite(times: &mut Option<(i64, i64)>, (least, greatest): (i64, i64)) {
    let (low, high) = times.unwrap_or((least, greatest));
    *times = Some((low.min(least), high.max(greatest)));
}

impl Track {
    fn append(&mut self, parts: &ProfileParts) {
        self.is_unknown |= parts.whole.is_some();
        for head in &parts.heads {
            self.event(head.entry);
            self.start = Some(head.entry.time);
        }
        // nothing of one part went to disk
        let (chunks, skims) = (parts.chunks.records(&[]), parts.skims.records(&[]));
        for (chunk, skim) in chunks.iter().zip(skims.iter()) {
            self.event(chunk);
            self.chunk(chunk, skim);
        }
    }

    fn event(&mut self, entry: Entry) {
        self.events += 1;
        match entry.time {
            i64::MIN => self.is_unknown = true,
            time => unite(&mut self.of_events, (time, time)),
        }
    }

    fn chunk(&mut self, chunk: Entry, skim: Skim) {
        // what is in order by its digits only is left to those who look at these
        let follows = |last: Entry| {
            let is_same = last.time == chunk.time && last.place.rank() == chunk.place.rank();
            last.time < chunk.time || is_same && says_all(chunk.place.rank())
        };
        let in_order = self.last.replace(chunk).is_none_or(follows);
        self.is_unknown |= !in_order || !skim.is_even;
        if skim.samples() > 0 {
            let at = |time| self.elapsed.saturating_add(time);
            unite(&mut self.of_samples, (at(skim.low), at(skim.high)));
        }
        self.elapsed = self.elapsed.saturating_add(skim.duration());
    }

    /// The least and the greatest time of an event or a sample, if they are known.
    fn times(&self) -> Option<(i64, i64)> {
        let start = self.start.filter(|_| !self.is_unknown)?;
        let mut times = self.of_events;
        if let Some((least, greatest)) = self.of_samples {
            unite(&mut times, (start.saturating_add(least), start.saturating_add(greatest)));
        }
        times
    }
}

/// Those of the whole text, as parts come.
pub(super) struct AllStreams {
    numbers: HashMap<StreamKey, u32>,
    all: Vec<Track>,
    members: Spool<Member>,
}

impl AllStreams {
    pub(super) fn new(members: Spool<Member>) -> Self {
        AllStreams { numbers: HashMap::default(), all: Vec::new(), members }
    }

    /// The next part.
    pub(super) fn append(&mut self, mut part: PartStreams) -> Result<(), Error> {
        let mut numbers = Vec::new();
        for (key, _, parts) in part.router.found {
            let next = self.all.len() as u32;
            let number = *self.numbers.entry(key).or_insert(next);
            if number == next {
                self.all.push(Track::default());
            }
            self.all[number as usize].append(&parts);
            numbers.push(number);
        }
        for member in &mut part.members {
            member.stream = numbers[member.stream as usize];
            self.all[member.stream as usize].bytes += member.len;
        }
        self.members.extend(&part.members)
    }

    pub(super) fn finish(mut self) -> Result<Streams, Error> {
        Ok(Streams { all: self.all, members: self.members.take()? })
    }
}

/// All streams of a text.
pub(super) struct Streams {
    all: Vec<Track>,
    members: Spooled<Member>,
}

impl Streams {
    /// Writes their sections.
    pub(super) fn write<W: io::Write>(&self, to: &mut Writer<W>) -> io::Result<()> {
        to.section(Section { id: id::STREAMS, critical: false, version: 1 })?;
        for page in self.all.chunks(ROWS) {
            to.page(page.len(), (0, 0), |to| fill_streams(page, to))?;
        }
        to.section(Section { id: id::STREAM_EVENTS, critical: false, version: 1 })?;
        let mut members = self.members.iter();
        loop {
            let page: Vec<Member> = members.by_ref().take(ROWS).collect();
            let (Some(first), Some(last)) = (page.first(), page.last()) else { return Ok(()) };
            to.page(page.len(), (first.place, last.place), |to| fill_members(&page, to))?;
        }
    }
}

fn fill_streams(page: &[Track], to: &mut PageBuilder) {
    let columns: [fn(&Track) -> u64; 5] = [
        |track| track.events,
        |track| track.bytes,
        |track| u64::from(track.times().is_some()),
        |track| track.times().map_or(0, |(least, _)| least as u64),
        |track| track.times().map_or(0, |(least, greatest)| greatest.abs_diff(least)),
    ];
    for column in columns {
        to.numbers(&page.iter().map(column).collect::<Vec<_>>());
    }
}

fn fill_members(page: &[Member], to: &mut PageBuilder) {
    let columns: [fn(&Member) -> u64; 4] = [
        |member| member.place,
        |member| member.len,
        |member| u64::from(member.stream),
        |member| u64::from(member.sum),
    ];
    for column in columns {
        to.numbers(&page.iter().map(column).collect::<Vec<_>>());
    }
}
