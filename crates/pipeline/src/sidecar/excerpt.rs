//! Tables of windows by an index: of a trace is read what lies around the windows, and what lasts into them.
//!
//! ```text
//!                a − reach        a         b         b + ahead
//!   ─────────────────┼────────────┼─────────┼────────────┼───────>
//!                    └──────── granules that touch ──────┘
//!   S ├──────────────────────────────────┤                        what lasts longer than T and reaches in,
//!   └─┘ granules before S                                         and what it lies in
//! ```
//!
//! Which events of a thread have a place, and which calls run, follows from all that came before; but not from what came before a
//! moment at which nothing is open, or nothing but what is known to have a place. Such a moment is looked for in front of the window, and
//! before each event that lasts into it. Where there is none the reach grows, and at last all is read. Calls that are open behind the window
//! end where a task begins: where none does, what is read behind it grows by itself.
//!
//! Calls of the window need the samples from such a moment on, and the nodes that these name: of a CPU profile that the index tells to be such as V8 writes them
//! ([`tracemill_index::streams::SAMPLES`]) nothing else is read. What tables say of all samples, how many there are and when the last one ends, the list of chunks has. Any
//! other profile is read as a whole. That is most of the work: so they are read once the events around the window,
//! and the first ones of each profile, have shown that there is such a moment.

use super::chunks::NO_PROFILES;
use super::excerpt_profiles::{OfProfiles, Profiles, of_profiles, samples_of};
use super::lookup::Single;
use super::plan::{self, Asked, Opened, Plan, pieces_of, too_many};
use super::recorded::{ExcerptLacks, micros};
use super::threads::{IndexedThreads, records, threads};
use crate::config::Config;
use crate::input_set::InputSet;
use crate::pieces::{KnownSamples, PieceOutcome, Pieces};
use crate::warning::Warning;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use tracemill_core::error::Error;
use tracemill_core::hash::HashMap;
use tracemill_core::observe::Observer;
use tracemill_core::source::Source;
use tracemill_tokenizer::Nanos;

/// What is asked of a trace.
pub struct ExcerptQuery<'q> {
    /// From the first and the last microsecond of the trace, those of all windows that are asked for; else why all must be read.
    pub window: &'q dyn Fn((f64, f64)) -> Result<(f64, f64), &'static str>,
    /// Whether a thread of this pid and tid, as written, may be asked for.
    pub is_wanted: &'q dyn Fn(&[u8], &[u8]) -> bool,
}

/// A part of a trace, and what is known of the rest. Times are nanoseconds unless they are said to be others.
pub struct Excerpt {
    pub(crate) pieces: Pieces,
    /// Whether it has the first events of CPU profiles alone: then it only tells whether it is worth reading with these.
    pub is_probe: bool,
    /// Of CPU profiles of which a part is read: their chunks, and the nanoseconds around which samples are wanted.
    pub(crate) chunks: Option<KnownSamples>,
    /// What the input is packed in.
    pub encoding: Option<&'static str>,
    /// First and last microsecond of the trace.
    pub bounds: (f64, f64),
    /// First and last microsecond of what is asked for.
    pub window: (f64, f64),
    /// All events that touch the window are read, and those that touch this much before it, and before what lasts into it.
    pub reach: i64,
    /// The same behind it.
    pub ahead: i64,
    /// From which microsecond up to which all events are read, ascending and apart.
    pub seen: Vec<Range<f64>>,
    /// What is read by itself lasts longer.
    pub look_back: i64,
    /// The least time of the trace.
    pub first: i64,
    /// The greatest.
    pub last: i64,
    /// Those with events of the phases X, I, B and E, in the order of the first of these.
    pub threads: Vec<ExcerptThread>,
    /// Whether there are tasks (`RunTask`) anywhere.
    pub has_tasks: bool,
    /// What events anywhere lack that DevTools reads.
    pub lacks: ExcerptLacks,
    /// B without an E, in the whole trace.
    pub unended: u64,
    /// E without a B.
    pub lone_ends: u64,
    /// Of B and E of what lasts, by place: the end of a B in microseconds; `None` for an E.
    pub ends: HashMap<u64, Option<f64>>,
    /// From which of the events read the numbers are those from another one on, among all of the trace: `None` where nobody knows.
    pub numbers: Vec<(u64, Option<u64>)>,
}

impl Excerpt {
    /// Whether some CPU profiles are read in part.
    pub fn has_parts_of_profiles(&self) -> bool {
        self.chunks.is_some()
    }

    /// The number of the stretch that a microsecond lies in, if all events there are read.
    pub fn stretch_at(&self, micros: f64) -> Option<usize> {
        stretch_at(&self.seen, micros)
    }
}

/// The number of the stretch, of some that are ascending and apart, that a time lies in.
pub fn stretch_at(stretches: &[Range<f64>], time: f64) -> Option<usize> {
    let behind = stretches.partition_point(|own| own.start <= time);
    behind.checked_sub(1).filter(|&at| time < stretches[at].end)
}

/// A thread of a trace of which a part is read.
pub struct ExcerptThread {
    /// As written.
    pub pid: Box<[u8]>,
    /// As written.
    pub tid: Box<[u8]>,
    /// Its X, I and B in the whole trace.
    pub events: u64,
    /// Start and end of what lasts into the window, and of what such things lie in.
    pub lasting: Vec<(i64, i64)>,
}

/// What became of reading an excerpt.
pub enum Attempt<T> {
    /// The answer, which is that of a run over everything.
    Done(T),
    /// The same with CPU profiles may tell it.
    Promising,
    /// The same with all of the CPU profiles may tell it.
    NeedsProfiles,
    /// More must be read to know the answer.
    Unsettled(Unsettled),
    /// The trace is other than the index says.
    Wrong,
}

/// Where more must be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsettled {
    /// Before the window.
    pub before: bool,
    /// Behind it.
    pub behind: bool,
}

impl Unsettled {
    /// Whether nothing more must be read.
    pub fn is_none(self) -> bool {
        self == Unsettled::default()
    }

    /// Where either must read more.
    #[must_use]
    pub fn with(self, other: Unsettled) -> Unsettled {
        Unsettled { before: self.before || other.before, behind: self.behind || other.behind }
    }
}

/// An answer, and what an index had to do with it.
pub struct ByIndex<T> {
    /// The answer.
    pub answer: T,
    /// The index that said what to read, and how many bytes of events it said.
    pub used: Option<(PathBuf, u64)>,
    /// Why an index there is could not say that.
    pub unused: Option<&'static str>,
    /// What is wrong with it.
    pub warning: Option<Warning>,
}

/// By how much a reach grows.
const STEP: i64 = 4;
/// Times that reaches grow.
const STEPS: u32 = 6;

/// What an attempt reads, in multiples of the window, or of T.
#[derive(Clone, Copy)]
struct Factors {
    before: i64,
    behind: i64,
    profiles: Profiles,
}

/// Asks the index of the one input for an excerpt, which `part` reads; `all` reads everything.
///
/// # Errors
/// Those of both; also if an index was named and is not that of the one input.
pub fn by_excerpt<T>(
    sources: &[Source],
    config: &Config,
    query: &ExcerptQuery<'_>,
    mut part: impl FnMut(&Source, &Excerpt) -> Result<Attempt<T>, Error>,
    all: impl FnOnce() -> Result<T, Error>,
) -> Result<ByIndex<T>, Error> {
    let factors = Cell::new(Factors { before: 2, behind: 2, profiles: Profiles::Probe });
    // of chunks of CPU profiles it shows while they are read which are needed
    let (mut steps, mut of_chunks) = (0, 0);
    let asked = plan::run(
        sources,
        config,
        |opened| known(&opened, query, factors.get(), config),
        |source, excerpt| {
            let tried = part(source, &excerpt)?;
            of_chunks = excerpt.chunks.as_ref().map_or(0, |known| known.chunks.bytes_read());
            Ok(match tried {
                Attempt::Done(answer) => PieceOutcome::Done(answer),
                Attempt::Wrong => PieceOutcome::Wrong,
                Attempt::Promising => {
                    factors.set(Factors { profiles: Profiles::Needed, ..factors.get() });
                    PieceOutcome::Missing(Vec::new())
                }
                Attempt::NeedsProfiles => {
                    factors.set(Factors { profiles: Profiles::Whole, ..factors.get() });
                    PieceOutcome::Missing(Vec::new())
                }
                Attempt::Unsettled(_) if steps == STEPS => PieceOutcome::Cannot(UNSETTLED),
                Attempt::Unsettled(unsettled) => {
                    steps += 1;
                    factors.set(factors.get().grown(unsettled));
                    PieceOutcome::Missing(Vec::new())
                }
            })
        },
        all,
    )?;
    let Asked { answer, used, unused, warning } = asked;
    let used = used.map(|(index, bytes)| (index, bytes + of_chunks));
    Ok(ByIndex { answer, used, unused, warning })
}

impl Factors {
    fn grown(self, Unsettled { before, behind }: Unsettled) -> Factors {
        let step = |own: i64, grows| if grows { own * STEP } else { own };
        Factors {
            before: step(self.before, before),
            behind: step(self.behind, behind),
            profiles: match self.profiles {
                Profiles::Whole => Profiles::Whole,
                Profiles::Probe | Profiles::Needed => Profiles::Probe,
            },
        }
    }
}

/// Reads an excerpt of one input, as [`InputSet::read`] does. Numbers of events are those of the events
/// read; offsets are those in the input. Returns `None` if the input is not what the index says.
///
/// # Errors
/// As [`InputSet::read`].
pub fn scan_excerpt<O: Observer>(
    source: &Source,
    excerpt: &Excerpt,
    config: &Config,
    observer: O,
) -> Result<Option<InputSet>, Error> {
    config.check()?;
    let known = (&excerpt.pieces, excerpt.chunks.clone());
    InputSet::read_pieces(source, known, config, observer)
}

const UNSETTLED: &str = "what runs in the window follows from what ran long before it";

/// What is to be read; an error says why the index is none of the trace.
fn known(
    opened: &Opened<'_, '_, '_>,
    query: &ExcerptQuery<'_>,
    Factors { before, behind, profiles }: Factors,
    config: &Config,
) -> Result<Plan<Excerpt>, String> {
    let Opened { lookup, of_windows, of_tables, input, .. } = opened;
    let Some(tables) = of_tables else {
        return Ok(Plan::Cannot("it says nothing of what tables need"));
    };
    if let Some(why) = tables.why_all(of_windows.has_other_names) {
        return Ok(Plan::Cannot(why));
    }
    let (Some([first, last]), Some([_, least, greatest, _])) = (tables.bounds, of_windows.bounds)
    else {
        return Ok(Plan::Cannot("the trace has no times"));
    };
    let bounds = (f64::from_bits(first), f64::from_bits(last));
    let (from, to) = match (query.window)(bounds) {
        Ok(window) => window,
        Err(why) => return Ok(Plan::Cannot(why)),
    };
    let [Some(a), Some(b)] = [from, to].map(nanos) else {
        return Ok(Plan::Cannot("no window was given"));
    };
    let look_back = tables.look_back(of_windows.look_back());
    let [reach, ahead] =
        [before, behind].map(|factor| look_back.max(b.saturating_sub(a)).saturating_mul(factor));
    let Some(mut threads) = Threads::of(opened, query).map_err(|error| error.to_string())? else {
        return Ok(Plan::Cannot("it does not tell all threads apart"));
    };
    let mut regions = Regions::around((a, b), (reach, ahead), look_back);
    let lasting = threads.lasting(opened, &mut regions, a).map_err(|error| error.to_string())?;
    let Some(Lasting { mut events, ends }) = lasting else {
        return Ok(Plan::Cannot("what lasts into the window lies in too much that lasts longer"));
    };
    let around = samples_of((a, b), (reach, ahead), (least, greatest));
    let of_profiles = of_profiles(opened, profiles, around, config)?;
    let Some(OfProfiles { is_probe, events: others, chunks }) = of_profiles else {
        return Ok(Plan::Cannot(NO_PROFILES));
    };
    events.extend(others);
    events.extend(lookup.noted().map_err(|error| error.to_string())?);
    if let Some(why) = too_many(events.len(), config) {
        return Ok(Plan::Cannot(why));
    }
    let wholes = threads.begins();
    let hull = regions.hull();
    let wanted = |row: &super::lookup::Row| {
        regions.all.iter().any(|own| row.touches(own)) || row.holds_any(&wholes)
    };
    let granules = lookup.pieces_of(Some(&hull), wanted, events, |_, _| ());
    let mut granules = granules.map_err(|error| error.to_string())?;
    let numbers = std::mem::take(&mut granules.numbers);
    Ok(pieces_of(lookup, granules, input.clone(), config)?.map(|pieces| Excerpt {
        is_probe,
        chunks,
        encoding: input.encoding,
        pieces,
        bounds,
        window: (from, to),
        reach,
        ahead,
        seen: regions.united(),
        look_back,
        first: least,
        last: greatest,
        threads: threads.found(),
        has_tasks: tables.has_tasks,
        lacks: tables.lacks,
        unended: tables.unended,
        lone_ends: tables.lone_ends,
        ends,
        numbers,
    }))
}

/// Nanoseconds of microseconds, rounded down; `None` beyond all times.
fn nanos(micros: f64) -> Option<i64> {
    (micros.abs() < 9e15).then(|| (micros * 1000.0).floor() as i64)
}

/// Stretches of time of which all events are read.
struct Regions {
    all: Vec<Range<i64>>,
    reach: i64,
    look_back: i64,
}

impl Regions {
    /// What lies so near to a window.
    fn around((from, to): (i64, i64), (reach, ahead): (i64, i64), look_back: i64) -> Self {
        let from = from.saturating_sub(1).saturating_sub(reach);
        let own = from..to.saturating_add(2).saturating_add(ahead);
        Regions { all: vec![own], reach, look_back }
    }

    /// That before a moment, too, with the ends of what is short and open then.
    fn add_before(&mut self, moment: i64) {
        let from = moment.saturating_sub(self.reach);
        let new = from..moment.saturating_add(self.look_back).saturating_add(1);
        if !self.all.iter().any(|own| own.start <= new.start && new.end <= own.end) {
            self.all.push(new);
        }
    }

    fn touch(&self, start: i64, end: i64) -> bool {
        self.all.iter().any(|own| start < own.end && end >= own.start)
    }

    /// They in microseconds, those that touch as one.
    fn united(&self) -> Vec<Range<f64>> {
        let mut all = self.all.clone();
        all.sort_unstable_by_key(|own| own.start);
        let mut united: Vec<Range<i64>> = Vec::new();
        for own in all {
            match united.last_mut().filter(|last| own.start <= last.end) {
                Some(last) => last.end = last.end.max(own.end),
                None => united.push(own),
            }
        }
        let micros = |nanos: i64| nanos as f64 / 1000.0;
        united.into_iter().map(|own| micros(own.start)..micros(own.end)).collect()
    }

    fn hull(&self) -> Range<i64> {
        let from = self.all.iter().map(|own| own.start).min().unwrap_or(0);
        from..self.all.iter().map(|own| own.end).max().unwrap_or(0)
    }
}

/// What lasts longer than T and reaches into regions: the events, and the ends of pairs.
struct Lasting {
    events: Vec<Single>,
    ends: HashMap<u64, Option<f64>>,
}

/// A thread as the index has it.
struct Known {
    thread: ExcerptThread,
    /// Where its first event stands, plus 1; 0 if it has none.
    first: u64,
    is_wanted: bool,
    /// What lasts into the window, and what that lies in: start, end, place, and whether it is one event.
    lasting: BTreeSet<(i64, i64, u64, bool)>,
}

/// All threads, by their rows.
struct Threads(Vec<Known>);

impl Threads {
    fn of(
        opened: &Opened<'_, '_, '_>,
        query: &ExcerptQuery<'_>,
    ) -> Result<Option<Self>, tracemill_index::IndexError> {
        let index = opened.lookup.index;
        let Some(IndexedThreads { all, is_plain }) = threads(index)? else { return Ok(None) };
        let records = records(index)?;
        if !is_plain || records.len() != all.len() {
            return Ok(None);
        }
        let known = |(own, (events, first)): (crate::filter::narrowed::ThreadTotal, (u64, u64))| {
            let is_wanted = (query.is_wanted)(&own.pid, &own.tid);
            let (pid, tid, lasting) = (own.pid, own.tid, Vec::new());
            let thread = ExcerptThread { pid, tid, events, lasting };
            Known { thread, first, is_wanted, lasting: BTreeSet::new() }
        };
        Ok(Some(Threads(all.into_iter().zip(records).map(known).collect())))
    }

    /// What lasts into a window that begins at `from`, and what that lies in; before each of these a region is added. `None` if that does
    /// not come to an end.
    fn lasting(
        &mut self,
        opened: &Opened<'_, '_, '_>,
        regions: &mut Regions,
        from: i64,
    ) -> Result<Option<Lasting>, tracemill_index::IndexError> {
        /// Steps outwards.
        const DEEPEST: u32 = 16;
        for _ in 0..DEEPEST {
            let mut found = Lasting { events: Vec::new(), ends: HashMap::default() };
            let mut starts = Vec::new();
            opened.lookup.each_span(&regions.hull(), |span| {
                let row = usize::try_from(span.thread).ok();
                let own = row.and_then(|row| self.0.get_mut(row)).filter(|own| own.is_wanted);
                let (Some(own), Some(is_one)) = (own, span.of_tables()) else { return };
                if !regions.touch(span.start, span.end) {
                    return;
                }
                found.events.push(span.begin);
                if !is_one {
                    found.events.push(span.last);
                    let end = Nanos { floor: span.end, exact: true };
                    found.ends.insert(span.begin.place, micros(end));
                    found.ends.insert(span.last.place, None);
                }
                let holds = |moment: i64| span.start <= moment && moment <= span.end;
                let row = (span.start, span.end, span.begin.place, is_one);
                let is_around = holds(from) || own.lasting.iter().any(|inner| holds(inner.0));
                if is_around && own.lasting.insert(row) {
                    starts.push(span.start);
                }
            })?;
            if starts.is_empty() {
                return Ok(Some(found));
            }
            starts.sort_unstable();
            starts.dedup();
            starts.into_iter().for_each(|start| regions.add_before(start));
        }
        Ok(None)
    }

    /// Where those of them that are one event stand, ascending.
    fn begins(&self) -> Vec<u64> {
        let all = self.0.iter().flat_map(|own| &own.lasting);
        let mut places: Vec<u64> = all.filter(|own| own.3).map(|own| own.2).collect();
        places.sort_unstable();
        places
    }

    /// Those with events, in the order of the first.
    fn found(self) -> Vec<ExcerptThread> {
        let mut all: Vec<Known> = self.0.into_iter().filter(|own| own.first > 0).collect();
        all.sort_unstable_by_key(|own| own.first);
        let thread = |own: Known| {
            let lasting = own.lasting.iter().map(|&(start, end, ..)| (start, end)).collect();
            ExcerptThread { lasting, ..own.thread }
        };
        all.into_iter().map(thread).collect()
    }
}
