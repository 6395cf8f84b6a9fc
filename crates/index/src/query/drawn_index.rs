//! What an index says for who draws a trace: lanes and names, what is long by itself, sums of the rest, and which events a window needs.
//!
//! ```text
//!   whole trace    LANES, NAMES ─ what there is      SPANS ─ what is long      BINS ─ all else, about
//!   window a b     GRANULES that touch [a − T, b + T] ─ all that is short, to the last      SPANS ─ what is long, as above
//! ```
//!
//! What was read must have the checksums of the index, which else is none of the trace.

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

/// Whether an index can be drawn from.
pub enum DrawnState {
    /// It can.
    Ready(Box<DrawnIndex>),
    /// There is none, or none of the trace as it is; one can be made.
    Missing,
    /// None can, for this reason.
    Cannot(Unused),
}

/// An interval longer than T, or without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnSpan {
    /// Its lane.
    pub lane: u32,
    /// The number of its name; `None` if the index had no room for that.
    pub name: Option<u32>,
    /// In nanoseconds.
    pub start: i64,
    /// In nanoseconds; `None` if it never ends.
    pub dur: Option<i64>,
    /// Where its event stands, or that which begins it.
    pub place: u64,
    /// Where the event stands that ends it; that of the begin if there is none.
    pub last: u64,
}

/// What begins in a stretch of time of a lane and is shorter than T.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnBin {
    /// The lane.
    pub lane: u32,
    /// When the stretch begins, in nanoseconds.
    pub start: i64,
    /// Intervals and moments, or samples.
    pub count: u64,
    /// Nanoseconds of all; of samples the bits of the least value.
    pub busy: i64,
    /// Nanoseconds of the longest, which may be one of those longer than T; of samples the bits of the greatest value.
    pub longest: i64,
    /// The name of the longest, if it is known and short.
    pub name: Option<u32>,
}

/// A name, and what is known of its intervals and moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnName<'t> {
    /// As it is shown.
    pub text: &'t [u8],
    /// How many there are.
    pub count: u64,
    /// Nanoseconds of all, and of the longest.
    pub total: i64,
    /// Of the longest.
    pub longest: i64,
}

/// An index that is that of its trace, opened.
pub struct DrawnIndex {
    pub(super) input: IndexedInput,
    bytes: Mapped,
    bounds: Bounds,
    drawn: DrawnMeta,
}

impl DrawnIndex {
    /// Opens the index of a file, as [`Config::index`] says. Cost: a look at 64 places of the file, and at pages of the index.
    ///
    /// # Errors
    /// [`tracemill_trace::ErrorKind::NotATrace`] for an index that was named and is none of the file.
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
            Ok(own) => DrawnState::Ready(Box::new(own)),
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

    /// Bytes of text of a file, about, if its index, once it is made, may say how parts of it are read. Cost: of a packed file a look at the
    /// head of each frame.
    pub fn may_be_made(source: &Source) -> Option<u64> {
        let file = crate::fresh::map(source.path()).ok().flatten()?;
        let bytes = file.len() as u64;
        FileToIndex::of(file).may_be_entered(bytes)
    }

    /// Makes the index of a file anew, where it belongs, and opens it. Where it cannot be kept there (a full disk, a folder that cannot be
    /// written, a file of its name that is none) it lasts as long as the answer, and a warning says so. `seen` has what was seen so far
    /// of the trace, while it is read.
    ///
    /// # Errors
    /// As `crate()`; [`tracemill_trace::ErrorKind::Scratch`] if the folder of temporary files has no room for it either.
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

    /// The trace.
    pub fn source(&self) -> &Source {
        &self.input.source
    }

    /// Whether it is packed: then its text is only there as far as it was unpacked.
    pub fn is_packed(&self) -> bool {
        self.input.report.encoding.is_some()
    }

    /// First and last times.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// What there is to say of the trace.
    pub fn report(&self) -> &InputReport {
        &self.input.report
    }

    /// Intervals that last longer, in nanoseconds, are [`DrawnIndex::spans`].
    pub fn look_back(&self) -> i64 {
        self.input.windows.look_back()
    }

    /// Whether an interval of so many nanoseconds is among [`DrawnIndex::spans`].
    pub fn is_long(&self, dur: i64) -> bool {
        crate::meta::level(dur.unsigned_abs()) > self.input.windows.level
    }

    /// Nanoseconds of a bin.
    pub fn bin_width(&self) -> i64 {
        1_i64.checked_shl(self.drawn.level).filter(|width| *width > 0).unwrap_or(i64::MAX)
    }

    /// Whether there are CPU profiles in it.
    pub fn has_profiles(&self) -> bool {
        self.input.windows.has_profiles
    }

    /// Whether an end closes only a begin of its name.
    pub fn only_by_name(&self) -> bool {
        self.input.windows.has_crossings
    }

    /// Asks the sections.
    pub(super) fn asked<T>(
        &self,
        ask: impl FnOnce(&Lookup<'_, '_>) -> Result<T, IndexError>,
    ) -> Result<T, Error> {
        let asked = || {
            let index = Index::open(&self.bytes)?;
            let lookup = self.input.lookup(&index)?;
            lookup.as_ref().map(ask).transpose()
        };
        let problem = match asked() {
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
        self.asked(|lookup| {
            let section = lookup.index.section(id);
            let mut pages = section.iter().flat_map(|section| &section.pages);
            pages.try_for_each(|entry| visit(&lookup.index.page(entry)?))
        })
    }

    /// All lanes, by number: threads first.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn lanes(&self) -> Result<Vec<LaneKey>, Error> {
        let mut all = Vec::new();
        self.pages(id::LANES, |page| {
            let lens = [page.numbers(1)?, page.numbers(2)?];
            add_lanes(&page.numbers(0)?, &lens, page.bytes(3)?, &mut all);
            Ok(())
        })?;
        Ok(all)
    }

    /// All names, by number.
    ///
    /// # Errors
    /// The index is damaged.
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

    /// What is long, by thread and start; only what touches a window, or ends where it begins, if one is given.
    ///
    /// # Errors
    /// The index is damaged, or what `visit` says.
    pub fn spans(
        &self,
        seen: Option<(i64, i64)>,
        mut visit: impl FnMut(DrawnSpan) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let threads = u64::from(self.drawn.threads);
        let mut said = Ok(());
        let (from, to) = seen.unwrap_or((i64::MIN, i64::MAX));
        self.asked(|lookup| {
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
                };
                if said.is_ok() {
                    said = visit(span);
                }
            })
        })?;
        said
    }

    /// All bins, by lane and time.
    ///
    /// # Errors
    /// The index is damaged.
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

    /// Whether the trace still is that of the index.
    ///
    /// # Errors
    /// [`tracemill_trace::ErrorKind::Changed`] if it is not.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        self.input.file.check_unchanged()
    }
}

fn name_of(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| *number != NO_NAME)
}

/// As many of some bytes as there are.
fn within(len: u64, bytes: &[u8]) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX).min(bytes.len())
}

fn add_lanes(kinds: &[u64], lens: &[Vec<u64>; 2], mut text: &[u8], all: &mut Vec<LaneKey>) {
    for (row, kind) in kinds.iter().enumerate() {
        let [pid, own] = [0, 1].map(|part: usize| {
            let (own, rest) = text.split_at(within(lens[part][row], text));
            text = rest;
            own.into()
        });
        let kind = LaneKind::OF_EVENTS.get(*kind as usize).copied().unwrap_or(LaneKind::Thread);
        all.push(LaneKey { kind, pid, own, input: 0 });
    }
}
