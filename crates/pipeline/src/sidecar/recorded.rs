//! What tables (`tracemill-analysis`) must know of events that they do not read: the first and last time as doubles, which threads have
//! events of theirs, and whether pairs and times are such that a part of a trace tells all of them.

use super::name_facts::NameFacts;
use crate::check::{Lack, lacking_of};
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

/// Of a part of a trace, or all of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded {
    /// By row.
    pub(super) threads: Vec<ThreadRecords>,
    /// Least and greatest time, in microseconds.
    bounds: Option<(f64, f64)>,
    /// The time of the last event that says when the recording began, in microseconds, if it has one.
    started: Option<Option<f64>>,
    /// A time that as a double is not what it is in nanoseconds, or that is no number; an X, B or E that tables see with other eyes.
    has_odd: bool,
    has_calls: bool,
    has_tasks: bool,
}

/// What META says of all that.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TablesMeta {
    /// First and last microsecond, as the bits of doubles: of I, X, B and E, and of when the recording began. None without times.
    pub(super) bounds: Option<[u64; 2]>,
    /// Whether tables of a part could be other than those of all.
    pub(super) has_odd: bool,
    /// Whether calls that were made of samples were written as events.
    pub(super) has_calls: bool,
    /// Whether there are tasks at which a walk may begin.
    pub(super) has_tasks: bool,
    /// B without an E.
    pub(super) unended: u64,
    /// E without a B.
    pub(super) lone_ends: u64,
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
        // who reads all tells that DevTools refuses it
        let lack = || lacking_of(event, facts.may_lack());
        self.has_odd = self.has_odd || !matches!(lack(), None | Some(Lack::Start));
        if own_kinds & (kinds::ESSENTIAL | kinds::METADATA) != 0 && is_start(event) {
            self.started = Some(ts.and_then(micros));
            self.has_odd |= is_odd(event, Field::Ts, ts);
        }
        if !matches!(phase, b'X' | b'I' | b'B' | b'E') {
            return;
        }
        self.has_odd |= is_odd(event, Field::Ts, ts) || is_odd(event, Field::Dur, dur);
        let is_pair = matches!(phase, b'B' | b'E');
        // pairs are made of all but these, and sorted with their durations
        let is_special = own_kinds & (kinds::ESSENTIAL | kinds::PROFILES) != 0;
        self.has_odd |=
            is_pair && (is_special || dur.is_some_and(|dur| dur.floor != 0) || has_odd_cat(event));
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
        self.has_odd |= facts.has_escapes();
        if ts != 0.0 && !facts.is_uma() {
            let end = ts + dur.and_then(micros).unwrap_or(0.0);
            let (first, last) = self.bounds.unwrap_or((ts, end));
            self.bounds = Some((first.min(ts), last.max(end)));
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
        self.has_odd |= later.has_odd;
        self.has_calls |= later.has_calls;
        self.has_tasks |= later.has_tasks;
    }

    /// For META; with what became of B and E.
    pub(super) fn meta(&self, pairs: &super::spans::PairCounts) -> TablesMeta {
        let began = self.started.flatten().filter(|&started| started >= 0.0);
        let bounds = self.bounds.map(|(first, last)| (began.unwrap_or(first), last));
        TablesMeta {
            bounds: bounds.map(|(first, last)| [first.to_bits(), last.to_bits()]),
            has_odd: self.has_odd || pairs.has_odd,
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
