//! What inputs are beside each other: whose processes are whose, and what is added to their times, by the rules of a merge.

use crate::clock::{ClockSamples, ClockWatch, Clocks};
use crate::config::Config;
use crate::identity::{IdFilter, ProcessFindings, UnitFacts};
use crate::identity::{decide_names, key_of, may_be_several, watched};
use crate::parts::signs_of_parts;
use crate::warning::Warning;
use std::sync::Arc;
use tracemill_core::entry::Entry;
use tracemill_core::envelope::Document;
use tracemill_core::error::Error;
use tracemill_core::place::Place;
use tracemill_core::read::Inputs;
use tracemill_core::source::Source;
use tracemill_core::store::Store;
use tracemill_profile::StreamOrders;
use tracemill_tokenizer::Event;

/// The place of an input among the others: the new pids of its processes, and how its times are moved.
#[derive(Clone, Debug, Default)]
pub struct InputPlace {
    renames: Option<Arc<crate::identity::Renames>>,
    /// Nanoseconds.
    offset: i64,
    recording: usize,
}

impl InputPlace {
    /// Whether all stays as it is written.
    pub fn is_as_written(&self) -> bool {
        self.renames.is_none() && self.offset == 0
    }

    /// A pid, as written, with its new name.
    pub fn pid<'p>(&'p self, written: &'p [u8]) -> &'p [u8] {
        let Some(renames) = self.renames.as_ref().filter(|_| !written.is_empty()) else {
            return written;
        };
        renames.pid(&key_of(Some(written))).map_or(written, Vec::as_slice)
    }

    /// What is added to its times, in nanoseconds.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Inputs of one number are parts of one recording, in which equal ids are one thing; those of others are not.
    pub fn recording(&self) -> usize {
        self.recording
    }

    /// A time in microseconds on the line of all inputs: the double nearest to the sum, where the time is one of whole nanoseconds.
    pub fn moved(&self, micros: f64) -> f64 {
        /// Beyond it doubles are no longer every whole number.
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

/// What is to be looked for in events.
#[derive(Clone)]
pub(super) struct Watch {
    names: Option<Arc<IdFilter>>,
    clocks: Option<Arc<ClockWatch>>,
    /// Whether there may be several inputs.
    several: bool,
}

impl Watch {
    pub(super) fn of(sources: &[Source], config: &Config) -> Self {
        let several = may_be_several(sources);
        Watch {
            names: watched(several, &config.identity).filter(|_| several),
            clocks: config.clocks.watch(several),
            several,
        }
    }

    /// To be filled; `None` if nothing is looked for.
    pub(super) fn begin(&self) -> Option<Box<UnitFindings>> {
        self.several.then(|| {
            let processes = self.names.clone().map(ProcessFindings::new);
            let sightings = self.clocks.clone().map(ClockSamples::new);
            Box::new(UnitFindings { processes, sightings, ..UnitFindings::default() })
        })
    }
}

/// What was found in a stretch of an input.
#[derive(Default)]
pub(super) struct UnitFindings {
    processes: Option<ProcessFindings>,
    sightings: Option<ClockSamples>,
    streams: StreamOrders,
    /// First and last time, in nanoseconds.
    pub(super) span: Option<(i64, i64)>,
}

impl UnitFindings {
    pub(super) fn note(&mut self, event: &Event<'_>, offset: u64) {
        let is_metadata = event.is_metadata();
        let time = event.ts().filter(|_| !is_metadata).map(|ts| ts.floor);
        if let Some(processes) = &mut self.processes {
            processes.note(event, time);
        }
        if let Some(time) = time {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
            if let Some(sightings) = &mut self.sightings {
                sightings.note(event, time, None);
            }
        }
        if !is_metadata {
            let place = Place::new(offset, event.bytes.len(), 0);
            self.streams.note(event, Entry { time: time.unwrap_or(i64::MIN), place });
        }
    }
}

/// What was found in all inputs, by where they stand.
#[derive(Default)]
pub(super) struct Units(Vec<UnitFacts>);

impl Units {
    pub(super) fn take(&mut self, base: u64, seen: UnitFindings) {
        if self.0.last().is_none_or(|unit| unit.base != base) {
            self.0.last_mut().into_iter().for_each(|last| last.processes.finish());
            self.0.push(UnitFacts { base, ..UnitFacts::default() });
        }
        if let Some(unit) = self.0.last_mut() {
            unit.streams.append(seen.streams);
            seen.processes.into_iter().for_each(|processes| unit.processes.append(processes));
            if let Some(sightings) = seen.sightings {
                unit.sightings.get_or_insert_default().append(sightings);
            }
        }
    }

    /// What each input is, by its number, and what there is to say of clocks.
    pub(super) fn decide(
        self,
        documents: &[Document],
        inputs: &Inputs,
        config: &Config,
    ) -> Result<(Vec<InputPlace>, Vec<Warning>), Error> {
        let Units(mut units) = self;
        let mut places = vec![InputPlace::default(); inputs.reports.len()];
        if units.len() < 2 {
            return Ok((places, Vec::new()));
        }
        let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
        let store = Store::new(payloads);
        let sightings =
            units.iter_mut().filter_map(|unit| unit.sightings.take().map(|own| (unit.base, *own)));
        let (clocks, warnings) =
            Clocks::decide_offsets(sightings, documents, inputs, &store, &config.clocks)?;
        let signs = signs_of_parts(documents, &store);
        let (decided, _) = decide_names(units, &signs, inputs, &config.identity, &clocks);
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
}
