//! Plans which events of CPU profiles to read for windows of time.
//!
//! ```text
//!   stream   Profile ─ chunk ─ chunk ─ chunk ─ chunk     the plan has times and ids of each chunk
//!   read        x        x                               (`KnownChunks`); others: on demand
//! ```
//!
//! In a packed trace, chunks cannot be read individually, so whole streams are read.

use super::lookup::{Lookup, Single, singles};
use crate::chunk_rows::Expected;
use crate::format::{IndexError, PageEntry, SectionEntry, event_sum, id, streams};
use std::ops::Range;
use tracemill_cpuprofile::{KnownChunk, KnownChunks};
use tracemill_join::read_plan::{BASE, Stop, Unused};
use tracemill_trace::input::remote::RangeReader;
use tracemill_trace::input::source::Source;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::hash::HashSet;
use tracemill_trace::time::windows::{Edges, Windows};

/// Events of CPU profiles that windows may need.
pub(super) struct WantedStreams {
    /// Offsets of the first events of the streams.
    pub(super) first: HashSet<u64>,
    /// Events that are read in any case.
    pub(super) events: Vec<Single>,
    /// Chunks of partially read streams.
    pub(super) known: KnownChunks,
}

/// The needed part of a stream: nothing, everything, or some chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamNeed {
    Not,
    Whole,
    /// Only chunks that prove to be needed.
    InPart,
}

impl<'i> Lookup<'i, '_> {
    /// Returns all events of CPU profiles, or `None` if the index does not list them.
    pub(super) fn profiles(&self) -> Result<Option<Vec<Single>>, IndexError> {
        let Some((_, events)) = self.streams() else { return Ok(None) };
        let mut found = Vec::new();
        for entry in &events.pages {
            let [places, lens, _, sums] = self.index.page(entry)?.columns()?;
            found.extend(singles(&[places, lens, sums]));
        }
        Ok(Some(found))
    }

    /// Returns the sections of streams and of their events, if the index has them.
    pub(super) fn streams(&self) -> Option<(&'i SectionEntry, &'i SectionEntry)> {
        self.index.section(id::STREAMS).zip(self.index.section(id::STREAM_EVENTS))
    }
}

/// Finds the events of CPU profiles that windows need. The input begins at [`BASE`].
pub(super) fn wanted(
    lookup: &Lookup<'_, '_>,
    windows: &Windows,
    edges: Edges,
    source: &Source,
    limits: &Limits,
) -> Result<WantedStreams, Stop> {
    let (streams, events) = lookup.streams().ok_or(Unused::NoRoom)?;
    let may_part = edges == Edges::Clip && lookup.packed.is_none();
    let mut wanting = Wanting {
        lookup,
        wanted: wanted_streams(lookup, streams, windows, may_part)?,
        first: Vec::new(),
        has_chunk: HashSet::default(),
        expected: Expected::default(),
        end: 0,
    };
    wanting.first.resize(wanting.wanted.len(), None);
    let lease = limits.lease("chunks of CPU profiles that are known", Share::of_index(1, 4));
    let remote = match source {
        Source::Remote(file) => Some(RangeReader::new(file, limits)),
        _ => None,
    };
    let mut all = WantedStreams {
        first: HashSet::default(),
        events: Vec::new(),
        known: KnownChunks::new(BASE, &lease, event_sum).with_remote(remote),
    };
    events.pages.iter().try_for_each(|entry| wanting.take_page(entry, &mut all))?;
    all.known.finish().map_err(|error| error.to_string())?;
    Ok(all)
}

/// Returns the needed part of each stream, by the times of its events and samples.
fn wanted_streams(
    lookup: &Lookup<'_, '_>,
    section: &SectionEntry,
    windows: &Windows,
    may_part: bool,
) -> Result<Vec<StreamNeed>, Stop> {
    let is_outside = |time| windows.at(time).is_none();
    let wanted = |known: u64, range: Range<i64>, of_events: Range<i64>| {
        let has_times = known & streams::TIMES != 0;
        if has_times && !windows.touch(range.start, range.end) {
            return StreamNeed::Not;
        }
        // a stream inside windows may be kept unchanged
        let is_cut = is_outside(of_events.start) || is_outside(of_events.end);
        let is_told_apart = has_times && known & streams::CHUNKS != 0;
        if may_part && is_cut && is_told_apart { StreamNeed::InPart } else { StreamNeed::Whole }
    };
    let mut all = Vec::new();
    for entry in &section.pages {
        let page = lookup.index.page(entry)?;
        let [known, leasts, widths, event_leasts, event_widths] = page.columns()?;
        let times = times_of(&leasts, &widths).zip(times_of(&event_leasts, &event_widths));
        all.extend(
            known.iter().zip(times).map(|(&known, (range, events))| wanted(known, range, events)),
        );
    }
    Ok(all)
}

/// Returns time ranges from their least times and their widths.
fn times_of(leasts: &[u64], widths: &[u64]) -> impl Iterator<Item = Range<i64>> {
    leasts.iter().zip(widths).map(|(&least, &width)| {
        let least = least as i64;
        least..least.saturating_add_unsigned(width)
    })
}

struct Wanting<'l, 'i, 'b> {
    lookup: &'l Lookup<'i, 'b>,
    wanted: Vec<StreamNeed>,
    first: Vec<Option<u64>>,
    /// Indices of the streams with a chunk so far.
    has_chunk: HashSet<usize>,
    expected: Expected,
    end: u64,
}

impl Wanting<'_, '_, '_> {
    fn take_page(&mut self, entry: &PageEntry, to: &mut WantedStreams) -> Result<(), Stop> {
        let page = self.lookup.index.page(entry)?;
        let numbers = page.columns::<12>()?;
        for row in 0..page.rows() {
            let [place, len, stream, sum, known @ ..] =
                numbers.each_ref().map(|column| column[row]);
            let (stream, sum) = (usize::try_from(stream).unwrap_or(usize::MAX), sum as u32);
            let end = place.checked_add(len).filter(|end| *end <= self.lookup.text);
            let end = end.filter(|_| self.end <= place).ok_or("its places are not in order")?;
            self.end = end;
            let Some(&wanted) = self.wanted.get(stream) else { continue };
            if wanted == StreamNeed::Not {
                continue;
            }
            let first = *self.first[stream].get_or_insert(place);
            to.first.insert(first);
            let (mut time, mut skim) = (0, None);
            if wanted == StreamNeed::InPart {
                let known = self.expected.decode(stream as u64, known);
                let known =
                    known.filter(|(_, skim)| skim.is_none_or(|chunk| chunk.samples() <= len));
                (time, skim) = known.ok_or("it has impossible chunks of CPU profiles")?;
            }
            // synthetic chunks take their keys from the first chunk
            if skim.is_none() || self.has_chunk.insert(stream) {
                to.events.push(Single { place, sum, bytes: len });
            }
            let Some(skim) = skim else { continue };
            let chunk = KnownChunk { place, len, time, skim, sum };
            to.known.push(first, chunk).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
