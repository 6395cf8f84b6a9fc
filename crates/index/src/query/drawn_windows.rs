//! Windows of a trace for who draws it: how many events they have, and which are read for them.
//!
//! Of a packed trace the stretches that hold these are unpacked, into a file of holes that is forgotten with what was read of it. So what is
//! unpacked at a time is bounded, and windows for which it would be too much are not read.

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

/// Text that is unpacked for a window at most.
const UNPACKED: u64 = 512 << 20;

/// Events that touch a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawnCount {
    /// Those of stretches of the text that touch it: no fewer than there are.
    pub events: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Events that are read to know them to the last.
    pub read: u64,
    /// Bytes of those.
    pub read_bytes: u64,
}

/// A stretch of the text with events of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnStretch {
    /// Times of its events.
    pub times: (i64, i64),
    /// Its rank, and its number.
    pub key: (i64, u64),
}

impl DrawnIndex {
    /// Events that touch a window; `None` if more than `most` have to be read to know them.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn count(&self, from: i64, to: i64, most: u64) -> Result<Option<DrawnCount>, Error> {
        let (own, seen) = (from..to, self.seen(from, to));
        self.asked(|lookup| {
            let section = lookup.index.section(id::GRANULES);
            let pages = section.iter().flat_map(|section| &section.pages);
            let within = pages
                .filter(|page| seen.start <= page.first as i64 && (page.last as i64) < seen.end);
            // all pages but the last have so many granules
            if within.count().saturating_sub(1) as u64 * ROWS as u64 > most {
                return Ok(None);
            }
            let mut count = DrawnCount::default();
            lookup.each_granule(Some(&seen), |row| {
                if row.touches(&own) {
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

    /// Times at which what is short may touch a window.
    fn seen(&self, from: i64, to: i64) -> Range<i64> {
        let look = self.look_back();
        from.saturating_sub(look)..to.saturating_add(look)
    }

    /// Plans to read the events that touch a window, and some outside of it: all short ones, of counters
    /// the values at its begin, and of flows the points far away. Returns `None` if too much of a packed trace
    /// had to be unpacked.
    ///
    /// # Errors
    /// The index is damaged.
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
                    // of those with steps the index knows only the first point and the last
                    spans::FLOW if span.flags & spans::STEPS == 0 && is_near => {
                        events.extend([span.begin, span.last]);
                    }
                    _ => {}
                }
            })?;
            lookup.chosen(&seen, |row| row.touches(&seen), events)
        })
    }

    /// Plans to read the events that count whatever their time is: metadata, and what viewers need. Returns
    /// their places too; `None` if most of a packed trace had to be unpacked.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn special_plan(&self) -> Result<Option<(ReadPlan, Vec<u64>)>, Error> {
        let mut places = Vec::new();
        let plan = self.plan(UNPACKED.max(self.input.report.bytes / 2), |lookup| {
            let events = lookup.listed()?;
            places = events.iter().map(|event| event.place).collect();
            lookup.chosen(&(i64::MIN..i64::MIN), |_| false, events)
        })?;
        Ok(plan.map(|plan| (plan, places)))
    }

    /// Stretches of the text with events of names that are wanted, at most so many: those with the least `rank`, a number of their times, in
    /// order of that. Stretches without a rank are not wanted. If the index does not say which names are where, all are looked at.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn stretches_of(
        &self,
        is_wanted: impl Fn(u32) -> bool,
        rank: impl Fn((i64, i64)) -> Option<i64>,
        beyond: Option<(i64, u64)>,
        most: usize,
    ) -> Result<Vec<DrawnStretch>, Error> {
        let mut first = BinaryHeap::new();
        self.asked(|lookup| {
            let named = blocks_with_names(lookup.index, &is_wanted)?;
            let has_name = |number: u64| {
                let word = |bits: &Vec<u64>| bits.get((number / 64) as usize).copied().unwrap_or(0);
                named.as_ref().is_none_or(|bits| word(bits) >> (number % 64) & 1 == 1)
            };
            lookup.each_granule(None, |row| {
                let times = row.times();
                let Some(own) = rank(times).filter(|_| row.touches(&(i64::MIN..i64::MAX))) else {
                    return;
                };
                let key = (own, row.number);
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

    /// Stretches of the text around a place: so many before it, and behind.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn stretches_around(&self, place: u64, most: u64) -> Result<Vec<DrawnStretch>, Error> {
        self.asked(|lookup| {
            let (mut before, mut near) = (VecDeque::new(), Vec::new());
            let mut behind = 0;
            lookup.each_granule(None, |row| {
                let own = DrawnStretch { times: row.times(), key: (0, row.number) };
                if !row.touches(&(i64::MIN..i64::MAX)) {
                    return;
                }
                if row.place < place {
                    before.push_back(own);
                    if before.len() as u64 > most {
                        before.pop_front();
                    }
                } else if behind < most {
                    behind += 1;
                    near.push(own);
                }
            })?;
            near.extend(before);
            Ok(near)
        })
    }

    /// Plans to read the events of stretches of the text. Returns `None` if too much of a packed trace had to be
    /// unpacked.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn stretches_plan(&self, stretches: &[DrawnStretch]) -> Result<Option<ReadPlan>, Error> {
        let mut rows: Vec<u64> = stretches.iter().map(|own| own.key.1).collect();
        rows.sort_unstable();
        let is_one = |row: &GranuleRow| rows.binary_search(&row.number).is_ok();
        let times = stretches.iter().map(|own| own.times);
        let times = times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default();
        let seen = times.0..times.1.saturating_add(1);
        self.plan(UNPACKED, |lookup| lookup.chosen(&seen, is_one, Vec::new()))
    }

    /// As [`InputSet::event_at`](tracemill_join::input_set::InputSet::event_at), of an event of a packed trace, wherever it stands. Cost: the stretch that holds it is unpacked.
    ///
    /// # Errors
    /// [`ErrorKind::OnePiece`] if too much had to be unpacked; the index is damaged or none of the trace; the folder of temporary files has no room.
    pub fn event_at(
        &self,
        place: u64,
        most: usize,
        limits: &Limits,
    ) -> Result<Option<(Vec<u8>, u64)>, Error> {
        /// Bytes that are looked at to find the end of an event: nearly all end within the first of these.
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
            let own = Cursor::new(event).value().len();
            if own < event.len() || len == ENDS[1] || end == report.bytes {
                return Ok(Some((event[..own.min(most)].to_vec(), own as u64)));
            }
        }
        Ok(None)
    }

    /// Why what lies in a packed trace cannot be read.
    pub fn one_piece(&self) -> Error {
        ErrorKind::OnePiece { input: self.input.source.to_string(), most: UNPACKED }.into()
    }

    /// Plans to read some blocks; `None` if more than `most` bytes had to be unpacked.
    fn plan(
        &self,
        most: u64,
        choose: impl FnOnce(&Lookup<'_, '_>) -> Result<GranulesToRead, IndexError>,
    ) -> Result<Option<ReadPlan>, Error> {
        let plan = self.asked(|lookup| Ok(self.input.plan(lookup, choose(lookup)?)))?;
        let plan = plan.map_err(|problem| self.input.file.refused(problem.to_owned()))?;
        Ok(Some(plan).filter(|plan| plan.unpacked() <= most))
    }
}

/// Returns a bit for each block that has a wanted name; `None` if the index does not say which names are where.
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
