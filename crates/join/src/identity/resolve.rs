//! Turns the findings of a scan into the renames of a merge.

use super::decide::decide;
use super::describe::{InputNames, describe, label_events};
use super::input_unit::{InputUnit, UnitDecision, rotated_path};
use super::processes::{IdFilter, Processes, key_of};
use super::rename::{RenamedUnit, Renames, Rewrite};
use super::spelling::IdRanges;
use crate::clock::{ClockSamples, Clocks};
use crate::config::{IdPolicy, IdentityRules, PidPolicy};
use crate::identity::parts::InputParts;
use crate::report::InputIdentity;
use memmap2::MmapMut;
use std::path::Path;
use std::sync::Arc;
use tracemill_cpuprofile::{StreamKey, StreamOrders, stream_key};
use tracemill_tokenizer::Event;
use tracemill_trace::input::source::Source;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::{Error, ErrorKind};
use tracemill_trace::run::memory::Lease;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::store::place::{Long, Place};
use tracemill_trace::store::{Payload, Segment, Store};

/// Facts found in one input, or in a synthetic input.
#[derive(Debug, Default)]
pub struct UnitFacts {
    pub(crate) base: u64,
    pub(crate) processes: Processes,
    pub(crate) streams: StreamOrders,
    /// Clock samples, if clocks are compared.
    pub(crate) samples: Option<Box<ClockSamples>>,
}

/// Returns whether the sources may expand to several inputs.
pub fn may_be_several(sources: &[Source]) -> bool {
    sources.len() > 1 || sources.iter().any(Source::is_folder)
}

/// Returns the ids to observe, or `None` if nothing can be renamed or labeled.
pub(crate) fn watched(
    several: bool,
    rules: &IdentityRules,
    offsets: Option<Lease>,
) -> Option<Arc<IdFilter>> {
    let keeps = rules.pid == PidPolicy::Keep && rules.ids == IdPolicy::Keep || !several;
    let says = !rules.labels.is_empty()
        || rules.label_from_name.is_some()
        || !rules.stated.is_empty()
        || rules.provenance;
    let args_keys: Vec<_> = rules.args_keys.iter().map(|key| key.clone().into_bytes()).collect();
    // values in args are searched for
    let offsets = offsets.filter(|_| args_keys.is_empty());
    (!keeps || says).then(|| Arc::new(IdFilter { args_keys, offsets }))
}

/// The renames decided for all inputs.
#[derive(Default)]
pub struct DecidedNames {
    units: Vec<InputUnit>,
    decision: UnitDecision,
    /// Renames and time shifts for the events.
    pub rewrite: Rewrite,
}

/// Decides pids and ids. Also returns the streams of all units, merged under their new keys.
///
/// `split_parts` has the inputs that are parts of a trace.
pub fn decide_names(
    parts: Vec<UnitFacts>,
    split_parts: &InputParts,
    inputs: &Inputs,
    rules: &IdentityRules,
    clocks: &Clocks,
) -> (DecidedNames, StreamOrders) {
    let by_base: HashMap<u64, _> = inputs.payloads.iter().map(|held| (held.base, held)).collect();
    let stated: HashMap<&Path, _> =
        rules.stated.iter().map(|rule| (&*rule.path, rule)).rev().collect();
    let (mut units, mut orders, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    for mut part in parts {
        let Some(held) = by_base.get(&part.base) else { continue };
        // only the last input is still unfinished
        part.processes.finish();
        if let Some(shift) = clocks.shift(held.input) {
            part.processes.move_times(|time| shift.moved(time));
            part.streams = part.streams.with_times(|time| shift.moved(time));
        }
        let name = Path::new(&inputs.reports[held.input].name);
        let end = held.base + held.payload.len();
        offsets.push(std::mem::take(&mut part.processes.offsets));
        let begins = part.streams.begins().map(|(key, begin)| (key.clone(), begin));
        units.push(InputUnit {
            base: part.base,
            input: held.input,
            synthetic: held.synthetic,
            rotated_path: rotated_path(name),
            part_of: split_parts.first_between(held.base, end).map(<[u8]>::to_vec),
            processes: part.processes,
            streams: begins.collect(),
            stated: stated.get(name).copied().cloned(),
        });
        orders.push(part.streams);
    }
    let decision = decide(&units, rules);
    let mut streams = StreamOrders::default();
    for (order, outcome) in orders.into_iter().zip(&decision.outcomes) {
        streams.append(match &outcome.renames {
            None => order,
            Some(renames) => order.with_keys(|key| renamed_key(key, renames)),
        });
    }
    let renamed = units.iter().zip(&decision.outcomes).zip(offsets);
    let renamed = renamed.map(|((unit, outcome), offsets)| RenamedUnit {
        base: unit.base,
        recording: outcome.recording,
        renames: outcome.renames.clone(),
        offsets: (outcome.renames.is_some() && !offsets.is_partial).then(|| Arc::new(offsets)),
        frames: None,
        shift: clocks.shift(unit.input).cloned(),
    });
    let keeps_frames = rules.ids == IdPolicy::Keep || rules.pid == PidPolicy::Keep;
    let rewrite = Rewrite { units: renamed.collect(), keeps_frames };
    (DecidedNames { units, decision, rewrite }, streams)
}

/// Returns the key of a stream, with the new pid of its process if there is one.
pub(crate) fn renamed_key(key: StreamKey, renames: &Renames) -> StreamKey {
    // stream keys begin with a pid key, which is self-delimiting
    let end = match key.split_first_chunk::<9>() {
        Some(([b'"', len @ ..], _)) => 10 + u64::from_le_bytes(*len) as usize,
        _ => key.iter().position(|&byte| byte == 0).map_or(key.len(), |at| at + 1),
    };
    match renames.pid(&key[..end]) {
        Some(new) => [&*key_of(Some(new)), &key[end..]].concat(),
        None => key,
    }
}

impl DecidedNames {
    /// Returns the key of an event's stream under its new names.
    pub fn stream_key(&self, event: &Event<'_>, place: Place) -> StreamKey {
        let key = stream_key(event);
        let unit = self.rewrite.unit_at(place.offset());
        let renames = unit.and_then(|unit| self.rewrite.units[unit].renames.as_ref());
        match renames {
            Some(renames) => renamed_key(key, renames),
            None => key,
        }
    }

    /// Returns the args keys that no input contains.
    pub fn args_keys_absent(&self, rules: &IdentityRules) -> Vec<String> {
        let is_absent = |number: &usize| {
            let mut looked =
                self.units.iter().filter_map(|unit| unit.processes.ids.get(1 + number));
            looked.clone().next().is_some() && looked.all(IdRanges::is_empty)
        };
        let keys = rules.args_keys.iter().enumerate();
        keys.filter(|(number, _)| is_absent(number)).map(|(_, key)| key.clone()).collect()
    }

    /// Describes the renames of each input.
    pub fn describe(&self, inputs: &Inputs, rules: &IdentityRules) -> Vec<InputIdentity> {
        describe(
            &self.units,
            &self.decision,
            &self.rewrite,
            &InputNames { rules, inputs: &inputs.reports },
        )
    }

    /// Creates the events that label the inputs, as one more input at `base`. Returns `None` if no
    /// input has a label.
    pub fn labels(
        &mut self,
        inputs: &Inputs,
        rules: &IdentityRules,
        base: u64,
    ) -> Result<Option<LabelEvents>, Error> {
        let names = InputNames { rules, inputs: &inputs.reports };
        let events = label_events(&self.units, &self.rewrite, &names);
        let len: usize = events.iter().map(Vec::len).sum();
        if len == 0 {
            return Ok(None);
        }
        let end = base + len as u64;
        if end >= Store::MOST {
            return Err(ErrorKind::TooLarge { bytes: end, most: Store::MOST }.into());
        }
        let memory = MmapMut::map_anon(len).map_err(|e| Error::read("labels", e));
        let (mut bytes, mut places, mut long) = (memory?, Vec::new(), Vec::new());
        let mut at = 0;
        for event in &events {
            bytes[at..at + event.len()].copy_from_slice(event);
            let offset = base + at as u64;
            if Place::is_long(event.len()) {
                long.push((offset, event.len() as u64));
            }
            places.push(Place::new(offset, event.len(), 0));
            at += event.len();
        }
        // these events already have their new pids
        self.rewrite.units.push(RenamedUnit::unchanged(base));
        let payload = Payload::Segments(vec![Segment { base: 0, bytes, filled: len }]);
        Ok(Some(LabelEvents { payload, base, places, long, bytes: len as u64 }))
    }
}

/// Synthetic events that show labels.
pub struct LabelEvents {
    /// Text of the events.
    pub payload: Payload,
    /// Offset of the text in the address space.
    pub base: u64,
    /// References to the events.
    pub places: Vec<Place>,
    /// References to the oversized events.
    pub long: Vec<Long>,
    /// Size of the text in bytes.
    pub bytes: u64,
}
