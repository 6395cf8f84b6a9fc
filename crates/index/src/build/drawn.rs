//! Collects the view summary: names with their sums, tracks other than threads, and bins.

use super::bins::{AllBins, Bin, PartBins};
use super::granule_names::{GranuleNames, NamePlace, PartNames, append};
use super::lasting::{LastingEvent, LastingEvents, PlacedEvent};
use super::span::IndexedSpan;
use crate::drawing::{Labels, LaneKey, LaneKind, LaneTable, NAME_MOST, Seen, Shape, cut};
use crate::format::{Writer, bins::NO_NAME, id, spans};
use crate::pages::{PageRows, TEXT_MOST as TEXT_OF_ROW};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tracemill_inspect::info::UsageTable;
use tracemill_tokenizer::Event;
use tracemill_trace::event::names::Names;
use tracemill_trace::event::thread_table::ids_of_key;
use tracemill_trace::event::{PairKind, PairStep};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::SpillVec;

/// Maximum number of names in an index; the first names of the text are kept.
const NAMES_MOST: usize = 1 << 16;
/// Maximum bytes of the names in an index.
const TEXT_MOST: usize = 4 << 20;
/// Maximum number of tracks other than threads.
const LANES_MOST: usize = 1 << 18;
/// Bytes of the trace's text for which one bin is allowed.
const EACH: u64 = 8 << 10;
/// Maximum number of bins, however long the text is.
const BINS_MOST: u64 = 1 << 16;
/// Number of bins that are allowed even if the text is short.
const BINS_LEAST: u64 = 1 << 9;
/// Bit that marks the number of a track other than a thread.
pub(super) const OTHER: u32 = 1 << 31;

/// The sums over the slices and instants of a name.
#[derive(Clone, Copy, Debug, Default)]
struct NameTotals {
    count: u64,
    total: i64,
    longest: i64,
}

impl NameTotals {
    fn add(&mut self, later: NameTotals) {
        self.count += later.count;
        self.total = self.total.saturating_add(later.total);
        self.longest = self.longest.max(later.longest);
    }
}

fn lane_of(span: &IndexedSpan) -> Option<u32> {
    match span.kind {
        spans::COMPLETE | spans::PAIR => Some(span.thread),
        spans::ASYNC | spans::LEGACY => Some(span.track | OTHER),
        _ => None,
    }
}

pub(super) struct PartDrawn {
    /// Tracks of the events; the list of names in this field is empty.
    labels: Labels,
    sums: Vec<NameTotals>,
    bins: PartBins,
    names: PartNames,
}

impl PartDrawn {
    pub(super) fn new(floor: &AtomicU32) -> Self {
        PartDrawn {
            labels: Labels::default(),
            sums: Vec::new(),
            bins: PartBins::new(floor.load(Relaxed)),
            names: PartNames::default(),
        }
    }

    /// Adds a timed event that is in the last of `granules` blocks.
    ///
    /// Returns the number of the track if the event begins an async operation, otherwise 0.
    #[inline]
    pub(super) fn note(
        &mut self,
        event: &Event<'_>,
        &PlacedEvent { letter, ts, end, place, thread, name, .. }: &PlacedEvent,
        granules: usize,
    ) -> u32 {
        let start = ts.map_or(0, |ts| ts.floor);
        match Shape::of(letter) {
            Shape::Complete => {
                let dur = end.saturating_sub(start);
                self.add(thread, start, dur, place, name);
            }
            Shape::Moment(LaneKind::Thread) => {
                let PartDrawn { labels, bins, .. } = self;
                labels.page_samples(event, |lane, value| {
                    bins.add(lane | OTHER, start, Bin::of_sample(value, place));
                });
                self.add(thread, start, 0, place, name);
            }
            Shape::Moment(kind) => {
                let lane = self.labels.lane(event, kind);
                self.add(lane | OTHER, start, 0, place, name);
            }
            Shape::Begin(kind) => {
                self.names.note(place, name, granules);
                return if kind == LaneKind::Thread { 0 } else { self.labels.lane(event, kind) };
            }
            Shape::Samples => {
                let PartDrawn { labels, bins, .. } = self;
                labels.samples(event, |lane, value| {
                    bins.add(lane | OTHER, start, Bin::of_sample(value, place));
                });
                return 0;
            }
            Shape::End(_) | Shape::Flow | Shape::None => return 0,
        }
        self.names.note(place, name, granules);
        0
    }

    #[inline]
    fn add(&mut self, lane: u32, start: i64, dur: i64, place: u64, name: u32) {
        self.bins.add(lane, start, Bin::of(dur, place, name));
        let at = name as usize;
        if at >= self.sums.len() {
            self.sums.resize(at + 1, NameTotals::default());
        }
        self.sums[at].add(NameTotals { count: 1, total: dur, longest: dur });
    }

    /// Adds the events of this chunk to `seen`, by process and time. `threads` are the threads of
    /// the chunk.
    pub(super) fn show(&self, threads: &UsageTable, lasting: &LastingEvents, seen: &Seen) {
        let mut seen = seen.count(lasting.times);
        let mut process = |pid| seen.process(pid);
        let of_threads: Vec<usize> =
            threads.entries().map(|entry| process(ids_of_key(entry.key).0)).collect();
        let of_others: Vec<usize> =
            self.labels.lanes.all().iter().map(|label| process(&label.pid)).collect();
        self.bins.each(|lane, (time, level), events| {
            let of = if lane & OTHER == 0 { &of_threads } else { &of_others };
            let process = of.get((lane & !OTHER) as usize).copied().unwrap_or_default();
            seen.add(process, time, level, events);
        });
        // bins have no pairs yet, so count begin events
        let begins = |lasting_event: &&LastingEvent| {
            lasting_event.part.step == PairStep::Begin
                && !matches!(lasting_event.part.kind, PairKind::Flow | PairKind::Counter)
        };
        for part in lasting.parts.iter().filter(begins) {
            let process = of_threads.get(part.thread as usize).copied().unwrap_or_default();
            seen.add(process, part.part.entry.time, 0, 1);
        }
    }

    pub(super) fn seal(&mut self, granules: &super::granules::PartGranules) {
        self.names.seal(granules);
    }
}

/// For the tracks and names of a chunk, their indices in the whole text.
pub(super) struct PartNumbers {
    names: Vec<u32>,
    others: Vec<u32>,
}

impl PartNumbers {
    pub(super) fn name(&self, number: u32) -> u32 {
        self.names.get(number as usize).copied().unwrap_or(NO_NAME)
    }

    pub(super) fn track(&self, number: u32) -> u32 {
        self.others.get(number as usize).copied().unwrap_or_default()
    }
}

pub(super) struct AllDrawn {
    names: Names,
    text: usize,
    sums: Vec<NameTotals>,
    is_complete: bool,
    others: LaneTable,
    /// Bytes of heap of the tracks, and the limit of these bytes.
    taken: u64,
    room: Quota,
    bins: AllBins,
    granules: SpillVec<NamePlace>,
}

impl AllDrawn {
    pub(super) fn new(text: u64, granules: SpillVec<NamePlace>, room: Quota) -> Self {
        AllDrawn {
            names: Names::default(),
            text: 0,
            sums: Vec::new(),
            is_complete: true,
            others: LaneTable::default(),
            taken: 0,
            room,
            bins: AllBins::new((text / EACH).clamp(BINS_LEAST, BINS_MOST) as usize),
            granules,
        }
    }

    /// Returns the current level of the bins, shared with workers. Finer bins are not needed.
    pub(super) fn floor(&self) -> Arc<AtomicU32> {
        self.bins.floor()
    }

    /// Appends a chunk. `rows` are the numbers of the chunk's threads in the whole text, `names`
    /// the chunk's names.
    pub(super) fn append(
        &mut self,
        part: PartDrawn,
        rows: &[u32],
        names: &UsageTable,
    ) -> Result<PartNumbers, Error> {
        let names: Vec<u32> = names.entries().map(|entry| self.number(entry.key)).collect();
        let numbers = PartNumbers { names, others: self.tracks(part.labels.lanes)? };
        for (number, sum) in part.sums.into_iter().enumerate() {
            self.add_to(numbers.name(number as u32), sum);
        }
        let lane = |number: u32| match number & OTHER {
            0 => rows.get(number as usize).copied().unwrap_or_default(),
            _ => numbers.track(number & !OTHER) | OTHER,
        };
        self.bins.append(part.bins, lane, |bin| numbers.name(bin));
        append(&mut self.granules, part.names, &numbers.names)?;
        Ok(numbers)
    }

    /// Returns the numbers of a chunk's tracks in the whole text. Stops adding tracks one above the
    /// limit, so that [`DrawnTables::fits`] returns false.
    fn tracks(&mut self, part: LaneTable) -> Result<Vec<u32>, Error> {
        /// Bytes of heap of a track without texts.
        const LANE: usize = 96;
        let number = |key: LaneKey| {
            if let Some(known) = self.others.get(&key) {
                return Ok(known);
            }
            if self.others.all().len() > LANES_MOST {
                return Ok(0);
            }
            self.taken += (LANE + key.pid.len() + key.track.len()) as u64;
            self.room.check(self.taken, "counters and tracks of operations")?;
            Ok(self.others.add(key))
        };
        part.into_keys().into_iter().map(number).collect()
    }

    fn number(&mut self, key: &[u8]) -> u32 {
        let text = match key {
            [b'"', text @ .., b'"'] => text,
            b"null" => b"",
            key => key,
        };
        let mut short = Vec::new();
        let text = match text.len() > NAME_MOST {
            false => text,
            true => {
                short.extend_from_slice(cut(text));
                short.extend_from_slice("…".as_bytes());
                &short
            }
        };
        if let Some(number) = self.names.find(text) {
            return number;
        }
        if !self.is_complete || self.names.len() >= NAMES_MOST || self.text + text.len() > TEXT_MOST
        {
            self.is_complete = false;
            return NO_NAME;
        }
        self.text += text.len();
        self.names.number(text)
    }

    fn add_to(&mut self, name: u32, sum: NameTotals) {
        if name == NO_NAME {
            return;
        }
        let at = name as usize;
        if at >= self.sums.len() {
            self.sums.resize(at + 1, NameTotals::default());
        }
        self.sums[at].add(sum);
    }

    /// Adds a slice with begin and end event.
    pub(super) fn pair(&mut self, span: &IndexedSpan) {
        let Some(lane) = lane_of(span) else { return };
        let dur = span.end.saturating_sub(span.start);
        if span.flags & spans::OPEN == 0 {
            self.bins.add(lane, span.start, Bin::of(dur, span.begin.place, span.name));
            self.add_to(span.name, NameTotals { count: 1, total: dur, longest: dur });
        }
    }

    pub(super) fn finish(self) -> Result<DrawnTables, Error> {
        let AllDrawn { names, sums, others, bins, granules, .. } = self;
        let granules = GranuleNames(granules.finish()?);
        Ok(DrawnTables { names, sums, others, bins, granules })
    }
}

pub(super) struct DrawnTables {
    names: Names,
    sums: Vec<NameTotals>,
    others: LaneTable,
    bins: AllBins,
    pub(super) granules: GranuleNames,
}

impl DrawnTables {
    /// Returns whether the bins, the tracks and their texts are within the limits.
    pub(super) fn fits(&self, threads: &UsageTable) -> bool {
        let has_room = |key: &crate::drawing::LaneKey| key.pid.len() + key.track.len() < 64 << 10;
        self.bins.fits()
            && self.others.all().len() <= LANES_MOST
            && self.others.all().iter().all(has_room)
            && threads.entries().all(|thread| thread.key.len() <= TEXT_OF_ROW)
    }

    /// Returns the level of the bins. A bin is 2^level ns long.
    pub(super) fn level(&self) -> u32 {
        self.bins.level
    }

    /// Writes NAMES, LANES and BINS.
    ///
    /// `threads` are the first tracks. `listed` yields the slices longer than 2^`level` ns.
    pub(super) fn write<W: io::Write>(
        &self,
        threads: &UsageTable,
        level: u32,
        listed: impl FnOnce(&mut dyn FnMut(&IndexedSpan)) -> io::Result<()>,
        to: &mut Writer<W>,
    ) -> io::Result<()> {
        to.section(id::NAMES)?;
        let mut rows = PageRows::with_text();
        for number in 0..self.names.len() {
            let NameTotals { count, total, longest } =
                self.sums.get(number).copied().unwrap_or_default();
            let text = self.names.bytes_of(number as u32);
            let row = [count, total as u64, longest as u64, text.len() as u64];
            rows.push(row, 0..=0, &[text], to)?;
        }
        rows.end_page(to)?;
        to.section(id::LANES)?;
        let (mut rows, mut count) = (PageRows::with_text(), 0);
        for thread in threads.entries() {
            let (pid, tid) = ids_of_key(thread.key);
            rows.push([0, pid.len() as u64, tid.len() as u64], 0..=0, &[pid, tid], to)?;
            count += 1;
        }
        for key in self.others.all() {
            let kind = LaneKind::OF_EVENTS.iter().position(|kind| *kind == key.kind);
            let row =
                [kind.unwrap_or_default() as u64, key.pid.len() as u64, key.track.len() as u64];
            rows.push(row, 0..=0, &[&key.pid, &key.track], to)?;
        }
        rows.end_page(to)?;
        let number_of = |lane: u32| match lane & OTHER {
            0 => u64::from(lane),
            _ => count + u64::from(lane & !OTHER),
        };
        let drawn = |take: &mut dyn FnMut(u32, i64, i64)| {
            listed(&mut |span: &IndexedSpan| {
                let lane = lane_of(span).filter(|_| span.flags & spans::OPEN == 0);
                lane.into_iter().for_each(|lane| {
                    take(lane, span.start, span.end.saturating_sub(span.start));
                });
            })
        };
        self.bins.write(number_of, level, drawn, to)
    }
}
