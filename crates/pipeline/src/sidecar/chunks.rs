//! CPU profile streams of windows: of those whose chunks can be told apart few are read.
//!
//! ```text
//!                         a      b
//!   stream   Profile ─ chunk ─ chunk ─ chunk ─ chunk           times and ids of all chunks go with the plan (`IndexedStreams`)
//!   read        x       x                                      its heads and its first chunk; of the others those that prove needed
//! ```

use super::chunk_rows::{ChunkRow, ChunkRows, Expected};
use super::lookup::{Lookup, Single};
use super::members::{Member, times_of};
use std::ops::Range;
use tracemill_core::hash::HashSet;
use tracemill_core::limits::Limits;
use tracemill_core::windows::{Edges, Windows};
use tracemill_index::{Page, SectionEntry, event_sum, streams};
use tracemill_profile::{IndexedChunk, IndexedStreams};

/// Why profiles cannot be asked for.
pub(super) const NO_PROFILES: &str = "it has no list of the CPU profiles";

/// What windows may need of CPU profiles.
pub(super) struct WantedStreams {
    /// Places of the first events of their streams.
    pub(super) first: HashSet<u64>,
    /// Events that are read in any case.
    pub(super) events: Vec<Single>,
    /// The chunks of those that are read in part.
    pub(super) known: IndexedStreams,
    /// Where those of their chunks stand whose samples may lie in windows.
    pub(super) likely: Vec<Range<u64>>,
}

/// How a stream is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Not,
    Whole,
    /// Of its chunks those that prove needed.
    InPart,
}

/// A stream whose events are gone through.
struct Stream {
    wanted: Wanted,
    events: u64,
    /// Where its first event stands.
    first: Option<u64>,
    has_chunk: bool,
}

/// What windows need of the CPU profiles of an input that stands at `base` among all. `None` if the index has no list of them; an error says
/// why it is none of the trace.
pub(super) fn wanted(
    lookup: &Lookup<'_, '_>,
    (windows, edges): (&Windows, Edges),
    base: u64,
    config: &Limits,
) -> Result<Option<WantedStreams>, String> {
    let Some((streams, members)) = lookup.streams() else { return Ok(None) };
    let mut all = WantedStreams {
        first: HashSet::default(),
        events: Vec::new(),
        known: IndexedStreams::new(base, config.shares().index / 4, &config.tmp_dir, event_sum),
        likely: Vec::new(),
    };
    let mut streams = Streams {
        all: streams_of(lookup, streams, (windows, edges))?,
        expected: Expected::default(),
    };
    let (mut problem, mut end) = (None, 0);
    let visited = lookup.members(members, |page, own| {
        if problem.is_none() {
            problem = all.take(page, own, &mut streams, (&mut end, lookup.text), windows).err();
        }
    });
    visited.map_err(|error| error.to_string())?;
    if let Some(problem) = problem {
        return Err(problem);
    }
    all.known.finish().map_err(|error| error.to_string())?;
    Ok(Some(all))
}

/// All of them.
struct Streams {
    all: Vec<Stream>,
    expected: Expected,
}

fn streams_of(
    lookup: &Lookup<'_, '_>,
    section: &SectionEntry,
    (windows, edges): (&Windows, Edges),
) -> Result<Vec<Stream>, String> {
    let mut all = Vec::new();
    for entry in &section.pages {
        let page = lookup.index.page(entry).map_err(|error| error.to_string())?;
        let columns = [0, 2, 3, 4, 5, 6].map(|column| page.numbers(column));
        let [Ok(events), Ok(known), Ok(leasts), Ok(widths), Ok(event_leasts), Ok(event_widths)] =
            columns
        else {
            return Err("it says less of CPU profiles than it should".to_owned());
        };
        let times = times_of(&leasts, &widths).zip(times_of(&event_leasts, &event_widths));
        let known = events.iter().zip(known.iter().zip(times));
        all.extend(known.map(|(&events, (known, (own, of_events)))| Stream {
            events,
            wanted: wanted_of(*known, own, of_events, (windows, edges)),
            first: None,
            has_chunk: false,
        }));
    }
    Ok(all)
}

/// How a stream is wanted of which so much is known, with its times and those of its events, up to the last.
fn wanted_of(
    known: u64,
    own: Range<i64>,
    of_events: Range<i64>,
    (windows, edges): (&Windows, Edges),
) -> Wanted {
    let has_times = known & streams::TIMES != 0;
    if has_times && !windows.touch(own.start, own.end) {
        return Wanted::Not;
    }
    // what may lie in windows as a whole may stay as it is
    let is_outside = |time| windows.at(time).is_none();
    let is_cut = edges == Edges::Clip && (is_outside(of_events.start) || is_outside(of_events.end));
    let is_told_apart = has_times && known & streams::CHUNKS != 0;
    if is_cut && is_told_apart { Wanted::InPart } else { Wanted::Whole }
}

impl WantedStreams {
    /// Takes the events of a page. The text is so long; events end where `end` says at most.
    fn take(
        &mut self,
        page: &Page,
        members: &[Member],
        streams: &mut Streams,
        (end, text): (&mut u64, u64),
        windows: &Windows,
    ) -> Result<(), String> {
        let Streams { all: streams, expected } = streams;
        let is_in_part = |member: &Member| {
            streams.get(member.owner).is_some_and(|stream| stream.wanted == Wanted::InPart)
        };
        let is_asked = members.iter().any(is_in_part);
        let chunks = is_asked.then(|| ChunkRows::of(page)).transpose()?;
        expected.next_page();
        for (row, &Member { single, owner }) in members.iter().enumerate() {
            let Some(stream) = streams.get_mut(owner) else { continue };
            if stream.wanted == Wanted::Not {
                continue;
            }
            let is_first = stream.first.is_none();
            let first = *stream.first.get_or_insert(single.place);
            if is_first {
                self.first.insert(first);
                if stream.wanted == Wanted::InPart {
                    self.known.expect(first, stream.events);
                }
            }
            let chunk = match &chunks {
                Some(chunks) if stream.wanted == Wanted::InPart => {
                    chunk_of(chunks.row(row, owner, expected)?, single)?
                }
                _ => None,
            };
            // the first one says how made ones begin
            if chunk.is_none() || !std::mem::replace(&mut stream.has_chunk, true) {
                self.events.push(single);
            }
            let Some(chunk) = chunk else { continue };
            let behind = single.place.checked_add(single.bytes).filter(|behind| *behind <= text);
            let behind =
                behind.filter(|_| *end <= single.place).ok_or("its places are not in order")?;
            *end = behind;
            // mostly an event has the time of its last sample
            if windows.touch(chunk.time.saturating_sub(chunk.skim.duration()), chunk.time) {
                self.likely.push(single.place..behind);
            }
            self.known.push(first, chunk).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

fn chunk_of(row: ChunkRow, event: Single) -> Result<Option<IndexedChunk>, String> {
    let Some(skim) = row.skim else { return Ok(None) };
    let Single { place, sum, bytes: len } = event;
    match skim.samples() <= len {
        true => Ok(Some(IndexedChunk { place, len, time: row.time, skim, sum })),
        false => Err("it has impossible chunks of CPU profiles".to_owned()),
    }
}
