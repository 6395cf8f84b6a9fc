//! Counts and plans the events to read for drawing a window.
//!
//! In a packed trace, the frames with these events are unpacked into a sparse temporary file. The
//! unpacked size is limited; windows that would exceed the limit are not read.

use super::drawn_index::DrawnIndex;
use super::lookup::{GranuleRow, GranulesToRead, Lookup};
use super::ranges::IndexedInput;
use crate::format::{Index, IndexError, id, spans};
use crate::fresh::map;
use crate::pages::ROWS;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use tracemill_join::read_plan::ReadPlan;
use tracemill_tokenizer::Cursor;
use tracemill_trace::Limits;
use tracemill_trace::input::packed::unpack;
use tracemill_trace::read::pieces::Piece;
use tracemill_trace::run::error::{Error, ErrorKind};

/// Maximum bytes of text that are unpacked for a window.
const UNPACKED: u64 = 512 << 20;

/// The number of events for a window, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawnCount {
    /// Number of events in blocks that overlap the window: an upper bound for the events of the
    /// window.
    pub events: u64,
    /// Bytes of the events in blocks that overlap the window.
    pub bytes: u64,
    /// Number of events to read for an exact answer.
    pub read: u64,
    /// Bytes of the events to read for an exact answer.
    pub read_bytes: u64,
}

/// A block of events with a requested name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnStretch {
    /// Least and greatest time of the events in the block.
    pub times: (i64, i64),
    /// Rank and number of the block.
    pub key: (i64, u64),
}

impl DrawnIndex {
    /// Counts the events that overlap a window. Returns `None` if an exact answer needs more than
    /// `most` events.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn count(&self, from: i64, to: i64, most: u64) -> Result<Option<DrawnCount>, Error> {
        let (window, seen) = (from..to, self.seen(from, to));
        self.look_up(|lookup| {
            let section = lookup.index.section(id::GRANULES);
            let pages = section.iter().flat_map(|section| &section.pages);
            let within = pages
                .filter(|page| seen.start <= page.first as i64 && (page.last as i64) < seen.end);
            // all pages but the last have this many blocks
            if within.count().saturating_sub(1) as u64 * ROWS as u64 > most {
                return Ok(None);
            }
            let mut count = DrawnCount::default();
            lookup.each_granule(Some(&seen), |row| {
                if row.touches(&window) {
                    count.events += row.events;
                    count.bytes = count.bytes.saturating_add(row.bytes);
                }
                if row.touches(&seen) {
                    count.read += row.events;
                    count.read_bytes = count.read_bytes.saturating_add(row.bytes);
                }
            })?;
            Ok((count.read <= most).then_some(count))
        })
    }

    /// Returns the times of all events whose short slices may overlap a window.
    fn seen(&self, from: i64, to: i64) -> Range<i64> {
        let look = self.look_back();
        from.saturating_sub(look)..to.saturating_add(look)
    }

    /// Plans to read the events that overlap a window.
    ///
    /// The plan also has all short slices near the window, the values of counters at its start, and
    /// the far ends of flows. Returns `None` if too much of a packed trace must be unpacked.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn window_plan(&self, from: i64, to: i64) -> Result<Option<ReadPlan>, Error> {
        let seen = self.seen(from, to);
        self.plan(UNPACKED, |lookup| {
            let mut events = Vec::new();
            lookup.each_span(&seen, |span| {
                let is_near = seen.contains(&span.start) || seen.contains(&span.end);
                match span.kind {
                    spans::COUNTER if span.start <= from && span.end >= from => {
                        events.push(span.begin);
                    }
                    // for flows with steps the index has only the first and last event
                    spans::FLOW if span.flags & spans::STEPS == 0 && is_near => {
                        events.extend([span.begin, span.last]);
                    }
                    _ => {}
                }
            })?;
            lookup.chosen(&seen, |row| row.touches(&seen), events)
        })
    }

    /// Plans to read the events that every window needs: metadata, and events that viewers require.
    ///
    /// Also returns the offsets of these events. Returns `None` if most of a packed trace must be
    /// unpacked.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn special_plan(&self) -> Result<Option<(ReadPlan, Vec<u64>)>, Error> {
        let mut places = Vec::new();
        let plan = self.plan(UNPACKED.max(self.input.report.bytes / 2), |lookup| {
            let events = lookup.listed()?;
            places = events.iter().map(|event| event.place).collect();
            lookup.chosen(&(i64::MIN..i64::MIN), |_| false, events)
        })?;
        Ok(plan.map(|plan| (plan, places)))
    }

    /// Returns up to `most` blocks that have events with a wanted name, by ascending rank.
    ///
    /// `rank` computes the rank of a block from its time range. Blocks for which it returns `None`,
    /// or a rank up to `beyond`, are skipped. If the index has no names, every block counts as a
    /// match.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn stretches_of(
        &self,
        is_wanted: impl Fn(u32) -> bool,
        rank: impl Fn((i64, i64)) -> Option<i64>,
        beyond: Option<(i64, u64)>,
        most: usize,
    ) -> Result<Vec<DrawnStretch>, Error> {
        let mut first = BinaryHeap::new();
        self.look_up(|lookup| {
            let named = blocks_with_names(lookup.index, &is_wanted)?;
            let has_name = |number: u64| {
                let word = |bits: &Vec<u64>| bits.get((number / 64) as usize).copied().unwrap_or(0);
                named.as_ref().is_none_or(|bits| word(bits) >> (number % 64) & 1 == 1)
            };
            lookup.each_granule(None, |row| {
                let times = row.times();
                let Some(ranked) = rank(times).filter(|_| row.touches(&(i64::MIN..i64::MAX)))
                else {
                    return;
                };
                let key = (ranked, row.number);
                if beyond.is_none_or(|beyond| key > beyond) && has_name(row.number) {
                    first.push((key, times));
                    if first.len() > most {
                        first.pop();
                    }
                }
            })
        })?;
        let sorted = first.into_sorted_vec().into_iter();
        Ok(sorted.map(|(key, times)| DrawnStretch { times, key }).collect())
    }

    /// Returns up to `most` blocks before the offset `place`, and up to `most` blocks after it.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn stretches_around(&self, place: u64, most: u64) -> Result<Vec<DrawnStretch>, Error> {
        self.look_up(|lookup| {
            let (mut before, mut near) = (VecDeque::new(), Vec::new());
            let mut behind = 0;
            lookup.each_granule(None, |row| {
                let range = DrawnStretch { times: row.times(), key: (0, row.number) };
                if !row.touches(&(i64::MIN..i64::MAX)) {
                    return;
                }
                if row.place < place {
                    before.push_back(range);
                    if before.len() as u64 > most {
                        before.pop_front();
                    }
                } else if behind < most {
                    behind += 1;
                    near.push(range);
                }
            })?;
            near.extend(before);
            Ok(near)
        })
    }

    /// Plans to read the events of blocks. Returns `None` if too much of a packed trace must be
    /// unpacked.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn stretches_plan(&self, ranges: &[DrawnStretch]) -> Result<Option<ReadPlan>, Error> {
        let mut rows: Vec<u64> = ranges.iter().map(|range| range.key.1).collect();
        rows.sort_unstable();
        let is_one = |row: &GranuleRow| rows.binary_search(&row.number).is_ok();
        let times = ranges.iter().map(|range| range.times);
        let times = times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default();
        let seen = times.0..times.1.saturating_add(1);
        self.plan(UNPACKED, |lookup| lookup.chosen(&seen, is_one, Vec::new()))
    }

    /// Returns an event and its length, like
    /// [`InputSet::event_at`](tracemill_join::input_set::InputSet::event_at). For a packed trace:
    /// unpacks the frames with the event.
    ///
    /// # Errors
    /// Returns [`ErrorKind::OnePiece`] if too much must be unpacked, and an error if the index is
    /// damaged or does not match the trace, or a temporary file cannot be written.
    pub fn event_at(
        &self,
        place: u64,
        most: usize,
        limits: &Limits,
    ) -> Result<Option<(Vec<u8>, u64)>, Error> {
        /// Numbers of bytes to search for the end of an event, one after the other. The first
        /// number nearly always suffices.
        const ENDS: [u64; 2] = [64 << 10, 64 << 20];
        let IndexedInput { source, file, report, .. } = &self.input;
        let path = &file.trace;
        let mapped = map(path).map_err(|e| Error::read(path.display(), e))?;
        let mapped = Arc::new(mapped.ok_or_else(|| file.changed())?);
        for len in ENDS {
            let end = place.saturating_add(len).min(report.bytes);
            if place >= end {
                return Ok(None);
            }
            let mut blocks = GranulesToRead::default();
            blocks.pieces.push(Piece::Stretch(place..end));
            let plan = self.plan(UNPACKED, |_| Ok(blocks))?;
            let unpacking = plan.and_then(|plan| plan.ranges.unpacked);
            let unpacking = unpacking.ok_or_else(|| self.one_piece())?;
            let text = unpack(&source.to_string(), &mapped, &unpacking, limits)?;
            let event = text.get(place as usize..end as usize).unwrap_or_default();
            if event.first() != Some(&b'{') {
                return Ok(None);
            }
            let size = Cursor::new(event).value().len();
            if size < event.len() || len == ENDS[1] || end == report.bytes {
                return Ok(Some((event[..size.min(most)].to_vec(), size as u64)));
            }
        }
        Ok(None)
    }

    /// Returns the error for events that cannot be read from a packed trace.
    pub fn one_piece(&self) -> Error {
        ErrorKind::OnePiece { input: self.input.source.to_string(), most: UNPACKED }.into()
    }

    /// Plans to read some blocks. Returns `None` if more than `most` bytes must be unpacked.
    fn plan(
        &self,
        most: u64,
        choose: impl FnOnce(&Lookup<'_, '_>) -> Result<GranulesToRead, IndexError>,
    ) -> Result<Option<ReadPlan>, Error> {
        let plan = self.look_up(|lookup| Ok(self.input.plan(lookup, choose(lookup)?)))?;
        let plan = plan.map_err(|problem| self.input.file.refused(problem.to_owned()))?;
        Ok(Some(plan).filter(|plan| plan.unpacked() <= most))
    }
}

/// Returns a bit for each block: whether it has a wanted name. Returns `None` if the index has no
/// names.
fn blocks_with_names(
    index: &Index<'_>,
    is_wanted: impl Fn(u32) -> bool,
) -> Result<Option<Vec<u64>>, IndexError> {
    let sections = [id::GRANULES, id::GRANULE_NAMES].map(|id| index.section(id));
    let [Some(blocks), Some(names)] = sections else { return Ok(None) };
    let mut bits = vec![0_u64; blocks.pages.len() * ROWS.div_ceil(64)];
    for entry in &names.pages {
        let [rows, names] = index.page(entry)?.columns()?;
        let all = rows.into_iter().zip(names);
        for (row, _) in all.filter(|(_, name)| u32::try_from(*name).is_ok_and(&is_wanted)) {
            let word = usize::try_from(row / 64).ok().and_then(|at| bits.get_mut(at));
            word.into_iter().for_each(|word| *word |= 1 << (row % 64));
        }
    }
    Ok(Some(bits))
}
