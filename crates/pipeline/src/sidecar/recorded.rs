//! What tables (`tracemill-analysis`) must know of events that they do not read: the first and last time as doubles, which threads have
//! events of theirs, and whether pairs and times are such that a part of a trace tells all of them.

use super::granules::length_of;
use super::name_facts::NameFacts;
use super::spans::PairCounts;
use crate::check::{Lack, ReadOn, lacking_of};
use crate::essential::{CALLS, is_start};
use crate::info::LastEvent;
use serde::{Deserialize, Serialize};
use tracemill_index::kinds;
use tracemill_tokenizer::{Event, Field, Nanos};

/// Of one thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ThreadRecords {
    /// Its I, X and B with a time.
    pub(super) count: u64,
    /// Where the first of those and of E stands.
    pub(super) first: Option<u64>,
}

/// What of a trace only all of it tells, so that tables of a part could be others.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Odd {
    /// A time that as a double is not what it is in nanoseconds, or that is no number.
    times: bool,
    /// A name in which a letter may stand as an escape.
    names: bool,
    /// Of a B or E, categories that are no text or have escapes.
    categories: bool,
    /// A B or E with a duration, or one that counts wherever it stands.
    ends: bool,
    /// A B or E of no thread.
    strays: bool,
    /// An event without what DevTools reads of it on some threads.
    args: bool,
}

impl Odd {
    /// The first of the reasons why all is read.
    pub(super) fn why(self) -> Option<&'static str> {
        let reasons = [
            (self.times, "some times are no plain numbers, or finer than doubles"),
            (
                self.names,
                r"some names have characters as \u escapes; a trace with the characters themselves goes by its index",
            ),
            (
                self.categories,
                "some B or E have categories that are no text, or have escapes; X in their place go by the index",
            ),
            (
                self.ends,
                "some B or E have a dur, or are metadata for viewers; X in their place go by the index",
            ),
            (self.strays, "some B or E have no thread; those that have one go by the index"),
            (
                self.args,
                "some events lack args that DevTools reads on threads that it shows, and which these are only all of it tells",
            ),
        ];
        reasons.into_iter().find_map(|(is_so, why)| is_so.then_some(why))
    }

    fn append(&mut self, later: Odd) {
        self.times |= later.times;
        self.names |= later.names;
        self.categories |= later.categories;
        self.ends |= later.ends;
        self.strays |= later.strays;
        self.args |= later.args;
    }
}

/// What events anywhere lack so that DevTools refuses the trace.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ExcerptLacks {
    /// Names.
    pub names: bool,
    /// Categories, where it reads them.
    pub categories: bool,
    /// Args, where it reads them on any thread.
    pub args: bool,
}

impl ExcerptLacks {
    fn append(&mut self, later: ExcerptLacks) {
        self.names |= later.names;
        self.categories |= later.categories;
        self.args |= later.args;
    }
}

/// Of a part of a trace, or all of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded {
    /// By row.
    pub(super) threads: Vec<ThreadRecords>,
    /// Least and greatest time, in microseconds.
    bounds: Option<(f64, f64)>,
    /// The time of the last event that says when the recording began, in microseconds, if it has one.
    started: Option<Option<f64>>,
    odd: Odd,
    lacks: ExcerptLacks,
    has_calls: bool,
    has_tasks: bool,
}

/// What META says of all that.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TablesMeta {
    /// First and last microsecond, as the bits of doubles: of I, X, B and E, and of when the recording began. None without times.
    pub(super) bounds: Option<[u64; 2]>,
    /// Why tables of a part could be other than those of all.
    pub(super) odd: Odd,
    /// Pairs of B and E for tables alone that are longer than 2 to the power of this, in nanoseconds, stand in SPANS; it is no less than that
    /// of all others.
    pub(super) level: u32,
    /// What events lack that DevTools reads.
    pub(super) lacks: ExcerptLacks,
    /// Whether calls that were made of samples were written as events.
    pub(super) has_calls: bool,
    /// Whether there are tasks at which a walk may begin.
    pub(super) has_tasks: bool,
    /// B without an E.
    pub(super) unended: u64,
    /// E without a B.
    pub(super) lone_ends: u64,
}

const OTHER_NAMES: &str =
    "some B or E have names that are no text; X in their place go by the index";
const CALLS_AS_EVENTS: &str = "calls were written as events beside the samples that they were made of; a trace without them goes by its index";

impl TablesMeta {
    /// Why all of the trace is read, if it is; some B or E may have names that are no text.
    pub(super) fn why_all(&self, has_other_names: bool) -> Option<&'static str> {
        let of_names = has_other_names.then_some(OTHER_NAMES);
        let of_calls = self.has_calls.then_some(CALLS_AS_EVENTS);
        self.odd.why().or(of_names).or(of_calls)
    }

    /// Slices for tables that last longer, in nanoseconds, stand in SPANS where all others do that are longer than `look_back`.
    pub(super) fn look_back(&self, look_back: i64) -> i64 {
        look_back.max(length_of(self.level))
    }
}

impl Recorded {
    /// The next event, of these kinds; its thread is that of a row of the part.
    #[inline]
    pub(super) fn note(
        &mut self,
        event: &Event<'_>,
        (known, facts): (&LastEvent, NameFacts),
        own_kinds: u64,
    ) {
        let LastEvent { letter: phase, ts, dur, thread, .. } = *known;
        if let Some(lack) = lacking_of(event, facts.may_lack()) {
            self.lack(lack);
        }
        if own_kinds & (kinds::ESSENTIAL | kinds::METADATA) != 0 && is_start(event) {
            self.started = Some(ts.and_then(micros));
            self.odd.times |= is_odd(event, Field::Ts, ts);
        }
        if !matches!(phase, b'X' | b'I' | b'B' | b'E') {
            return;
        }
        self.odd.times |= is_odd(event, Field::Ts, ts) || is_odd(event, Field::Dur, dur);
        let is_pair = matches!(phase, b'B' | b'E');
        // pairs are made of all but these, and sorted with their durations
        let is_special = own_kinds & (kinds::ESSENTIAL | kinds::PROFILES) != 0;
        self.odd.ends |= is_pair && (is_special || dur.is_some_and(|dur| dur.floor != 0));
        self.odd.categories |= is_pair && has_odd_cat(event);
        self.has_calls |= event.is_string(Field::Cat, CALLS.as_bytes());
        self.has_tasks |= facts.is_task();
        let Some(ts) = ts.and_then(micros) else { return };
        if thread >= self.threads.len() {
            self.threads.resize(thread + 1, ThreadRecords::default());
        }
        let own = &mut self.threads[thread];
        own.count += u64::from(phase != b'E');
        own.first.get_or_insert(event.offset);
        // a letter may stand there as an escape
        self.odd.names |= facts.has_escapes();
        if ts != 0.0 && !facts.is_uma() {
            let end = ts + dur.and_then(micros).unwrap_or(0.0);
            let (first, last) = self.bounds.unwrap_or((ts, end));
            self.bounds = Some((first.min(ts), last.max(end)));
        }
    }

    /// Who reads all tells that DevTools refuses it.
    #[cold]
    fn lack(&mut self, lack: Lack) {
        match lack {
            Lack::Name => self.lacks.names = true,
            Lack::Category => self.lacks.categories = true,
            Lack::Args(ReadOn::Anywhere) => self.lacks.args = true,
            Lack::Args(_) => self.odd.args = true,
            // it is read wherever it stands
            Lack::Start => {}
        }
    }

    /// Takes over what a later part found; `rows` are those of its threads.
    pub(super) fn append(&mut self, later: &Recorded, rows: &[u32]) {
        for (own, &row) in later.threads.iter().zip(rows) {
            let row = row as usize;
            if row >= self.threads.len() {
                self.threads.resize(row + 1, ThreadRecords::default());
            }
            let all = &mut self.threads[row];
            all.count += own.count;
            all.first = all.first.or(own.first);
        }
        if let Some((first, last)) = later.bounds {
            let (low, high) = self.bounds.unwrap_or((first, last));
            self.bounds = Some((low.min(first), high.max(last)));
        }
        self.started = later.started.or(self.started);
        self.odd.append(later.odd);
        self.lacks.append(later.lacks);
        self.has_calls |= later.has_calls;
        self.has_tasks |= later.has_tasks;
    }

    /// For META; with what became of B and E, and the level of pairs for tables alone.
    pub(super) fn meta(&self, pairs: &PairCounts, level: u32) -> TablesMeta {
        let began = self.started.flatten().filter(|&started| started >= 0.0);
        let bounds = self.bounds.map(|(first, last)| (began.unwrap_or(first), last));
        TablesMeta {
            bounds: bounds.map(|(first, last)| [first.to_bits(), last.to_bits()]),
            odd: Odd { strays: pairs.has_strays, ..self.odd },
            level,
            lacks: self.lacks,
            has_calls: self.has_calls,
            has_tasks: self.has_tasks,
            unended: pairs.unended,
            lone_ends: pairs.lone_ends,
        }
    }
}

/// Whether what is written tells not at once whether categories are the same as others.
fn has_odd_cat(event: &Event<'_>) -> bool {
    let cat = event.field(Field::Cat);
    cat.is_some_and(|cat| !cat.starts_with(b"\"") || cat.contains(&b'\\'))
}

/// Whether a time that is written means something else as a double than in nanoseconds.
#[inline]
fn is_odd(event: &Event<'_>, field: Field, read: Option<Nanos>) -> bool {
    match (event.field_and_rest(field), read) {
        (None, _) => false,
        (Some([b'"', ..]), _) | (Some(_), None) => true,
        (Some(_), Some(nanos)) => micros(nanos).is_none(),
    }
}

/// The double nearest to a time, in microseconds, where times in nanoseconds and such doubles are in one order; `None` elsewhere.
///
/// ```
/// use tracemill_pipeline::micros;
/// use tracemill_tokenizer::nanos;
///
/// assert_eq!(nanos(b"12.5").and_then(micros), Some(12.5));
/// assert_eq!(nanos(b"0.0001").and_then(micros), None); // finer than a nanosecond
/// ```
#[inline]
pub fn micros(Nanos { floor, exact }: Nanos) -> Option<f64> {
    /// Up to here doubles of microseconds tell nanoseconds apart.
    const FINE: u64 = (1 << 43) * 1000;
    /// Up to here they tell microseconds apart.
    const WHOLE: u64 = (1 << 53) * 1000;
    let size = floor.unsigned_abs();
    match exact {
        true if size < FINE => Some(floor as f64 / 1000.0),
        true if floor % 1000 == 0 && size < WHOLE => Some((floor / 1000) as f64),
        _ => None,
    }
}
