//! Decides the new pids and the clock offset of each input, by the rules of a merge.

use crate::config::Config;
use crate::identity::parts::InputParts;
use crate::identity::{UnitFacts, decide_names, key_of, renamed_key};
use crate::inputs::input_watch::decide_clocks;
use crate::report::warning::Warning;
use std::sync::Arc;
use tracemill_cpuprofile::StreamKey;
use tracemill_tokenizer::Nanos;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;

/// New pids and clock offset of one input.
#[derive(Clone, Debug, Default)]
pub struct InputPlace {
    renames: Option<Arc<crate::identity::Renames>>,
    /// Clock offset in nanoseconds.
    offset: i64,
    recording: usize,
}

impl InputPlace {
    /// Returns whether the pids and times of the input stay as written.
    pub fn is_as_written(&self) -> bool {
        self.renames.is_none() && self.offset == 0
    }

    /// Returns the new pid of a process, given its pid as written.
    pub fn pid<'p>(&'p self, written: &'p [u8]) -> &'p [u8] {
        let Some(renames) = self.renames.as_ref().filter(|_| !written.is_empty()) else {
            return written;
        };
        renames.pid(&key_of(Some(written))).map_or(written, Vec::as_slice)
    }

    /// Returns the key of a CPU profile stream, with the new pid of its process.
    pub fn stream_key(&self, key: StreamKey) -> StreamKey {
        match &self.renames {
            Some(renames) => renamed_key(key, renames),
            None => key,
        }
    }

    /// Adds the clock offset to a time; a fraction of a nanosecond stays.
    #[inline]
    pub fn moved_nanos(&self, time: Nanos) -> Nanos {
        Nanos { floor: time.floor.saturating_add(self.offset), ..time }
    }

    /// Returns the clock offset in nanoseconds.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Returns the number of the recording that the input belongs to. Equal ids refer to the same
    /// thing only within one recording.
    pub fn recording(&self) -> usize {
        self.recording
    }

    /// Adds the clock offset to a time in microseconds. For whole nanoseconds, returns the double
    /// nearest to the exact sum.
    pub fn moved(&self, micros: f64) -> f64 {
        /// Largest magnitude up to which a double represents every integer, rounded down.
        const EXACT: f64 = 9e15;
        if self.offset == 0 {
            return micros;
        }
        let nanos = (micros * 1000.0).round();
        if nanos.abs() < EXACT && nanos / 1000.0 == micros {
            return (nanos as i64).saturating_add(self.offset) as f64 / 1000.0;
        }
        micros + self.offset as f64 / 1000.0
    }
}

/// Decides new pids and clock offsets, one entry per report. The warnings name inputs whose clocks
/// could not be aligned.
///
/// # Errors
/// Returns the errors of [`Clocks::decide_offsets`](crate::clock::Clocks::decide_offsets).
pub(super) fn places_of(
    mut facts: Vec<UnitFacts>,
    documents: &[Document],
    inputs: &Inputs,
    config: &Config,
) -> Result<(Vec<InputPlace>, Vec<Warning>), Error> {
    let mut places = vec![InputPlace::default(); inputs.reports.len()];
    if facts.len() < 2 {
        return Ok((places, Vec::new()));
    }
    let store = inputs.store();
    let (clocks, warnings) = decide_clocks(&mut facts, documents, inputs, &store, &config.clocks)?;
    let parts = InputParts::of(documents, inputs);
    let (decided, _) = decide_names(facts, &parts, inputs, &config.identity, &clocks);
    for (number, place) in places.iter_mut().enumerate() {
        place.offset = clocks.shift(number).map_or(0, |shift| shift.offset());
    }
    for unit in decided.rewrite.units {
        let held = inputs.payloads.iter().find(|held| held.base == unit.base);
        if let Some(held) = held {
            places[held.input].renames = unit.renames;
            places[held.input].recording = unit.recording;
        }
    }
    Ok((places, warnings))
}
