//! Finds the byte ranges needed for a time range, by the sections of an index.
//!
//! SPANS lists the slices that are longer than the *look-back* T. Any other slice that overlaps the
//! time range begins at most T before the range.

use crate::format::{Index, IndexError, PageEntry, SectionEntry, id, spans};
use crate::packed::PackedText;
use crate::pages::ROWS;
use std::ops::Range;
use std::sync::Arc;
use tracemill_join::read_plan::EventSum;
use tracemill_trace::input::packed::Restart;
use tracemill_trace::read::pieces::Piece;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::time::windows::Edges;

/// Maximum bytes of adjacent blocks that are read as one range.
const STRETCH: u64 = 1 << 20;

/// Sections of an index that locate events.
pub(super) struct Lookup<'i, 'b> {
    pub(super) index: &'i Index<'b>,
    granules: &'i SectionEntry,
    places: &'i SectionEntry,
    spans: &'i SectionEntry,
    pub(super) text: u64,
    pub(super) packed: Option<PackedText>,
}

/// An event that is read individually.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Single {
    pub(super) place: u64,
    pub(super) sum: u32,
    /// Length in bytes; 0 if unknown, which is rare.
    pub(super) bytes: u64,
}

/// A slice longer than the look-back T.
pub(super) struct SpanRow {
    /// Kind, one of [`spans`].
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) thread: u64,
    /// Index of an async operation's track among the tracks that are not threads.
    pub(super) track: u64,
    pub(super) name: u64,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) begin: Single,
    /// The end event; equals `begin` if there is no end event.
    pub(super) last: Single,
}

/// Blocks and events to read.
#[derive(Default)]
pub(super) struct GranulesToRead {
    pub(super) pieces: Vec<Piece>,
    pub(super) sum: EventSum,
    /// Bytes of blocks, and of individual events of known length.
    pub(super) bytes: u64,
    /// Index of the block after the last added block.
    row: u64,
}

/// A block as stored in the index.
pub(super) struct GranuleRow {
    /// Number of the block; adjacent blocks have consecutive numbers.
    pub(super) number: u64,
    pub(super) place: u64,
    len: u64,
    pub(super) events: u64,
    pub(super) least: i64,
    width: u64,
    sum: u64,
    pub(super) bytes: u64,
}

impl<'i, 'b> Lookup<'i, 'b> {
    pub(super) fn new(
        index: &'i Index<'b>,
        text: u64,
        restarts: Option<Arc<[Restart]>>,
    ) -> Result<Option<Self>, IndexError> {
        let sections = [id::GRANULES, id::PLACES, id::SPANS];
        let [Some(granules), Some(places), Some(spans)] = sections.map(|id| index.section(id))
        else {
            return Ok(None);
        };
        let Some(first) = granules.pages.first() else { return Ok(None) };
        let [starts, lens] = index.page(first)?.columns()?;
        let first = starts.first().zip(lens.first());
        let head = first.map_or(0, |(start, len)| start.saturating_add(*len));
        let packed = restarts.map(|restarts| PackedText { head, restarts });
        Ok(Some(Lookup { index, granules, places, spans, text, packed }))
    }

    fn is_last(&self, row: &GranuleRow) -> bool {
        row.number + 1 == self.granules.rows
    }

    /// Passes slices longer than the look-back T that overlap `seen` to `visit`.
    pub(super) fn each_span(
        &self,
        seen: &Range<i64>,
        mut visit: impl FnMut(&SpanRow),
    ) -> Result<(), IndexError> {
        for entry in pages_of(self.spans, seen) {
            let page = self.index.page(entry)?;
            let columns = page.columns::<11>()?;
            for row in 0..page.rows() {
                let [kind, flags, thread, start, dur, place, rest, sum, last_sum, track, name] =
                    columns.each_ref().map(|column| column[row]);
                let (kind, flags, start) = (kind as u8, flags as u8, start as i64);
                let is_open = flags & spans::OPEN != 0;
                let end = if is_open { i64::MAX } else { start.saturating_add_unsigned(dur) };
                if start >= seen.end || end < seen.start {
                    continue;
                }
                let single = |place, sum: u64| Single { place, sum: sum as u32, bytes: 0 };
                let begin = single(place, sum);
                let last = single(place.wrapping_add(rest), last_sum);
                visit(&SpanRow { kind, flags, thread, track, name, start, end, begin, last });
            }
        }
        Ok(())
    }

    /// Returns the begin and end events of slices longer than the look-back T that overlap `seen`.
    ///
    /// Returns `None` if some events of these slices are not in the index. Adds the offsets of the
    /// events to `apart`, except for complete events. In `apart`, the two events of a pair have the
    /// same value, and all other events have `None`.
    pub(super) fn spans(
        &self,
        seen: &Range<i64>,
        edges: Edges,
        apart: &mut HashMap<u64, Option<u64>>,
    ) -> Result<Option<Vec<Single>>, IndexError> {
        let (mut events, mut is_known) = (Vec::new(), true);
        let clips = edges == Edges::Clip;
        self.each_span(seen, |&SpanRow { kind, flags, end, begin, last, .. }| {
            // counters of pages are drawn, but need no events in a slice
            if kind == spans::COUNTER && (!clips || flags & spans::PAGE != 0) {
                return;
            }
            is_known &= kind != spans::FLOW || flags & spans::STEPS == 0 || clips;
            events.push(begin);
            let is_pair = matches!(kind, spans::PAIR | spans::ASYNC | spans::LEGACY);
            if kind != spans::COMPLETE {
                apart.insert(begin.place, is_pair.then_some(!begin.place));
            }
            // with clipped edges, ends after the last window are not needed
            if last.place != begin.place && (!clips || end < seen.end) {
                events.push(last);
                apart.insert(last.place, is_pair.then_some(!begin.place));
            }
        })?;
        Ok(is_known.then_some(events))
    }

    pub(super) fn listed(&self) -> Result<Vec<Single>, IndexError> {
        let mut all = Vec::new();
        for entry in &self.places.pages {
            let columns = self.index.page(entry)?.columns()?;
            all.extend(singles(&columns));
        }
        Ok(all)
    }

    /// Returns the parts to read: the blocks that overlap `seen`, the last block, `events`, and the
    /// events in PLACES.
    pub(super) fn pieces(
        &self,
        seen: &Range<i64>,
        mut events: Vec<Single>,
    ) -> Result<GranulesToRead, IndexError> {
        events.extend(self.listed()?.into_iter().map(|event| Single { bytes: 0, ..event }));
        self.chosen(seen, |row| self.is_last(row) || row.touches(seen), events)
    }

    /// Returns the `wanted` blocks and `events`; skips pages that do not overlap `seen`.
    pub(super) fn chosen(
        &self,
        seen: &Range<i64>,
        mut wanted: impl FnMut(&GranuleRow) -> bool,
        mut events: Vec<Single>,
    ) -> Result<GranulesToRead, IndexError> {
        events.sort_unstable();
        events.dedup_by_key(|event| event.place);
        let mut all = GranulesToRead::default();
        let mut left = &events[..];
        self.each_granule(Some(seen), |row| {
            let (before, others) = left.split_at(left.partition_point(|e| e.place < row.place));
            let (within, behind) = others.split_at(others.partition_point(|e| e.place < row.end()));
            before.iter().for_each(|event| all.event(*event));
            left = behind;
            if !wanted(row) {
                return within.iter().for_each(|event| all.event(*event));
            }
            // reading past the last block finds appended text
            let end = if self.is_last(row) { u64::MAX } else { row.end() };
            all.granule(row, end, self.text);
        })?;
        left.iter().for_each(|event| all.event(*event));
        Ok(all)
    }

    /// Passes the blocks of pages that overlap `seen`, and of the last page, to `visit` in text
    /// order.
    pub(super) fn each_granule(
        &self,
        seen: Option<&Range<i64>>,
        mut visit: impl FnMut(&GranuleRow),
    ) -> Result<(), IndexError> {
        let last = self.granules.pages.last().map(|entry| entry.offset);
        let is_last = |entry: &&PageEntry| Some(entry.offset) == last;
        let touches =
            |entry: &&PageEntry| seen.is_none_or(|seen| touches(entry, seen)) || is_last(entry);
        for (number, entry) in self.granules.pages.iter().enumerate() {
            if !touches(&entry) {
                continue;
            }
            let page = self.index.page(entry)?;
            let columns = page.columns::<7>()?;
            for row in 0..page.rows() {
                let [place, len, events, least, width, sum, bytes] =
                    columns.each_ref().map(|column| column[row]);
                // all pages but the last have this many rows
                let (number, least) = ((number * ROWS + row) as u64, least as i64);
                visit(&GranuleRow { number, place, len, events, least, width, sum, bytes });
            }
        }
        Ok(())
    }
}

impl GranuleRow {
    /// Returns the end offset of the block's last event.
    pub(super) fn end(&self) -> u64 {
        self.place.saturating_add(self.len)
    }

    pub(super) fn times(&self) -> (i64, i64) {
        (self.least, self.least.saturating_add_unsigned(self.width))
    }

    /// Returns whether the block's time range overlaps `seen`.
    pub(super) fn touches(&self, seen: &Range<i64>) -> bool {
        let (least, greatest) = self.times();
        least < seen.end && greatest >= seen.start
    }
}

impl GranulesToRead {
    /// Adds an event after all other parts.
    pub(super) fn event(&mut self, Single { place, sum, bytes }: Single) {
        self.pieces.push(Piece::Event(place, bytes));
        self.sum.add(EventSum { events: 1, sum });
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Adds a block after all other parts, up to `end`; `text` is the length of the text.
    fn granule(&mut self, row: &GranuleRow, end: u64, text: u64) {
        self.push_range(row.place..end, row.number);
        self.bytes = self.bytes.saturating_add(end.min(text).saturating_sub(row.place));
        self.sum.add(EventSum { events: row.events, sum: row.sum as u32 });
    }

    /// Adds a range. Joins it with the previous range if the blocks are adjacent and small.
    fn push_range(&mut self, range: Range<u64>, row: u64) {
        let is_next = std::mem::replace(&mut self.row, row + 1) == row;
        match self.pieces.last_mut() {
            Some(Piece::Stretch(last)) if is_next && range.start.abs_diff(last.start) < STRETCH => {
                last.end = range.end;
            }
            _ => self.pieces.push(Piece::Stretch(range)),
        }
    }

    /// Returns whether the ranges are ascending and disjoint.
    pub(super) fn are_in_order(&self) -> bool {
        let mut end = 0;
        self.pieces.iter().all(|piece| {
            let range = match piece {
                Piece::Event(place, bytes) => *place..place.saturating_add(1.max(*bytes)),
                Piece::Stretch(range) => range.clone(),
            };
            let follows = end <= range.start && range.start < range.end;
            end = range.end;
            follows
        })
    }
}

/// Returns events from columns of offsets, lengths and checksums.
pub(super) fn singles([places, lens, sums]: &[Vec<u64>; 3]) -> impl Iterator<Item = Single> {
    let rows = places.iter().zip(lens).zip(sums);
    rows.map(|((&place, &bytes), &sum)| Single { place, sum: sum as u32, bytes })
}

/// Returns the pages that overlap `seen`. The keys of a page are a least and a greatest time.
fn pages_of<'s>(
    section: &'s SectionEntry,
    seen: &'s Range<i64>,
) -> impl Iterator<Item = &'s PageEntry> {
    section.pages.iter().filter(|entry| touches(entry, seen))
}

fn touches(entry: &PageEntry, seen: &Range<i64>) -> bool {
    (entry.first as i64) < seen.end && entry.last as i64 >= seen.start
}
