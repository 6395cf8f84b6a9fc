//! Byte ranges of one input that replace a full scan, and the checksum that verifies their events.

use super::event_sum::event_sum;
use super::index_file::{IndexFile, IndexOutcome, Stop};
use crate::config::Config;
use crate::inputs;
use std::sync::atomic::Ordering;
use tracemill_tokenizer::Event;
use tracemill_trace::Limits;
use tracemill_trace::input::packed::Stretch;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{EventRef, Keep, Look, Observer, Scanned, SealedChunk, Starter};
use tracemill_trace::read::pieces::ChosenPieces;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::losses::InputReport;

/// Byte ranges of a single-document input that a command needs, according to the index.
#[derive(Debug)]
pub struct ReadPlan {
    /// The index that was queried.
    pub index: IndexFile,
    /// The input to read.
    pub source: Source,
    /// The byte ranges of the input.
    pub ranges: ChosenPieces,
    /// Expected number and checksum of the events in the ranges.
    pub sum: EventSum,
    /// Number of event bytes in the ranges. Excludes events whose length the index does not have.
    pub bytes: u64,
    /// The report of the input, as a full read would return it.
    pub report: InputReport,
}

impl ReadPlan {
    /// Returns the number of bytes of text to decompress for the ranges.
    pub fn unpacked(&self) -> u64 {
        let spans = self.ranges.unpacked.iter().flat_map(|unpacking| &unpacking.spans);
        spans.map(Stretch::bytes).sum()
    }

    /// Reads the ranges. Returns `None` if the events in the ranges do not match the index.
    ///
    /// Ranges of a damaged input may contain its damage; only the checksum of the events counts.
    ///
    /// # Errors
    /// Returns [`Cancelled`](tracemill_trace::run::error::ErrorKind::Cancelled) if the run was
    /// cancelled. The full scan that follows reports any other error.
    pub fn read<K: Keep, O: Observer>(
        &self,
        keep: K,
        observer: O,
        config: &Config,
    ) -> Result<Option<Scanned<K, O>>, Error> {
        let observers = (EventSum::default(), observer);
        let scanned = inputs::scan_pieces(&self.source, &self.ranges, config, keep, observers);
        let Ok(Scanned { mut inputs, index, observed: (sum, observed) }) = scanned else {
            return config.limits.cancel.check().map(|()| None);
        };
        let is_one = matches!((&index.documents[..], &inputs.reports[..]), ([_], [_]));
        let lost = inputs.reports.iter().map(InputReport::lost).sum::<u64>();
        if !is_one || lost > 0 && self.report.lost() == 0 || sum != self.sum {
            return Ok(None);
        }
        for report in &mut inputs.reports {
            let InputReport { name, lapses, .. } = std::mem::take(report);
            *report = InputReport { name, lapses, ..self.report.clone() };
        }
        Ok(Some(Scanned { inputs, index, observed }))
    }

    /// Resets the progress, and converts the reason for a full scan into the outcome of the run.
    ///
    /// # Errors
    /// Returns the errors of [`IndexFile::reject`].
    pub fn reject(&self, stop: Stop, limits: &Limits) -> Result<IndexOutcome, Error> {
        limits.progress.bytes_scanned.store(0, Ordering::Relaxed);
        self.index.reject(stop)
    }
}

/// Number of events, and the sum of their checksums modulo 2³².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventSum {
    /// Number of events.
    pub events: u64,
    /// Sum of the checksums.
    pub sum: u32,
}

impl EventSum {
    /// Adds the counts and sums of other events.
    pub fn add(&mut self, other: EventSum) {
        self.events = self.events.wrapping_add(other.events);
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl Look for EventSum {
    #[inline]
    fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
        self.add(EventSum { events: 1, sum: event_sum(event.offset, event.bytes) });
        true
    }
}

impl Observer for EventSum {
    type Chunk = EventSum;

    fn starter(&self) -> Starter<EventSum> {
        Box::new(|_| EventSum::default())
    }

    fn merge(&mut self, found: EventSum, _: &SealedChunk<'_>) -> Result<(), Error> {
        self.add(found);
        Ok(())
    }
}
