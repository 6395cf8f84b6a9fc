//! Indexes that read times: entries sorted by time, or times alone.

use super::chunk::SealedChunk;
use super::keep::{Keep, KeepChunk, locate_untimed};
use super::look::EventRef;
use crate::event::envelope::Envelope;
use crate::order::{METADATA, Order, Sorter, UNTIMED};
use crate::read::{InputStart, Needs, Starter};
use crate::run::error::Error;
use crate::run::memory::Lease;
use crate::store::entry::{Entry, rank};
use crate::store::place::Place;
use crate::time::bounds::widen;
use crate::time::shift::Shift;
use std::sync::Arc;
use tracemill_tokenizer::Event;

/// A function from the name of an input to the factor for its times.
pub type Factors = Box<dyn Fn(&str) -> Option<Arc<Shift>> + Send + Sync>;

/// The factors of all inputs, and the factor of the current input. The index multiplies the times,
/// because it sorts by the products.
#[derive(Default)]
struct Scale {
    factors: Option<Factors>,
    factor: Option<Arc<Shift>>,
}

impl Scale {
    fn begin(&mut self, input: &InputStart<'_>) {
        self.factor = self.factors.as_ref().and_then(|factor_of| factor_of(input.name));
    }
}

/// Counts an event and returns its position, phase and times.
#[inline(always)]
fn locate_timed(
    event: &Event<'_>,
    factor: Option<&Arc<Shift>>,
    envelope: &mut Envelope,
) -> EventRef {
    let at = locate_untimed(event, envelope);
    let times = match factor {
        None => event.ts().map(|ts| (ts, event.dur())),
        Some(factor) => factor.times(event),
    };
    EventRef { times, is_metadata: event.is_metadata(), ..at }
}

/// Stores entries sorted by time, 16 bytes per event, and two lists of places: metadata events and
/// events without a time.
///
/// Workers sort the entries of their chunks; the sorter from [`Sorted::into_entries`] merges them.
pub struct Sorted {
    entries: Sorter,
    scale: Scale,
}

impl Sorted {
    /// Creates an empty index that spills sorted runs to disk beyond its lease.
    pub fn new(lease: Lease) -> Self {
        Sorted { entries: Sorter::new(lease), scale: Scale::default() }
    }

    /// Sets the factors that multiply the times of each input.
    #[must_use]
    pub fn scaled(mut self, factors: Factors) -> Self {
        self.scale.factors = Some(factors);
        self
    }

    /// Returns the sorter with the entries and both lists.
    pub fn into_entries(self) -> Sorter {
        self.entries
    }
}

/// Entries and lists of one chunk.
pub struct SortedChunk {
    entries: Vec<Entry>,
    lists: [Vec<Place>; 2],
    factor: Option<Arc<Shift>>,
}

impl Keep for Sorted {
    type Chunk = SortedChunk;

    fn needs(&self) -> Needs {
        Needs::WRITES
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        self.scale.begin(input);
    }

    fn starter(&self) -> Starter<SortedChunk> {
        let factor = self.scale.factor.clone();
        // Chrome writes about 256 bytes per event; `seal` returns unused capacity
        Box::new(move |chunk| SortedChunk {
            entries: Vec::with_capacity(chunk.len_hint / 256),
            lists: Default::default(),
            factor: factor.clone(),
        })
    }

    /// Returns whether the input has no factor. Multiplied times may be finer than a nanosecond,
    /// which entries cannot hold.
    fn takes_entries(&self) -> bool {
        self.scale.factor.is_none()
    }

    fn merge(&mut self, kept: SortedChunk, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let [metadata, untimed] = kept.lists;
        self.entries.push(kept.entries);
        self.entries.list(METADATA, &metadata)?;
        self.entries.list(UNTIMED, &untimed)?;
        if self.entries.is_full() {
            self.entries.spill(Order(&chunk.store()))?;
        }
        Ok(())
    }
}

impl KeepChunk for SortedChunk {
    #[inline(always)]
    fn locate(&mut self, event: &Event<'_>, envelope: &mut Envelope) -> EventRef {
        locate_timed(event, self.factor.as_ref(), envelope)
    }

    #[inline(always)]
    fn keep(&mut self, at: &EventRef) {
        match at.times {
            Some((ts, dur)) if !at.is_metadata => {
                let place = Place::new(at.offset, at.len, rank(ts, dur));
                self.entries.push(Entry { time: ts.floor, place });
            }
            _ => {
                let list = if at.is_metadata { METADATA } else { UNTIMED };
                self.lists[list].push(Place::new(at.offset, at.len, 0));
            }
        }
    }

    fn keep_entry(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    fn seal(&mut self, envelope: &mut Envelope) {
        if !self.entries.is_sorted() {
            self.entries.sort_unstable();
        }
        let ends = self.entries.first().zip(self.entries.last());
        envelope.stats.span = ends.map(|(first, last)| (first.time, last.time));
        self.entries.shrink_to_fit();
        self.lists.iter_mut().for_each(Vec::shrink_to_fit);
    }
}

/// Reads times for the observers and stores nothing: 0 bytes per event.
#[derive(Default)]
pub struct TimesOnly {
    scale: Scale,
    needs: Needs,
}

impl TimesOnly {
    /// Sets the factors that multiply the times of each input.
    #[must_use]
    pub fn scaled(mut self, factors: Factors) -> Self {
        self.scale.factors = Some(factors);
        self
    }

    /// Sets the needs of the command that this scan plans, so that the plan counts the same losses.
    #[must_use]
    pub fn with_needs(self, needs: Needs) -> Self {
        TimesOnly { needs, ..self }
    }
}

/// First and last time of one chunk.
pub struct TimesOnlyChunk {
    span: Option<(i64, i64)>,
    factor: Option<Arc<Shift>>,
}

impl Keep for TimesOnly {
    type Chunk = TimesOnlyChunk;

    fn needs(&self) -> Needs {
        self.needs
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        self.scale.begin(input);
    }

    fn starter(&self) -> Starter<TimesOnlyChunk> {
        let factor = self.scale.factor.clone();
        Box::new(move |_| TimesOnlyChunk { span: None, factor: factor.clone() })
    }

    fn merge(&mut self, _: TimesOnlyChunk, _: &SealedChunk<'_>) -> Result<(), Error> {
        Ok(())
    }
}

impl KeepChunk for TimesOnlyChunk {
    #[inline(always)]
    fn locate(&mut self, event: &Event<'_>, envelope: &mut Envelope) -> EventRef {
        locate_timed(event, self.factor.as_ref(), envelope)
    }

    #[inline(always)]
    fn keep(&mut self, at: &EventRef) {
        if let Some(time) = at.time() {
            widen(&mut self.span, time, time);
        }
    }

    fn seal(&mut self, envelope: &mut Envelope) {
        envelope.stats.span = self.span;
    }
}
