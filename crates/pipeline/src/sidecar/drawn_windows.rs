//! Windows of a trace for who draws it: how many events they have, and which are read for them.
//!
//! Of a packed trace the stretches that hold these are unpacked, into a file of holes that is forgotten with what was read of it. So what is
//! unpacked at a time is bounded, and windows for which it would be too much are not read.

use super::drawing::DrawnIndex;
use super::fresh::map;
use super::lookup::{Granules, Row};
use super::plan::text_of;
use crate::config::Config;
use crate::input_set::InputSet;
use crate::pieces::Pieces;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use tracemill_core::error::{Error, ErrorKind};
use tracemill_core::observe::Observer;
use tracemill_core::packed::{Unpacking, unpack};
use tracemill_core::pieces::{Chosen, Piece};
use tracemill_index::{Index, IndexError, PageEntry, id, spans};
use tracemill_tokenizer::Cursor;

/// Granules of a page of GRANULES: each has an event at least.
const GRANULES: u64 = super::pages::ROWS as u64;
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
            if within.count().saturating_sub(1) as u64 * GRANULES > most {
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

    /// Reads the events that touch a window, and some beside it: all that are short, of counters the values at its begin, and of flows the
    /// points far away. Nothing if too much of a packed trace had to be unpacked for it.
    ///
    /// # Errors
    /// The index is damaged or none of the trace, and those of [`InputSet::read`].
    pub fn read_window<O: Observer>(
        &self,
        (from, to): (i64, i64),
        config: &Config,
        observer: O,
    ) -> Result<Option<InputSet>, Error> {
        let seen = self.seen(from, to);
        let granules = self.asked(|lookup| {
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
        })?;
        self.read(granules, UNPACKED, config, observer)
    }

    /// Reads the events that count wherever they stand: metadata, and what viewers need. Gives their places too. Nothing if most of a packed
    /// trace had to be unpacked for it.
    ///
    /// # Errors
    /// As [`DrawnIndex::read_window`].
    pub fn read_special<O: Observer>(
        &self,
        config: &Config,
        observer: O,
    ) -> Result<Option<(InputSet, Vec<u64>)>, Error> {
        let (granules, places) = self.asked(|lookup| {
            let events = lookup.listed()?;
            let places = events.iter().map(|event| event.place).collect();
            let nothing = i64::MIN..i64::MIN;
            Ok((lookup.chosen(&nothing, |_| false, events)?, places))
        })?;
        let most = UNPACKED.max(self.report.bytes / 2);
        let scanned = self.read(granules, most, config, observer)?;
        Ok(scanned.map(|scanned| (scanned, places)))
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
        (beyond, most): (Option<(i64, u64)>, usize),
    ) -> Result<Vec<DrawnStretch>, Error> {
        let mut first = BinaryHeap::new();
        self.asked(|lookup| {
            let mut named = Named::of(lookup.index, &is_wanted);
            lookup.each_granule(None, |row| {
                let times = row.times();
                let Some(own) = rank(times).filter(|_| row.touches(&(i64::MIN..i64::MAX))) else {
                    return;
                };
                let key = (own, row.number);
                if beyond.is_none_or(|beyond| key > beyond) && named.has(row.number) {
                    first.push((key, times));
                    if first.len() > most {
                        first.pop();
                    }
                }
            })?;
            named.said
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

    /// Reads the events of stretches of the text; nothing if too much of a packed trace had to be unpacked for it.
    ///
    /// # Errors
    /// As [`DrawnIndex::read_window`].
    pub fn read_stretches<O: Observer>(
        &self,
        stretches: &[DrawnStretch],
        config: &Config,
        observer: O,
    ) -> Result<Option<InputSet>, Error> {
        let mut rows: Vec<u64> = stretches.iter().map(|own| own.key.1).collect();
        rows.sort_unstable();
        let is_one = |row: &Row| rows.binary_search(&row.number).is_ok();
        let times = stretches.iter().map(|own| own.times);
        let times = times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default();
        let seen = times.0..times.1.saturating_add(1);
        let granules = self.asked(|lookup| lookup.chosen(&seen, is_one, Vec::new()))?;
        self.read(granules, UNPACKED, config, observer)
    }

    /// As [`InputSet::event_at`], of an event of a packed trace, wherever it stands. Cost: the stretch that holds it is unpacked.
    ///
    /// # Errors
    /// [`ErrorKind::OnePiece`] if too much had to be unpacked; the index is damaged or none of the trace; the folder of temporary files has no room.
    pub fn event_at(
        &self,
        place: u64,
        most: usize,
        config: &Config,
    ) -> Result<Option<(Vec<u8>, u64)>, Error> {
        /// Bytes that are looked at to find the end of an event: nearly all end within the first of these.
        const ENDS: [u64; 2] = [64 << 10, 64 << 20];
        let path = &self.candidate.trace;
        let file = map(path).map_err(|e| Error::read(path.display(), e))?;
        let file = Arc::new(file.ok_or_else(|| self.candidate.changed())?);
        for len in ENDS {
            let end = place.saturating_add(len).min(self.report.bytes);
            if place >= end {
                return Ok(None);
            }
            let unpacking = self.unpacking(&[Piece::Stretch(place..end)], UNPACKED)?;
            let unpacking = unpacking.ok_or_else(|| self.one_piece())?;
            let text = unpack(&self.source.to_string(), &file, &unpacking, config)?;
            let event = text.get(place as usize..end as usize).unwrap_or_default();
            if event.first() != Some(&b'{') {
                return Ok(None);
            }
            let own = Cursor::new(event).value().len();
            if own < event.len() || len == ENDS[1] || end == self.report.bytes {
                return Ok(Some((event[..own.min(most)].to_vec(), own as u64)));
            }
        }
        Ok(None)
    }

    /// Why what lies in a packed trace cannot be read.
    pub fn one_piece(&self) -> Error {
        ErrorKind::OnePiece { input: self.source.to_string(), most: UNPACKED }.into()
    }

    /// What is to be unpacked for pieces; nothing if that has too many bytes.
    fn unpacking(&self, pieces: &[Piece], most: u64) -> Result<Option<Unpacking>, Error> {
        self.asked(|lookup| {
            let Some(packed) = &lookup.packed else { return Ok(None) };
            let unpacking = packed.unpacking(pieces, self.report.bytes);
            Ok((text_of(&unpacking) <= most).then_some(unpacking))
        })
    }

    fn read<O: Observer>(
        &self,
        granules: Granules,
        most: u64,
        config: &Config,
        observer: O,
    ) -> Result<Option<InputSet>, Error> {
        if !granules.are_in_order() {
            return Err(self.candidate.refused("its places are not in order".to_owned()));
        }
        let Granules { pieces, read, .. } = granules;
        let unpacked = match self.is_packed() {
            false => None,
            true => match self.unpacking(&pieces, most)? {
                None => return Ok(None),
                unpacked => unpacked,
            },
        };
        let chosen = Chosen { pieces, unpacked };
        let pieces = Pieces { chosen, read, report: self.report.clone() };
        let scanned = InputSet::read_pieces(&self.source, &pieces, config, observer)?;
        self.check_unchanged()?;
        scanned.map_or_else(|| Err(self.candidate.changed()), |scanned| Ok(Some(scanned)))
    }
}

/// Granules that have names, as they are asked for in ascending order.
struct Named<'l, 'b, F> {
    index: &'l Index<'b>,
    is_wanted: F,
    /// None if there is no such section: then each may have any.
    pages: Option<std::slice::Iter<'l, PageEntry>>,
    /// Those of the page at hand that have one, the last first.
    rows: Vec<u64>,
    said: Result<(), IndexError>,
}

impl<'l, 'b, F: Fn(u32) -> bool> Named<'l, 'b, F> {
    fn of(index: &'l Index<'b>, is_wanted: F) -> Self {
        let pages = index.section(id::GRANULE_NAMES).map(|section| section.pages.iter());
        Named { index, is_wanted, pages, rows: Vec::new(), said: Ok(()) }
    }

    fn page(&self, entry: &PageEntry) -> Result<Vec<u64>, IndexError> {
        let page = self.index.page(entry)?;
        let [rows, names] = page.columns()?;
        let all = rows.into_iter().zip(names).rev();
        let own = all.filter(|(_, name)| u32::try_from(*name).is_ok_and(&self.is_wanted));
        Ok(own.map(|(row, _)| row).collect())
    }

    /// Whether a granule has one.
    fn has(&mut self, number: u64) -> bool {
        if self.pages.is_none() {
            return true;
        }
        loop {
            while self.rows.pop_if(|row| *row < number).is_some() {}
            if let Some(row) = self.rows.last() {
                return *row == number;
            }
            let pages = self.pages.iter_mut().flatten();
            let Some(entry) = pages.take(1).find(|entry| entry.last >= number) else {
                if self.pages.as_ref().is_none_or(|pages| pages.as_slice().is_empty()) {
                    return false;
                }
                continue;
            };
            match self.page(entry) {
                Ok(rows) => self.rows = rows,
                Err(error) => {
                    (self.said, self.pages) = (Err(error), Some([].iter()));
                    return false;
                }
            }
        }
    }
}
