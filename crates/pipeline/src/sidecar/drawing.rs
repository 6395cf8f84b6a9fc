//! What an index says for who draws a trace: lanes and names, what is long by itself, sums of the rest, and which events a window needs.
//!
//! ```text
//!   whole trace    LANES, TRACKS, NAMES ─ what there is      SPANS ─ what is long      BINS ─ all else, about
//!   window a b     GRANULES that touch [a − T, b + T] ─ all that is short, to the last      SPANS ─ what is long, as above
//! ```
//!
//! What was read must have the checksums of the index, which else is none of the trace.

use super::chosen::Candidate;
use super::fresh::{input_of, open};
use super::lookup::{Granules, Lookup, Row, Single};
use super::meta::{Meta, WindowsMeta};
use super::whole::{IndexConfig, index};
use crate::config::Config;
use crate::drawing::{LaneKey, LaneKind};
use crate::findings::{Findings, Scanned, Stretch, scan_pieces};
use crate::pieces::Pieces;
use std::collections::BinaryHeap;
use std::ops::Range;
use tracemill_core::bounds::Bounds;
use tracemill_core::error::Error;
use tracemill_core::losses::InputReport;
use tracemill_core::pieces::Chosen;
use tracemill_core::source::Source;
use tracemill_index::bins::NO_NAME;
use tracemill_index::{Index, IndexError, Input, Page, PageEntry, id, spans};
use tracemill_tokenizer::Mapped;

/// Granules of a page of GRANULES: each has an event at least.
const GRANULES: u64 = super::granules::ROWS as u64;

/// Whether an index can be drawn from.
pub enum DrawnState {
    /// It can.
    Ready(Box<DrawnIndex>),
    /// There is none, or none of the trace as it is; one can be made.
    Missing,
    /// None can, for this reason.
    Cannot(&'static str),
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

/// An index that is that of its trace, opened.
pub struct DrawnIndex {
    source: Source,
    candidate: Candidate,
    bytes: Mapped,
    input: Input,
    report: InputReport,
    windows: WindowsMeta,
    bounds: Bounds,
    bins: u32,
    has_all_names: bool,
    threads: u64,
}

fn told(error: IndexError) -> String {
    error.to_string()
}

impl DrawnIndex {
    /// Opens the index of a file, as [`Config::index`] says. Cost: a look at 64 places of the file, and at pages of the index.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotATrace`] for an index that was named and is none of the file.
    pub fn open(source: &Source, config: &Config) -> Result<DrawnState, Error> {
        let sources = std::slice::from_ref(source);
        let Some(candidate) = Candidate::of(sources, config)? else {
            return Ok(DrawnState::Cannot("only a file has an index"));
        };
        match Self::opened(source, candidate, config) {
            Ok(state) => Ok(state),
            Err((candidate, problem)) if candidate.is_named => Err(candidate.refused(problem)),
            Err(_) => Ok(DrawnState::Missing),
        }
    }

    fn opened(
        source: &Source,
        candidate: Candidate,
        config: &Config,
    ) -> Result<DrawnState, (Candidate, String)> {
        if config.strict {
            return Ok(DrawnState::Cannot("a strict run looks at every byte"));
        }
        let bytes = match candidate.map() {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(DrawnState::Missing),
            Err(problem) => return Err((candidate, problem)),
        };
        let meta = match candidate.open(&bytes) {
            Ok(Some((_, meta))) => meta,
            Ok(None) => return Ok(DrawnState::Missing),
            Err(problem) => return Err((candidate, problem)),
        };
        let (Some(report), Ok(input)) = (meta.input(""), input_of(&candidate.trace)) else {
            return Ok(DrawnState::Missing);
        };
        if let Some(why) = against(&meta, &report) {
            return Ok(DrawnState::Cannot(why));
        }
        let (Some(drawn), Some(windows)) = (meta.drawn, meta.windows) else {
            return Ok(DrawnState::Missing);
        };
        let Some([start, first, last, end]) = windows.bounds else {
            return Ok(DrawnState::Cannot("the trace has no times"));
        };
        if first > last || last > end || start < first || windows.level > 64 || drawn.level > 63 {
            return Err((candidate, "its times are impossible".to_owned()));
        }
        let report = InputReport { name: source.to_string(), span: Some((first, last)), ..report };
        let mut opened = DrawnIndex {
            source: source.clone(),
            candidate,
            bytes,
            input,
            report,
            windows,
            bounds: Bounds { start, first, last, end },
            bins: drawn.level,
            has_all_names: drawn.has_all_names,
            threads: 0,
        };
        let known = opened.with(|lookup| {
            let sections = [id::LANES, id::NAMES, id::TRACKS, id::BINS];
            let all = sections.map(|id| lookup.index.section(id));
            Ok(all.iter().all(Option::is_some).then(|| all[0].map_or(0, |lanes| lanes.rows)))
        });
        match known {
            Ok(Some(threads)) if threads < u64::from(u32::MAX) => opened.threads = threads,
            Ok(_) => return Ok(DrawnState::Cannot("it does not say what is drawn")),
            Err(problem) => return Err((opened.candidate, problem)),
        }
        Ok(DrawnState::Ready(Box::new(opened)))
    }

    /// Makes the index of a file anew, where [`Config::index`] has it stand.
    ///
    /// # Errors
    /// As [`index()`].
    pub fn make(source: &Source, config: &Config) -> Result<(), Error> {
        let sources = std::slice::from_ref(source);
        let wanted = IndexConfig::default();
        let made = index(sources, &wanted, config)?;
        // one that an older version made is that of the file, and has nothing to draw from
        let is_old = made.iter().any(|report| report.is_fresh)
            && matches!(Self::open(source, config)?, DrawnState::Missing);
        if is_old {
            index(sources, &IndexConfig { replace: true, ..wanted }, config)?;
        }
        Ok(())
    }

    /// First and last times.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// What there is to say of the trace.
    pub fn report(&self) -> &InputReport {
        &self.report
    }

    /// Intervals that last longer, in nanoseconds, are [`DrawnIndex::spans`].
    pub fn look_back(&self) -> i64 {
        1_i64.checked_shl(self.windows.level).filter(|look| *look > 0).unwrap_or(i64::MAX)
    }

    /// Whether an interval of so many nanoseconds is among [`DrawnIndex::spans`].
    pub fn is_long(&self, dur: i64) -> bool {
        super::granules::level(dur.unsigned_abs()) > self.windows.level
    }

    /// Nanoseconds of a bin.
    pub fn bin_width(&self) -> i64 {
        1_i64.checked_shl(self.bins).filter(|width| *width > 0).unwrap_or(i64::MAX)
    }

    /// Whether all names have numbers.
    pub fn has_all_names(&self) -> bool {
        self.has_all_names
    }

    /// Whether there are CPU profiles in it.
    pub fn has_profiles(&self) -> bool {
        self.windows.has_profiles
    }

    /// Whether an end closes only a begin of its name.
    pub fn only_by_name(&self) -> bool {
        self.windows.has_crossings
    }

    /// Asks the sections; an error says what is wrong with them.
    fn with<T>(
        &self,
        ask: impl FnOnce(&Lookup<'_, '_>) -> Result<T, IndexError>,
    ) -> Result<T, String> {
        let index: Index<'_> = open(&self.bytes).map_err(told)?;
        let lookup = Lookup::new(&index, self.report.bytes, None).map_err(told)?;
        let lookup = lookup.ok_or("it does not say where the events begin and end")?;
        ask(&lookup).map_err(told)
    }

    fn asked<T>(
        &self,
        ask: impl FnOnce(&Lookup<'_, '_>) -> Result<T, IndexError>,
    ) -> Result<T, Error> {
        self.with(ask).map_err(|problem| self.candidate.refused(problem))
    }

    fn pages(
        &self,
        id: u16,
        is_wanted: impl Fn(&PageEntry) -> bool,
        mut visit: impl FnMut(&Page) -> Result<(), IndexError>,
    ) -> Result<(), Error> {
        self.asked(|lookup| {
            let section = lookup.index.section(id);
            let pages = section.iter().flat_map(|section| &section.pages);
            let mut pages = pages.filter(|entry| is_wanted(entry));
            pages.try_for_each(|entry| visit(&lookup.index.page(entry)?))
        })
    }

    /// All lanes, by number: threads first.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn lanes(&self) -> Result<Vec<LaneKey>, Error> {
        let mut all = Vec::new();
        self.pages(
            id::LANES,
            |_| true,
            |page| {
                let lens = [page.numbers(6)?, page.numbers(7)?];
                let kinds = vec![0; page.rows()];
                add_lanes(&kinds, &lens, page.bytes(8)?, &mut all);
                Ok(())
            },
        )?;
        self.pages(
            id::TRACKS,
            |_| true,
            |page| {
                let lens = [page.numbers(1)?, page.numbers(2)?];
                add_lanes(&page.numbers(0)?, &lens, page.bytes(3)?, &mut all);
                Ok(())
            },
        )?;
        Ok(all)
    }

    /// All names, by number.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn names(&self, mut visit: impl FnMut(DrawnName<'_>)) -> Result<(), Error> {
        self.pages(
            id::NAMES,
            |_| true,
            |page| {
                let [counts, totals, longest, lens] =
                    [0, 1, 2, 3].map(|column| page.numbers(column));
                let (counts, totals, longest, lens) = (counts?, totals?, longest?, lens?);
                let mut rest = page.bytes(4)?;
                for row in 0..page.rows() {
                    let (text, behind) = rest.split_at(within(lens[row], rest));
                    rest = behind;
                    let count = counts[row].min(self.report.events);
                    let (total, longest) = (totals[row] as i64, longest[row] as i64);
                    visit(DrawnName { text, count, total, longest });
                }
                Ok(())
            },
        )
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
        let threads = self.threads;
        let mut said = Ok(());
        let (from, to) = seen.unwrap_or((i64::MIN, i64::MAX));
        // keys are the least start and the greatest end
        let touches = |entry: &PageEntry| (entry.first as i64) < to && entry.last as i64 >= from;
        self.pages(id::SPANS, touches, |page| {
            let columns = [0, 1, 2, 3, 4, 6, 7, 10, 11].map(|column| page.numbers(column));
            let [kinds, flags, lanes, starts, durs, places, lasts, tracks, names] = columns;
            let (kinds, flags, lanes, starts) = (kinds?, flags?, lanes?, starts?);
            let (durs, places, lasts) = (durs?, places?, lasts?);
            let (tracks, names) = (tracks?, names?);
            for row in 0..page.rows() {
                let lane = match kinds[row] as u8 {
                    spans::COMPLETE | spans::PAIR => lanes[row],
                    spans::ASYNC | spans::LEGACY => threads.saturating_add(tracks[row]),
                    _ => continue,
                };
                let is_open = flags[row] as u8 & spans::OPEN != 0;
                let span = DrawnSpan {
                    lane: lane as u32,
                    name: name_of(names[row]),
                    start: starts[row] as i64,
                    dur: (!is_open).then(|| i64::try_from(durs[row]).unwrap_or(i64::MAX)),
                    place: places[row],
                    last: places[row].wrapping_add(lasts[row]),
                };
                let touches = span.start < to
                    && span.dur.is_none_or(|dur| span.start.saturating_add(dur) >= from);
                if touches && said.is_ok() {
                    said = visit(span);
                }
            }
            Ok(())
        })?;
        said
    }

    /// All bins, by lane and time.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn bins(&self, mut visit: impl FnMut(DrawnBin)) -> Result<(), Error> {
        self.pages(
            id::BINS,
            |_| true,
            |page| {
                let columns = [0, 1, 2, 3, 4, 5].map(|column| page.numbers(column));
                let [lanes, numbers, counts, busy, longest, names] = columns;
                let (lanes, numbers, counts) = (lanes?, numbers?, counts?);
                let (busy, longest, names) = (busy?, longest?, names?);
                for row in 0..page.rows() {
                    let start = (numbers[row] as i64).checked_shl(self.bins).unwrap_or_default();
                    visit(DrawnBin {
                        lane: lanes[row] as u32,
                        start,
                        count: counts[row].min(self.report.events),
                        busy: busy[row] as i64,
                        longest: longest[row] as i64,
                        name: name_of(names[row]),
                    });
                }
                Ok(())
            },
        )
    }

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

    /// Reads the events that touch a window, and some beside it: all that are short, and of counters the values at its begin.
    ///
    /// # Errors
    /// The index is damaged or none of the trace, and those of [`crate::scan_inputs`].
    pub fn read_window<F: Findings>(
        &self,
        (from, to): (i64, i64),
        config: &Config,
        take: impl FnMut(F, Stretch) -> Result<(), Error>,
    ) -> Result<Scanned, Error> {
        let seen = self.seen(from, to);
        let granules = self.asked(|lookup| {
            let mut events = Vec::new();
            lookup.each_span(&(from..from.saturating_add(1)), |span| {
                if span.kind == spans::COUNTER {
                    events.push(span.begin);
                }
            })?;
            chosen(lookup, Some(&seen), |row| row.touches(&seen), events)
        })?;
        self.read(granules, config, take)
    }

    /// Reads the events that count wherever they stand: metadata, and what viewers need. Gives their places too.
    ///
    /// # Errors
    /// As [`DrawnIndex::read_window`].
    pub fn read_special<F: Findings>(
        &self,
        config: &Config,
        take: impl FnMut(F, Stretch) -> Result<(), Error>,
    ) -> Result<(Scanned, Vec<u64>), Error> {
        let (granules, places) = self.asked(|lookup| {
            let (mut events, mut places) = (Vec::new(), Vec::new());
            let section = lookup.index.section(id::PLACES);
            for entry in section.iter().flat_map(|section| &section.pages) {
                let page = lookup.index.page(entry)?;
                let [own, lens, sums] = [page.numbers(0)?, page.numbers(1)?, page.numbers(3)?];
                places.extend_from_slice(&own);
                for ((place, bytes), sum) in own.into_iter().zip(lens).zip(sums) {
                    events.push(Single { place, sum: sum as u32, bytes });
                }
            }
            Ok((chosen(lookup, Some(&(i64::MIN..i64::MIN)), |_| false, events)?, places))
        })?;
        Ok((self.read(granules, config, take)?, places))
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

    /// Reads the events of stretches of the text.
    ///
    /// # Errors
    /// As [`DrawnIndex::read_window`].
    pub fn read_stretches<F: Findings>(
        &self,
        stretches: &[DrawnStretch],
        config: &Config,
        take: impl FnMut(F, Stretch) -> Result<(), Error>,
    ) -> Result<Scanned, Error> {
        let mut rows: Vec<u64> = stretches.iter().map(|own| own.key.1).collect();
        rows.sort_unstable();
        let is_one = |row: &Row| rows.binary_search(&row.number).is_ok();
        let times = stretches.iter().map(|own| own.times);
        let times = times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default();
        let seen = times.0..times.1.saturating_add(1);
        let granules = self.asked(|lookup| chosen(lookup, Some(&seen), is_one, Vec::new()))?;
        self.read(granules, config, take)
    }

    fn read<F: Findings>(
        &self,
        granules: Granules,
        config: &Config,
        take: impl FnMut(F, Stretch) -> Result<(), Error>,
    ) -> Result<Scanned, Error> {
        if !granules.are_in_order() {
            return Err(self.candidate.refused("its places are not in order".to_owned()));
        }
        let Granules { pieces, read, .. } = granules;
        let chosen = Chosen { pieces, unpacked: None };
        let pieces = Pieces { chosen, read, report: self.report.clone() };
        let scanned = scan_pieces(&self.source, &pieces, config, F::default, take)?;
        self.check_unchanged()?;
        scanned.ok_or_else(|| self.candidate.changed())
    }

    /// Whether the trace still is that of the index.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Changed`] if it is not.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        let path = &self.candidate.trace;
        let known = std::fs::metadata(path).map_err(|e| Error::read(path.display(), e))?;
        match known.len() == self.input.length
            && super::fresh::modified_ns(&known) == self.input.modified_ns
        {
            true => Ok(()),
            false => Err(self.candidate.changed()),
        }
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
        let all = page.numbers(0)?.into_iter().zip(page.numbers(1)?).rev();
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

/// What is against reading windows of a trace.
fn against(meta: &Meta, report: &InputReport) -> Option<&'static str> {
    let windows = match &meta.windows {
        _ if report.encoding.is_some() => return Some("the trace is packed"),
        None => return Some("its list of long events is missing"),
        Some(windows) => windows,
    };
    if report.lost() > 0 || windows.has_lapses {
        return Some("the trace is damaged, or not JSON to the letter");
    }
    if windows.has_crossings && windows.has_strangers {
        return Some("some E events end B events of other names");
    }
    let has_no_room = meta.left_out.iter().any(|name| Some(&**name) == id::name(id::BINS));
    (meta.drawn.is_none() && has_no_room).then_some("what is drawn has no room in it")
}

/// Granules that are wanted, and single events of others.
fn chosen(
    lookup: &Lookup<'_, '_>,
    seen: Option<&Range<i64>>,
    wanted: impl Fn(&Row) -> bool,
    mut events: Vec<Single>,
) -> Result<Granules, IndexError> {
    events.sort_unstable();
    events.dedup_by_key(|event| event.place);
    let mut all = Granules::default();
    let mut left = &events[..];
    lookup.each_granule(seen, |row| {
        if !wanted(row) {
            return;
        }
        let (before, others) = left.split_at(left.partition_point(|e| e.place < row.place));
        let behind = others.partition_point(|e| e.place < row.end());
        before.iter().for_each(|event| all.event(*event));
        left = &others[behind..];
        all.granule(row);
    })?;
    left.iter().for_each(|event| all.event(*event));
    Ok(all)
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
