//! The scan: each event that a thread's tree can hold becomes a record of 32 bytes in the lane of its thread.
//!
//! A record keeps what every tree needs. What only some rows need (trace ids of samples, requests, URLs, frames) stands in
//! `args` and is decoded by the worker only where a quick search finds the word; equal ones are kept once.

use crate::entries::sorting::Sorting;
use crate::events::bounds::{Bounding, EventTime, EventTimes, TraceBounds};
use crate::events::compiled::{Included, is_sum};
use crate::events::counters::Counters;
use crate::events::details::DetailsTable;
use crate::events::devices::{DeviceEvent, Role};
use crate::events::images::Images;
use crate::events::kinds::{Kind, Kinds, NO_CAT};
use crate::events::lacks::Lacks;
use crate::events::meta::{Meta, Notable};
use crate::events::pages::Pages;
use crate::events::requests::Requests;
use crate::read::asked::{Asked, LastKinds};
use crate::trace::ReadRules;
use crate::value::clock::{FAR, nanos_of, written};
use crate::value::record::{ChunkPosition, Record};
use crate::value::{micros, string};
use std::collections::BTreeMap;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field, Validator};
use tracemill_trace::Error;
use tracemill_trace::event::names::Names;
use tracemill_trace::observe::{EventRef, Look};
use tracemill_trace::spill::SpillVec;
use tracemill_trace::spill::hash::HashMap;
use tracemill_viewers::required_args::lacking_of;

/// A thread, and its events of a stretch.
pub(crate) struct Lane {
    /// As written, or the canonical form of numbers; empty if missing.
    pub(crate) pid: Box<[u8]>,
    pub(crate) tid: Box<[u8]>,
    /// The number of its input.
    pub(crate) input: usize,
    /// Those of a stretch, in input order.
    records: Vec<Record>,
}

/// What is found in the events of a stretch, or of all.
#[derive(Default)]
pub(crate) struct Facts {
    rules: ReadRules,
    pub(crate) names: Names,
    pub(crate) kinds: Kinds,
    pub(crate) details: DetailsTable,
    /// In the order of their first events.
    pub(crate) lanes: Vec<Lane>,
    numbers: HashMap<Box<[u8]>, usize>,
    last: Option<usize>,
    /// Events of the scan that names, frames and bounds are made of, with the numbers of their inputs.
    pub(crate) notable: Vec<(usize, Notable)>,
    /// Times of the events of a chunk.
    times: EventTimes,
    /// The same of each input.
    times_of_inputs: Vec<EventTimes>,
    pub(crate) bounds: TraceBounds,
    /// Whether an event says that Chrome recorded the trace for DevTools.
    pub(crate) is_web: bool,
    /// What events lack so that DevTools refuses the trace.
    pub(crate) lacks: Lacks,
    /// Whether some are no JSON.
    pub(crate) has_lapses: bool,
    validator: Validator,
    /// Events of threads that have no time.
    pub(crate) untimed: u64,
    /// Number of events of each phase that no thread's tree can hold.
    pub(crate) unfiled: BTreeMap<u8, u64>,
    /// What counters tell, if that is wanted.
    pub(crate) counters: Counters,
    /// What Chrome tells of pages, if that is wanted.
    pub(crate) pages: Pages,
    /// What it tells of images, if URLs are wanted.
    pub(crate) images: Images,
    /// The last events that requests are made of, if URLs are wanted.
    pub(crate) requests: Requests,
    /// What clang tells of files that it includes, if that is wanted.
    pub(crate) included: Included,
    /// What PyTorch's profiler tells of devices in a stretch, if that is wanted.
    devices: Vec<DeviceEvent>,
    /// Of each kind, and those seen last.
    asked: Vec<Asked>,
    last_kinds: LastKinds,
    /// What events of each kind are to a device.
    roles: Vec<Option<Role>>,
    /// Bytes of heap of the notable events.
    notable_bytes: u64,
    scratch: Vec<u8>,
}

impl Facts {
    pub(crate) fn new(rules: ReadRules) -> Self {
        Facts { rules, ..Facts::default() }
    }

    /// The lane of an event: that of the event before, if it is the same.
    fn lane(&mut self, input: usize, pid: &[u8], tid: &[u8]) -> usize {
        if let Some(last) = self.last.map(|last| &self.lanes[last])
            && (last.input, &*last.pid, &*last.tid) == (input, pid, tid)
        {
            return self.last.unwrap_or(0);
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(&input.to_le_bytes());
        self.scratch.extend_from_slice(pid);
        self.scratch.push(0xFF);
        self.scratch.extend_from_slice(tid);
        let lane = match self.numbers.get(&*self.scratch) {
            Some(&lane) => lane,
            None => {
                self.numbers.insert(self.scratch.as_slice().into(), self.lanes.len());
                self.lanes.push(Lane {
                    pid: pid.into(),
                    tid: tid.into(),
                    input,
                    records: Vec::new(),
                });
                self.lanes.len() - 1
            }
        };
        *self.last.insert(lane)
    }

    fn kind(&mut self, event: &Event<'_>) -> u32 {
        let (name, cat) = (event.field(Field::Name), event.field(Field::Cat));
        let written = (name.unwrap_or_default(), cat.unwrap_or_default());
        if let Some(kind) = self.last_kinds.get(written.0, written.1) {
            return kind;
        }
        let name = match name {
            Some(name) if self.rules.fold_numbers => self.folded(name),
            name => self.text(name).unwrap_or(0),
        };
        let cat = self.text(cat).unwrap_or(NO_CAT);
        let kind = self.kinds.number(Kind { name, cat });
        self.last_kinds.put(written.0, written.1, kind);
        kind
    }

    fn asked(&mut self, kind: u32) -> Asked {
        while self.asked.len() <= kind as usize {
            let next = self.asked.len() as u32;
            self.asked.push(Asked::of(next, &self.kinds, &self.names, self.rules));
        }
        self.asked[kind as usize]
    }

    /// The number of a name with an N for each run of digits.
    fn folded(&mut self, name: &[u8]) -> u32 {
        let name = string(name).unwrap_or_else(|| name.to_vec());
        self.scratch.clear();
        for digits_or_not in name.chunk_by(|a, b| a.is_ascii_digit() && b.is_ascii_digit()) {
            let is_number = digits_or_not[0].is_ascii_digit();
            self.scratch.extend_from_slice(if is_number { b"N" } else { digits_or_not });
        }
        self.names.number(&self.scratch)
    }

    /// The number of a text field's content.
    fn text(&mut self, value: Option<&[u8]>) -> Option<u32> {
        value.map(|value| self.names.written(value))
    }

    /// Notes what an event lacks so that DevTools refuses the trace; by its name it may lack something, or not.
    fn note_lack(&mut self, event: &Event<'_>, may_lack: bool) {
        if self.asks_refusals()
            && let Some(lack) = lacking_of(event, may_lack)
        {
            self.lacks.note(lack, event);
        }
    }

    /// What an event of a kind is to a device: asked once a kind.
    fn role(&mut self, kind: u32) -> Option<Role> {
        while self.roles.len() <= kind as usize {
            let Kind { name, cat } = self.kinds.all[self.roles.len()];
            let cat = if cat == NO_CAT { &b""[..] } else { self.names.bytes_of(cat) };
            self.roles.push(Role::of(cat, self.names.bytes_of(name)));
        }
        self.roles[kind as usize]
    }

    /// Takes over what was found in a later chunk; its records go to `sorting`, and what is of devices to a list of its own.
    pub(crate) fn append(
        &mut self,
        later: Facts,
        chunk: ChunkPosition,
        sorting: &mut Sorting,
        devices: &mut SpillVec<DeviceEvent>,
    ) -> Result<(), Error> {
        let texts = self.names.append(&later.names);
        let kinds = self.kinds.append(&later.kinds, &texts);
        let details = self.details.append(&later.details, &texts);
        let mut lanes = Vec::with_capacity(later.lanes.len());
        for mut lane in later.lanes {
            let at = self.lane(chunk.input, &lane.pid, &lane.tid);
            lanes.push(at as u32);
            for record in &mut lane.records {
                let kind = kinds[record.kind as usize];
                *record = record.behind(chunk.first, kind, details[record.details as usize]);
            }
            sorting.take(at as u32, lane.records)?;
        }
        let notable = later.notable.into_iter().map(|(_, event)| (chunk.input, event));
        self.notable.extend(notable);
        self.notable_bytes += later.notable_bytes;
        while self.times_of_inputs.len() <= chunk.input {
            self.times_of_inputs.push(Default::default());
        }
        self.times_of_inputs[chunk.input].append(later.times);
        self.counters.append(&later.counters, chunk.input, &texts);
        self.pages.append(later.pages, chunk.input, chunk.first);
        self.images.append(later.images, chunk.input, chunk.first);
        self.requests.append(later.requests, chunk.first);
        self.included.append(later.included, chunk.first, &texts, &lanes);
        for device in later.devices {
            devices.push(device.behind(chunk, &lanes, &texts))?;
        }
        self.is_web |= later.is_web;
        self.untimed += later.untimed;
        for (phase, count) in later.unfiled {
            *self.unfiled.entry(phase).or_default() += count;
        }
        self.lacks.append(later.lacks, chunk.input);
        self.has_lapses |= later.has_lapses;
        Ok(())
    }

    /// Bytes of heap of what every record refers to.
    pub(crate) fn heap(&self) -> u64 {
        /// Of a lane, its name in the table, and its thread.
        const LANE: u64 = 400;
        let tables = self.names.heap() + self.kinds.heap() + self.details.heap();
        let tables = tables
            + self.counters.heap()
            + self.pages.heap()
            + self.included.heap()
            + self.images.heap()
            + self.requests.heap()
            + self.lacks.heap();
        tables + self.lanes.len() as u64 * LANE + self.notable_bytes
    }

    /// All of it where the inputs stand beside each other: lanes of one thread become one. Gives the number that each lane has then, and
    /// its input.
    pub(crate) fn unite<'p>(
        &mut self,
        place: impl Fn(usize) -> &'p InputPlace,
    ) -> Vec<(u32, usize)> {
        self.numbers = HashMap::default();
        for lane in &mut self.lanes {
            let pid = place(lane.input).pid(&lane.pid);
            if *pid != *lane.pid {
                lane.pid = pid.into();
            }
        }
        let mut numbers: HashMap<(&[u8], &[u8]), u32> = HashMap::default();
        let mut moved = Vec::with_capacity(self.lanes.len());
        for lane in &self.lanes {
            let next = numbers.len() as u32;
            moved.push((*numbers.entry((&lane.pid, &lane.tid)).or_insert(next), lane.input));
        }
        drop(numbers);
        // of each thread the first is left
        let (mut next, mut of) = (0, moved.iter());
        self.lanes.retain(|_| {
            let is_first = of.next().is_some_and(|own| own.0 == next);
            next += u32::from(is_first);
            is_first
        });
        moved
    }

    /// Returns whether DevTools finds the time of an event.
    pub(crate) fn are_drawn(&self) -> bool {
        self.times_of_inputs.iter().any(EventTimes::are_drawn)
    }

    /// Decides which events bound the trace: with `drawn_only` those that DevTools takes.
    pub(crate) fn bound<'p>(&mut self, drawn_only: bool, place: impl Fn(usize) -> &'p InputPlace) {
        self.bounds = TraceBounds::of(&self.times_of_inputs, drawn_only, place);
    }

    /// Of each kind whether its events say how long the trace lasts.
    pub(crate) fn bounding(&mut self) -> Vec<bool> {
        let all = (0..self.kinds.all.len() as u32).map(|kind| self.asked(kind));
        all.map(|asked| asked.bounding == Bounding::Drawn).collect()
    }

    /// What the notable events say.
    pub(crate) fn meta<'p>(&mut self, place: impl Fn(usize) -> &'p InputPlace) -> Meta {
        let mut meta = Meta::default();
        let notable = std::mem::take(&mut self.notable);
        notable.iter().for_each(|(input, event)| meta.note(event, place(*input)));
        meta.finish();
        self.pages.align_inputs(place);
        meta
    }
}

/// Nanoseconds that the double of an event's time is too coarse for.
#[cold]
fn rest_of(event: &Event<'_>, ts: f64) -> i64 {
    let exact = event.field(Field::Ts).and_then(written);
    exact.map_or(0, |exact| exact.saturating_sub(nanos_of(ts)))
}

impl Look for Facts {
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.note(event, at.number);
        true
    }
}

impl Facts {
    /// Whether events must say if they are proved to be JSON, because what DevTools refuses is looked for.
    pub(crate) fn asks_refusals(&self) -> bool {
        !self.rules.ignore_refusals
    }

    /// Notes an event, the `number_in`th of its chunk.
    #[inline]
    fn note(&mut self, event: &Event<'_>, number_in: u64) {
        self.has_lapses |= self.asks_refusals()
            && !event.is_proved()
            && self.validator.check(event.bytes).is_err();
        if let Some(notable) = Notable::of(event) {
            self.is_web |= notable.is_web();
            self.notable_bytes += notable.heap();
            self.notable.push((0, notable));
        }
        let phase = event.phase();
        if self.rules.wanted.report {
            self.pages.note(event, number_in);
        }
        if self.rules.wanted.urls {
            self.images.note(event, number_in);
            self.requests.note(event, number_in);
        }
        if !matches!(phase, b'X' | b'I' | b'B' | b'E') {
            self.note_lack(event, true);
            *self.unfiled.entry(phase).or_default() += 1;
            if phase != b'M'
                && let Some(ts) = micros(event, Field::Ts)
            {
                let rest = if ts.abs() < FAR { 0 } else { rest_of(event, ts) };
                self.times.note(event, EventTime { ts, dur: 0.0, rest }, Bounding::Other);
            }
            match phase {
                b'C' if self.rules.wanted.report => self.counters.note(event, &mut self.names),
                b'b' | b'e' if self.rules.wanted.report && Included::is(event) => {
                    let id = |field| event.field(field).unwrap_or_default();
                    let lane = self.lane(0, id(Field::Pid), id(Field::Tid)) as u32;
                    self.included.note(event, lane, number_in, &mut self.names);
                }
                _ => {}
            }
            return;
        }
        let is_time = |time: &f64| time.is_finite() || self.rules.as_devtools;
        let Some(ts) = micros(event, Field::Ts).filter(is_time) else {
            self.note_lack(event, true);
            self.untimed += 1;
            return;
        };
        let dur = micros(event, Field::Dur).filter(is_time).unwrap_or(0.0);
        let rest = if ts.abs() < FAR { 0 } else { rest_of(event, ts) };
        let kind = self.kind(event);
        let (name, asked) = (self.kinds.all[kind as usize].name, self.asked(kind));
        self.note_lack(event, asked.may_lack);
        if asked.may_be_sum && is_sum(event, ts) {
            return;
        }
        self.times.note(event, EventTime { ts, dur, rest }, asked.bounding);
        let sought = asked.sought(phase);
        let found = sought.and_then(|sought| sought.details(event, name, &mut self.names));
        let details = found.map_or(0, |found| self.details.number(found));
        // the duration of a B is what its E says
        let dur = if matches!(phase, b'B' | b'E') { 0.0 } else { dur };
        let id = |field| event.field(field).unwrap_or_default();
        let lane = self.lane(0, id(Field::Pid), id(Field::Tid));
        let record = Record::new(ts, dur, kind, details, number_in, phase);
        self.lanes[lane].records.push(record.with_rest(rest));
        if self.rules.wanted.report
            && phase == b'X'
            && let Some(role) = self.role(kind)
        {
            let device_event = DeviceEvent::of(event, role, lane as u32, name, number_in);
            self.devices.extend(device_event);
        }
    }
}
