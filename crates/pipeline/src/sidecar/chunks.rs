//! CPU profile streams of windows: of those whose chunks can be told apart few are read.
//!
//! ```text
//!   page          0                   1                  2
//!   stream   Profile ─ chunk ─ chunk ┊ chunk ─ chunk ─ ┊ chunk     times and ids of each run go with the plan (`IndexedStreams`),
//!   read        x       x            ┊                 ┊           those of chunks are read when they prove needed
//! ```
//!
//! Of the list of events these pages are read at once: the first of each stream, those with heads of profiles, with events of 16 KiB and more, whose
//! lengths must be listed, and with events of streams that are needed as a whole. Of a packed trace also those whose samples may lie in windows.

use super::chunk_rows::{ChunkRow, ChunkRows, Expected};
use super::lookup::{Lookup, Single};
use super::members::{Member, members, times_of};
use super::stream_runs::{Run, runs};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;
use tracemill_core::hash::HashSet;
use tracemill_core::limits::Limits;
use tracemill_core::place::Place;
use tracemill_core::windows::{Edges, Windows};
use tracemill_index::{PageEntry, SectionEntry, event_sum, id, streams};
use tracemill_profile::{ChunkSource, IndexedChunk, IndexedRun, IndexedStreams, PageChunks};
use tracemill_tokenizer::Mapped;

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
    /// Where those of their chunks stand whose samples may lie in windows, of a packed trace.
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
    /// Where its first event stands.
    first: Option<u64>,
    has_chunk: bool,
}

/// Pages of the list of events, in the bytes of their file.
struct Pages {
    bytes: Arc<Mapped>,
    entries: Vec<PageEntry>,
    /// Bytes of the text.
    text: u64,
}

/// A page: its events, and what each is as a chunk, if pages have that.
struct EventPage {
    members: Vec<Member>,
    chunks: Vec<Option<IndexedChunk>>,
}

impl Pages {
    /// A page, with what there is of chunks if they are `told`; an error says what is wrong with it.
    fn page(&self, number: usize, told: bool) -> Result<EventPage, String> {
        let entry = self.entries.get(number).ok_or("it has fewer events of CPU profiles")?;
        let page = entry.read(&self.bytes).map_err(|error| error.to_string())?;
        let members = members(&page).map_err(|error| error.to_string())?;
        let mut end = 0;
        for Member { single: Single { place, bytes, .. }, .. } in &members {
            let behind = place.checked_add(*bytes).filter(|behind| *behind <= self.text);
            end = behind.filter(|_| end <= *place).ok_or("its places are not in order")?;
        }
        if !told {
            return Ok(EventPage { chunks: vec![None; members.len()], members });
        }
        let (rows, mut expected) = (ChunkRows::of(&page)?, Expected::default());
        let chunk = |(row, member): (usize, &Member)| {
            chunk_of(rows.row(row, member.owner, &mut expected)?, member.single)
        };
        let chunks = members.iter().enumerate().map(chunk).collect::<Result<_, String>>()?;
        Ok(EventPage { members, chunks })
    }
}

impl ChunkSource for Pages {
    fn chunks(&self, page: usize) -> Result<PageChunks, String> {
        let EventPage { members, chunks } = self.page(page, true)?;
        let both = members.iter().zip(chunks);
        Ok(both.filter_map(|(member, chunk)| Some((member.owner, chunk?))).collect())
    }

    fn sum_of(&self, place: u64, event: &[u8]) -> u32 {
        event_sum(place, event)
    }
}

/// Finds what windows need of the CPU profiles of an input whose base is `base`. Returns `None` if the
/// index has no list of CPU profiles. An error says why the index does not belong to the trace.
pub(super) fn wanted(
    (lookup, bytes): (&Lookup<'_, '_>, &Arc<Mapped>),
    (windows, edges): (&Windows, Edges),
    base: u64,
    config: &Limits,
) -> Result<Option<WantedStreams>, String> {
    let Some((streams, events)) = lookup.streams() else { return Ok(None) };
    let of_runs = lookup.index.section(id::STREAM_RUNS);
    let pages = Arc::new(Pages {
        bytes: Arc::clone(bytes),
        entries: events.pages.clone(),
        text: lookup.text,
    });
    let hides = if of_runs.is_none() { streams::CHUNKS } else { 0 };
    let mut wanting = Wanting {
        streams: streams_of(lookup, streams, |known, own, of_events| {
            wanted_of(known & !hides, own, of_events, (windows, edges))
        })?,
        pages: Arc::clone(&pages),
        unpacked: lookup.packed.is_some().then_some(windows),
        end: 0,
    };
    let room = config.shares().index / 4;
    let mut all = WantedStreams {
        first: HashSet::default(),
        events: Vec::new(),
        known: IndexedStreams::new(base, room, &config.tmp_dir, pages),
        likely: Vec::new(),
    };
    match of_runs {
        Some(of_runs) => wanting.take_runs(lookup, (of_runs, events), &mut all)?,
        None => {
            (0..events.pages.len())
                .try_for_each(|page| wanting.take_page(page, false, &mut all))?;
        }
    }
    all.known.finish().map_err(|error| error.to_string())?;
    Ok(Some(all))
}

/// How each is `wanted` of which so much is known, by its times and those of its events.
fn streams_of(
    lookup: &Lookup<'_, '_>,
    section: &SectionEntry,
    wanted: impl Fn(u64, Range<i64>, Range<i64>) -> Wanted,
) -> Result<Vec<Stream>, String> {
    let mut all = Vec::new();
    for entry in &section.pages {
        let page = lookup.index.page(entry).map_err(|error| error.to_string())?;
        let columns = [2, 3, 4, 5, 6].map(|column| page.numbers(column));
        let [Ok(known), Ok(leasts), Ok(widths), Ok(event_leasts), Ok(event_widths)] = columns
        else {
            return Err("it says less of CPU profiles than it should".to_owned());
        };
        let times = times_of(&leasts, &widths).zip(times_of(&event_leasts, &event_widths));
        all.extend(known.iter().zip(times).map(|(&known, (own, of_events))| {
            let wanted = wanted(known, own, of_events);
            Stream { wanted, first: None, has_chunk: false }
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

/// What is gone through to find out.
struct Wanting<'w> {
    streams: Vec<Stream>,
    pages: Arc<Pages>,
    /// Windows whose samples must be unpacked with what is read at once.
    unpacked: Option<&'w Windows>,
    /// Where the last event that was taken ends.
    end: u64,
}

impl Wanting<'_> {
    /// Takes all pages by their runs.
    fn take_runs(
        &mut self,
        lookup: &Lookup<'_, '_>,
        (section, events): (&SectionEntry, &SectionEntry),
        to: &mut WantedStreams,
    ) -> Result<(), String> {
        let mut of_page: Vec<Run> = Vec::new();
        for entry in &section.pages {
            let page = lookup.index.page(entry).map_err(|error| error.to_string())?;
            for run in runs(&page, events)? {
                match of_page.last().map(|last| last.page.cmp(&run.page)) {
                    Some(Ordering::Greater) => {
                        return Err("its runs of CPU profiles are not in order".to_owned());
                    }
                    Some(Ordering::Less) => {
                        self.take_runs_of(&of_page, to)?;
                        of_page.clear();
                    }
                    Some(Ordering::Equal) | None => {}
                }
                of_page.push(run);
            }
        }
        self.take_runs_of(&of_page, to)
    }

    /// Takes all runs of a page, which is read if any of them asks for it.
    fn take_runs_of(&mut self, runs: &[Run], to: &mut WantedStreams) -> Result<(), String> {
        if let Some(run) = runs.iter().find(|run| self.asks_for_page(run)) {
            self.take_page(run.page, true, to)?;
        }
        for &Run { page, stream, chunks, least, greatest, skim, .. } in runs {
            let own = self.streams.get(stream).filter(|own| own.wanted == Wanted::InPart);
            let (Some(own), Some(skim)) = (own, skim) else { continue };
            let first = own.first.ok_or("it has runs of CPU profiles that are nowhere")?;
            let run = IndexedRun { page, chunks, times: (least, greatest), skim };
            to.known.push(first, stream, run).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Whether events of a run are needed at once.
    fn asks_for_page(&self, run: &Run) -> bool {
        let Some(own) = self.streams.get(run.stream) else { return false };
        match own.wanted {
            Wanted::Not => false,
            Wanted::Whole => true,
            Wanted::InPart => {
                let lasts = run.skim.map_or(0, |skim| skim.duration().max(0));
                let first = run.least.saturating_sub(lasts);
                let is_likely =
                    self.unpacked.is_some_and(|windows| windows.touch(first, run.greatest));
                let is_first = own.first.is_none() || !own.has_chunk && run.chunks > 0;
                is_first || run.events != run.chunks || run.has_long() || is_likely
            }
        }
    }

    /// Takes the events of a page, with what there is of chunks if they are `told`.
    fn take_page(
        &mut self,
        number: usize,
        told: bool,
        to: &mut WantedStreams,
    ) -> Result<(), String> {
        let EventPage { members, chunks } = self.pages.page(number, told)?;
        for (&Member { single, owner }, chunk) in members.iter().zip(chunks) {
            if std::mem::replace(&mut self.end, single.place + single.bytes) > single.place {
                return Err("its places are not in order".to_owned());
            }
            let Some(stream) = self.streams.get_mut(owner) else { continue };
            if stream.wanted == Wanted::Not {
                continue;
            }
            if stream.first.is_none() {
                stream.first = Some(single.place);
                to.first.insert(single.place);
            }
            let chunk = chunk.filter(|_| stream.wanted == Wanted::InPart);
            // the first one says how made ones begin
            if chunk.is_none() || !std::mem::replace(&mut stream.has_chunk, true) {
                to.events.push(single);
            }
            let Some(chunk) = chunk else { continue };
            if Place::is_long(single.bytes as usize) {
                let listed = to.known.push_long(single.place, single.bytes);
                listed.map_err(|error| error.to_string())?;
            }
            // mostly an event has the time of its last sample
            let first = chunk.time.saturating_sub(chunk.skim.duration());
            if self.unpacked.is_some_and(|windows| windows.touch(first, chunk.time)) {
                to.likely.push(single.place..self.end);
            }
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
