//! Queries an index for drawing a trace: tracks, names, long slices, bins, and the events of a
//! window.
//!
//! ```text
//!   whole trace    LANES, NAMES: tracks     SPANS: long slices     BINS: all others, approximately
//!   window a b     GRANULES that overlap [a − T, b + T]: short slices, exactly     SPANS: as above
//! ```
//!
//! T is the *look-back*: longer slices are in SPANS.
//!
//! All bytes that are read must match the checksums of the index. Otherwise the index belongs to
//! another trace.

use super::index_file::{index_file_of, map_index};
use super::lookup::Lookup;
use super::ranges::IndexedInput;
use crate::build::make_or_hold;
use crate::drawing::{LaneKey, LaneKind, Seen};
use crate::format::bins::NO_NAME;
use crate::format::{Index, IndexError, Page, id, spans};
use crate::meta::DrawnMeta;
use crate::packed::FileToIndex;
use std::sync::Arc;
use tracemill_join::config::Config;
use tracemill_join::read_plan::{IndexFile, Stop, Unused};
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::Mapped;
use tracemill_trace::input::source::Source;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::time::bounds::Bounds;

/// Whether a trace can be drawn by an index.
pub enum DrawnState {
    /// The index is valid and open.
    Ready(Box<DrawnIndex>),
    /// There is no valid index, but one can be built.
    Missing,
    /// An index cannot be used, for this reason.
    Cannot(Unused),
}

/// A slice longer than the look-back T, or without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnSpan {
    /// Index of the track.
    pub lane: u32,
    /// Index of the name; `None` if the index file had no room for the name.
    pub name: Option<u32>,
    /// Start in nanoseconds.
    pub start: i64,
    /// Duration in nanoseconds; `None` if the slice has no end.
    pub dur: Option<i64>,
    /// Offset of the event, or of the begin event.
    pub place: u64,
    /// Offset of the end event, or of the begin event if there is no end event.
    pub last: u64,
    /// Number of the colour, see [`COLORS`](crate::drawing::COLORS); 0 if there is none.
    pub color: u8,
}

/// The sums over the slices of a track that begin in a time interval and are at most as long as the
/// look-back T.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnBin {
    /// Index of the track.
    pub lane: u32,
    /// Start of the interval in nanoseconds.
    pub start: i64,
    /// Number of slices and instants, or of counter samples.
    pub count: u64,
    /// Total duration in nanoseconds; for counters the bits of the least value.
    pub busy: i64,
    /// Longest duration in nanoseconds, even above T; for counters the bits of the greatest value.
    pub longest: i64,
    /// Name of the longest slice, if the index has it.
    pub name: Option<u32>,
}

/// A name, and sums over its slices and instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnName<'t> {
    /// Name as displayed, cut if long.
    pub text: &'t [u8],
    /// Number of slices and instants.
    pub count: u64,
    /// Total duration in nanoseconds.
    pub total: i64,
    /// Longest duration in nanoseconds.
    pub longest: i64,
}

/// An open index that matches its trace.
pub struct DrawnIndex {
    pub(super) input: IndexedInput,
    bytes: Mapped,
    bounds: Bounds,
    drawn: DrawnMeta,
}

impl DrawnIndex {
    /// Opens the index of a file, according to [`Config::index`].
    ///
    /// Cost: reading 64 samples of the file, and some pages of the index.
    ///
    /// # Errors
    /// Returns [`tracemill_trace::ErrorKind::NotATrace`] if a named index does not belong to the
    /// file.
    pub fn open(source: &Source, config: &Config) -> Result<DrawnState, Error> {
        let Some(file) = index_file_of(std::slice::from_ref(source), config)? else {
            return Ok(DrawnState::Cannot(Unused::Packed));
        };
        if config.limits.strict {
            return Ok(DrawnState::Cannot(Unused::Strict));
        }
        let opened = map_index(&file).and_then(|bytes| Self::of(source, &file, bytes));
        match opened {
            Err(Stop::Wrong(problem)) if file.is_named => Err(file.refused(problem)),
            opened => Ok(Self::state(opened)),
        }
    }

    fn state(opened: Result<Self, Stop>) -> DrawnState {
        match opened {
            Ok(index) => DrawnState::Ready(Box::new(index)),
            Err(Stop::Cannot(why)) if why != Unused::Copied => DrawnState::Cannot(why),
            Err(_) => DrawnState::Missing,
        }
    }

    fn of(source: &Source, file: &IndexFile, bytes: Mapped) -> Result<Self, Stop> {
        let (index, mut input) = IndexedInput::open(source, file, &bytes)?;
        let (bounds, drawn) = (input.windows.known_bounds()?, input.drawn.ok_or(Unused::NoRoom)?);
        if drawn.level > 63 {
            return Err("its bins are impossible".into());
        }
        let has = |id| index.section(id).is_some();
        if input.lookup(&index)?.is_none() || ![id::NAMES, id::LANES, id::BINS].into_iter().all(has)
        {
            return Err(Unused::NoRoom.into());
        }
        input.report.span = Some((bounds.first, bounds.last));
        Ok(DrawnIndex { input, bytes, bounds, drawn })
    }

    /// Returns the approximate bytes of text of a file, if an index could locate parts of the text.
    ///
    /// Cost: for a packed file, reading the head of each frame.
    pub fn may_be_made(source: &Source) -> Option<u64> {
        let file = crate::fresh::map(source.path()).ok().flatten()?;
        let bytes = file.len() as u64;
        FileToIndex::of(file).may_be_entered(bytes)
    }

    /// Builds the index of a file and opens it; `seen` receives progress.
    ///
    /// If the index cannot be written next to the file (full disk, read-only folder, another file
    /// of that name), the index is temporary, and a warning is returned.
    ///
    /// # Errors
    /// Returns the errors of `index()`, and [`tracemill_trace::ErrorKind::Scratch`] if a temporary
    /// file cannot be written either.
    pub fn make(
        source: &Source,
        seen: &Arc<Seen>,
        config: &Config,
    ) -> Result<(DrawnState, Option<Warning>), Error> {
        let Some((bytes, error)) = make_or_hold(source, seen, config)? else {
            return Ok((Self::open(source, config)?, None));
        };
        let Some(file) = index_file_of(std::slice::from_ref(source), config)? else {
            return Ok((DrawnState::Missing, None));
        };
        let state = Self::state(Self::of(source, &file, bytes));
        let (trace, why) = (source.to_string(), error.to_string());
        Ok((state, Some(Warning::IndexNotKept { trace, why })))
    }

    /// Returns the source of the trace.
    pub fn source(&self) -> &Source {
        &self.input.source
    }

    /// Returns whether the trace is packed, so that only unpacked parts of its text can be read.
    pub fn is_packed(&self) -> bool {
        self.input.report.encoding.is_some()
    }

    /// Returns the time bounds of the trace.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Returns the report on the trace, with losses.
    pub fn report(&self) -> &InputReport {
        &self.input.report
    }

    /// Returns the duration in nanoseconds above which slices are in [`DrawnIndex::spans`].
    pub fn look_back(&self) -> i64 {
        self.input.windows.look_back()
    }

    /// Returns whether a slice of this duration, in nanoseconds, is in [`DrawnIndex::spans`].
    pub fn is_long(&self, dur: i64) -> bool {
        crate::meta::level(dur.unsigned_abs()) > self.input.windows.level
    }

    /// Returns the width of a bin in nanoseconds.
    pub fn bin_width(&self) -> i64 {
        1_i64.checked_shl(self.drawn.level).filter(|width| *width > 0).unwrap_or(i64::MAX)
    }

    /// Returns whether the trace has CPU profiles.
    pub fn has_profiles(&self) -> bool {
        self.input.windows.has_profiles
    }

    /// Returns whether an end event closes only a begin event with the same name.
    pub fn only_by_name(&self) -> bool {
        self.input.windows.has_crossings
    }

    /// Runs a query over the sections of the index.
    pub(super) fn look_up<T>(
        &self,
        ask: impl FnOnce(&Lookup<'_, '_>) -> Result<T, IndexError>,
    ) -> Result<T, Error> {
        let answer = || {
            let index = Index::open(&self.bytes)?;
            let lookup = self.input.lookup(&index)?;
            lookup.as_ref().map(ask).transpose()
        };
        let problem = match answer() {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => "it has no lists of events".to_owned(),
            Err(problem) => problem.to_string(),
        };
        Err(self.input.file.refused(problem))
    }

    fn pages(
        &self,
        id: u16,
        mut visit: impl FnMut(&Page) -> Result<(), IndexError>,
    ) -> Result<(), Error> {
        self.look_up(|lookup| {
            let section = lookup.index.section(id);
            let mut pages = section.iter().flat_map(|section| &section.pages);
            pages.try_for_each(|entry| visit(&lookup.index.page(entry)?))
        })
    }

    /// Returns all tracks by number, threads first.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn lanes(&self) -> Result<Vec<LaneKey>, Error> {
        let mut all = Vec::new();
        self.pages(id::LANES, |page| {
            let lens = [page.numbers(1)?, page.numbers(2)?];
            add_lanes(&page.numbers(0)?, &lens, page.bytes(3)?, &mut all);
            Ok(())
        })?;
        Ok(all)
    }

    /// Calls `visit` with every name of an event, in ascending order of its number.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn names(&self, mut visit: impl FnMut(DrawnName<'_>)) -> Result<(), Error> {
        self.pages(id::NAMES, |page| {
            let [counts, totals, longest, lens] = page.columns()?;
            let mut rest = page.bytes(4)?;
            for row in 0..page.rows() {
                let (text, behind) = rest.split_at(within(lens[row], rest));
                rest = behind;
                let count = counts[row].min(self.input.report.events);
                let (total, longest) = (totals[row] as i64, longest[row] as i64);
                visit(DrawnName { text, count, total, longest });
            }
            Ok(())
        })
    }

    /// Passes long slices to `visit`, by thread and start. If a window is given, passes only slices
    /// that overlap the window or end at its start.
    ///
    /// # Errors
    /// Returns an error if the index is damaged, and the errors of `visit`.
    pub fn spans(
        &self,
        seen: Option<(i64, i64)>,
        mut visit: impl FnMut(DrawnSpan) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let threads = u64::from(self.drawn.threads);
        let mut visited = Ok(());
        let (from, to) = seen.unwrap_or((i64::MIN, i64::MAX));
        self.look_up(|lookup| {
            lookup.each_span(&(from..to), |row| {
                let lane = match row.kind {
                    spans::COMPLETE | spans::PAIR => row.thread,
                    spans::ASYNC | spans::LEGACY => threads.saturating_add(row.track),
                    _ => return,
                };
                let is_open = row.flags & spans::OPEN != 0;
                let span = DrawnSpan {
                    lane: lane as u32,
                    name: name_of(row.name),
                    start: row.start,
                    dur: (!is_open).then(|| row.end.saturating_sub(row.start)),
                    place: row.begin.place,
                    last: row.last.place,
                    color: spans::color(row.flags),
                };
                if visited.is_ok() {
                    visited = visit(span);
                }
            })
        })?;
        visited
    }

    /// Passes all bins to `visit`, by track and time.
    ///
    /// # Errors
    /// Returns an error if the index is damaged.
    pub fn bins(&self, mut visit: impl FnMut(DrawnBin)) -> Result<(), Error> {
        self.pages(id::BINS, |page| {
            let [lanes, numbers, counts, busy, longest, names] = page.columns()?;
            for row in 0..page.rows() {
                let start = (numbers[row] as i64).checked_shl(self.drawn.level).unwrap_or_default();
                visit(DrawnBin {
                    lane: lanes[row] as u32,
                    start,
                    count: counts[row].min(self.input.report.events),
                    busy: busy[row] as i64,
                    longest: longest[row] as i64,
                    name: name_of(names[row]),
                });
            }
            Ok(())
        })
    }

    /// Checks that the trace has not changed.
    ///
    /// # Errors
    /// Returns [`tracemill_trace::ErrorKind::Changed`] if it has.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        self.input.file.check_unchanged()
    }
}

fn name_of(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| *number != NO_NAME)
}

/// Limits a length to the length of `bytes`.
fn within(len: u64, bytes: &[u8]) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX).min(bytes.len())
}

fn add_lanes(kinds: &[u64], lens: &[Vec<u64>; 2], mut text: &[u8], all: &mut Vec<LaneKey>) {
    for (row, kind) in kinds.iter().enumerate() {
        let [pid, track] = [0, 1].map(|part: usize| {
            let (name, rest) = text.split_at(within(lens[part][row], text));
            text = rest;
            name.into()
        });
        let kind = LaneKind::OF_EVENTS.get(*kind as usize).copied().unwrap_or(LaneKind::Thread);
        all.push(LaneKey { kind, pid, track, input: 0 });
    }
}
