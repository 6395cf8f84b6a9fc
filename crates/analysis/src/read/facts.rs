//! The scan: converts each event on a thread to a record of 32 bytes on the thread's track.
//!
//! Data for some rows only (trace ids of samples, requests, URLs, frames) is decoded from `args`
//! where a quick search finds its key.

use crate::events::bounds::{Bounding, EventTime, EventTimes, TraceBounds};
use crate::events::carried::StacksOfChunk;
use crate::events::causes::{CauseEvent, ids_of, thread_text};
use crate::events::compiled::{Included, is_sum};
use crate::events::counters::Counters;
use crate::events::cpu_times::ChunkCpuTimes;
use crate::events::details::{DetailsTable, Numbered, Sought};
use crate::events::devices::{DeviceEvent, Role};
use crate::events::images::Images;
use crate::events::kinds::{Kind, Kinds, NO_CAT};
use crate::events::lacks::Lacks;
use crate::events::meta::{Meta, Notable};
use crate::events::pages::Pages;
use crate::events::requests::Requests;
use crate::events::tracks::{NO_LANE, TrackEvent, TrackPlace};
use crate::read::asked::{Asked, LastKinds};
use crate::read::spools::EventSpools;
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
use tracemill_trace::spill::hash::HashMap;
use tracemill_viewers::color::color_of;
use tracemill_viewers::required_args::lacking_of;

/// A track: a thread of an input, and the records of its events in a chunk.
pub(crate) struct Lane {
    /// Pid as written, or the canonical form of a number; empty if missing.
    pub(crate) pid: Box<[u8]>,
    pub(crate) tid: Box<[u8]>,
    pub(crate) input: usize,
    /// Records of a chunk, in input order.
    records: Vec<Record>,
}

/// Facts about the events of a chunk, or of all inputs.
#[derive(Default)]
pub(crate) struct Facts {
    rules: ReadRules,
    pub(crate) names: Names,
    pub(crate) kinds: Kinds,
    pub(crate) details: DetailsTable,
    /// Tracks in the order of their first events.
    pub(crate) lanes: Vec<Lane>,
    numbers: HashMap<Box<[u8]>, usize>,
    last: Option<usize>,
    /// Events with metadata (names, frames, bounds), each with the number of its input.
    pub(crate) notable: Vec<(usize, Notable)>,
    /// Times of the events of a chunk.
    times: EventTimes,
    /// Times of each input.
    times_of_inputs: Vec<EventTimes>,
    pub(crate) bounds: TraceBounds,
    /// Whether an event shows that Chrome recorded the trace for DevTools.
    pub(crate) is_web: bool,
    /// Missing fields that make DevTools refuse the trace.
    pub(crate) lacks: Lacks,
    /// Whether some events are not JSON.
    pub(crate) has_lapses: bool,
    validator: Validator,
    /// Number of events on threads that have no time.
    pub(crate) untimed: u64,
    /// Number of events that belong to no thread, by phase.
    pub(crate) unfiled: BTreeMap<u8, u64>,
    /// Values of counters, if requested.
    pub(crate) counters: Counters,
    /// Chrome's page events, if requested.
    pub(crate) pages: Pages,
    /// Image events, if URLs are requested.
    pub(crate) images: Images,
    /// Last events of requests, if URLs are requested.
    pub(crate) requests: Requests,
    /// Clang's include events, if requested.
    pub(crate) included: Included,
    /// GPU events of PyTorch's profiler in a chunk, if requested.
    devices: Vec<DeviceEvent>,
    /// Events of a chunk in DevTools' tracks, if requested.
    tracks: Vec<TrackEvent>,
    /// Events of a chunk that may cause others, if requested.
    causes: Vec<CauseEvent>,
    /// CPU times of the events of a chunk, if requested.
    cpu_times: ChunkCpuTimes,
    /// Stacks of the events of a chunk, if causes are requested.
    stacks: StacksOfChunk,
    /// Number of the text of the thread of the last event that may cause others.
    last_thread: Option<u32>,
    /// Properties of each kind.
    properties: Vec<Asked>,
    last_kinds: LastKinds,
    /// GPU role of each kind.
    roles: Vec<Option<Role>>,
    /// Heap bytes of `notable`.
    notable_bytes: u64,
    scratch: Vec<u8>,
}

impl Facts {
    pub(crate) fn new(rules: ReadRules) -> Self {
        Facts { rules, ..Facts::default() }
    }

    /// Returns the track of an event.
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

    fn properties(&mut self, kind: u32) -> Asked {
        while self.properties.len() <= kind as usize {
            let next = self.properties.len() as u32;
            self.properties.push(Asked::of(next, &self.kinds, &self.names, self.rules));
        }
        self.properties[kind as usize]
    }

    /// Replaces each run of digits in a name by `N`, and returns the number of the result as a
    /// text.
    fn folded(&mut self, name: &[u8]) -> u32 {
        let name = string(name).unwrap_or_else(|| name.to_vec());
        self.scratch.clear();
        for digits_or_not in name.chunk_by(|a, b| a.is_ascii_digit() && b.is_ascii_digit()) {
            let is_number = digits_or_not[0].is_ascii_digit();
            self.scratch.extend_from_slice(if is_number { b"N" } else { digits_or_not });
        }
        self.names.number(&self.scratch)
    }

    fn text(&mut self, value: Option<&[u8]>) -> Option<u32> {
        value.map(|value| self.names.written(value))
    }

    /// Notes a missing field that makes DevTools refuse the trace. `may_lack` tells whether events
    /// of this name may lack members of `args`.
    fn note_lack(&mut self, event: &Event<'_>, may_lack: bool) {
        if self.asks_refusals()
            && let Some(lack) = lacking_of(event, may_lack)
        {
            self.lacks.note(lack, event);
        }
    }

    /// Returns the GPU role of a kind, computed once.
    fn role(&mut self, kind: u32) -> Option<Role> {
        while self.roles.len() <= kind as usize {
            let Kind { name, cat } = self.kinds.all[self.roles.len()];
            let cat = if cat == NO_CAT { &b""[..] } else { self.names.bytes_of(cat) };
            self.roles.push(Role::of(cat, self.names.bytes_of(name)));
        }
        self.roles[kind as usize]
    }

    /// Merges the facts of a later chunk. What grows with the inputs goes to `spools`.
    pub(crate) fn append(
        &mut self,
        later: Facts,
        chunk: ChunkPosition,
        spools: &mut EventSpools,
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
            spools.sorting.take(at as u32, lane.records)?;
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
            spools.devices.push(device.behind(chunk, &lanes, &kinds))?;
        }
        for event in later.tracks {
            spools.tracks.push(event.after(chunk, &lanes, &texts))?;
        }
        for cause in later.causes {
            spools.causes.events.push(cause.after(chunk, kinds[cause.kind as usize], &texts))?;
        }
        spools.causes.stacks.append(&later.stacks, chunk.first)?;
        spools.cpu_times.append(&later.cpu_times, chunk.first)?;
        self.is_web |= later.is_web;
        self.untimed += later.untimed;
        for (phase, count) in later.unfiled {
            *self.unfiled.entry(phase).or_default() += count;
        }
        self.lacks.append(later.lacks, chunk.input);
        self.has_lapses |= later.has_lapses;
        Ok(())
    }

    /// Returns the heap bytes of the tables that records refer to.
    pub(crate) fn heap(&self) -> u64 {
        /// Bytes per track: its key in the table, and its thread.
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

    /// Joins the tracks that belong to the same thread in several inputs. Returns the new number of
    /// each old track, and its input.
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
        // Keep the first track of each thread.
        let (mut next, mut of) = (0, moved.iter());
        self.lanes.retain(|_| {
            let is_first = of.next().is_some_and(|pair| pair.0 == next);
            next += u32::from(is_first);
            is_first
        });
        moved
    }

    /// Returns whether any event has a time that DevTools uses.
    pub(crate) fn are_drawn(&self) -> bool {
        self.times_of_inputs.iter().any(EventTimes::are_drawn)
    }

    /// Computes the bounds of the trace. With `drawn_only`, only events that DevTools uses count.
    pub(crate) fn bound<'p>(&mut self, drawn_only: bool, place: impl Fn(usize) -> &'p InputPlace) {
        self.bounds = TraceBounds::of(&self.times_of_inputs, drawn_only, place);
    }

    /// Returns for each kind whether its events extend the bounds in DevTools.
    pub(crate) fn bounding(&mut self) -> Vec<bool> {
        let all = (0..self.kinds.all.len() as u32).map(|kind| self.properties(kind));
        all.map(|properties| properties.bounding == Bounding::Drawn).collect()
    }

    /// Collects the metadata of the notable events.
    pub(crate) fn meta<'p>(&mut self, place: impl Fn(usize) -> &'p InputPlace) -> Meta {
        let mut meta = Meta::default();
        let notable = std::mem::take(&mut self.notable);
        notable.iter().for_each(|(input, event)| meta.note(event, place(*input)));
        meta.finish();
        self.pages.align_inputs(place);
        meta
    }
}

/// Returns the nanoseconds lost when the event's time is converted to a double.
#[cold]
fn rest_of(event: &Event<'_>, ts: f64) -> i64 {
    let exact = event.field(Field::Ts).and_then(written);
    exact.map_or(0, |exact| exact.saturating_sub(nanos_of(ts)))
}

impl Look for Facts {
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        if self.rules.wanted.causes && event.phase() != b'M' {
            self.note_cause(event, at);
        }
        self.note(event, at.number);
        if let Some(last) = self.tracks.last_mut() {
            last.note_offset(at);
        }
        true
    }
}

impl Facts {
    /// Returns whether the scan looks for reasons why DevTools refuses the trace.
    pub(crate) fn asks_refusals(&self) -> bool {
        !self.rules.ignore_refusals
    }

    /// Returns the number of the text of an event's thread. Most events are on the same thread as
    /// the event before.
    fn thread(&mut self, event: &Event<'_>) -> u32 {
        let [pid, tid] =
            [Field::Pid, Field::Tid].map(|field| event.field(field).unwrap_or_default());
        let is_same = |number: &u32| ids_of(self.names.bytes_of(*number)) == (pid, tid);
        let last = self.last_thread.filter(is_same);
        let number = last.unwrap_or_else(|| self.names.number(&thread_text(pid, tid)));
        *self.last_thread.insert(number)
    }

    fn note_cause(&mut self, event: &Event<'_>, at: &EventRef) {
        let kind = self.kind(event);
        let role = self.properties(kind).role;
        let thread = self.thread(event);
        let Some(cause) = CauseEvent::of(event, at, role, kind, thread, &mut self.names) else {
            return;
        };
        let rest = if cause.ts.abs() < FAR { 0 } else { rest_of(event, cause.ts) };
        self.causes.push(cause.with_rest(rest));
        self.causes.extend(cause.triggered(event));
    }

    /// Returns the number of the details of the `number_in`th event of the chunk.
    fn details_of(
        &mut self,
        event: &Event<'_>,
        name: u32,
        sought: Option<Sought>,
        number_in: u64,
    ) -> u32 {
        let found = sought.and_then(|sought| sought.details(event, name, &mut self.names));
        let color = if self.rules.wanted.colors { color_of(event) } else { 0 };
        let found = match color {
            0 => found,
            color => Some(Numbered { color, ..found.unwrap_or_default() }),
        };
        let Some(found) = found else { return 0 };
        if found.is_stacked {
            self.stacks.note(event, self.names.bytes_of(name), number_in);
        }
        self.details.number(found)
    }

    /// Adds an event of a kind to DevTools' tracks, if it belongs there.
    fn note_track(&mut self, event: &Event<'_>, kind: u32, place: TrackPlace) {
        let name = self.kinds.all[kind as usize].name;
        if let Some(track) = self.properties(kind).track {
            self.tracks.extend(TrackEvent::of(event, track, place, name, &mut self.names));
        }
    }

    /// Adds an event that belongs to no thread's tree, the `number_in`th of its chunk.
    fn note_unfiled(&mut self, event: &Event<'_>, number_in: u64) {
        let phase = event.phase();
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
            b'b' | b'e' | b'n' | b'R' | b'O'
                if self.rules.wanted.report && !Included::is(event) =>
            {
                let ts = micros(event, Field::Ts).filter(|ts| ts.is_finite());
                if let Some(ts) = ts {
                    let kind = self.kind(event);
                    let place = TrackPlace { lane: NO_LANE, ts, dur: 0.0, number: number_in };
                    self.note_track(event, kind, place);
                }
            }
            b'b' | b'e' if self.rules.wanted.report && Included::is(event) => {
                let id = |field| event.field(field).unwrap_or_default();
                let lane = self.lane(0, id(Field::Pid), id(Field::Tid)) as u32;
                self.included.note(event, lane, number_in, &mut self.names);
            }
            _ => {}
        }
    }

    /// Adds an event, the `number_in`th of its chunk.
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
            return self.note_unfiled(event, number_in);
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
        let (name, properties) = (self.kinds.all[kind as usize].name, self.properties(kind));
        self.note_lack(event, properties.may_lack);
        if properties.may_be_sum && is_sum(event, ts) {
            return;
        }
        self.times.note(event, EventTime { ts, dur, rest }, properties.bounding);
        let details = self.details_of(event, name, properties.sought(phase), number_in);
        // The duration of a B comes from its E.
        let dur = if matches!(phase, b'B' | b'E') { 0.0 } else { dur };
        if self.rules.wanted.cpu_times {
            self.cpu_times.note(event, number_in);
        }
        let id = |field| event.field(field).unwrap_or_default();
        let lane = self.lane(0, id(Field::Pid), id(Field::Tid));
        let record = Record::new(ts, dur, kind, details, number_in, phase);
        self.lanes[lane].records.push(record.with_rest(rest));
        if properties.track.is_some() {
            let place = TrackPlace { lane: lane as u32, ts, dur, number: number_in };
            self.note_track(event, kind, place);
        }
        if (self.rules.wanted.report || self.rules.wanted.causes)
            && phase == b'X'
            && let Some(role) = self.role(kind)
        {
            let device_event = DeviceEvent::of(event, role, lane as u32, kind, number_in);
            self.devices.extend(device_event);
        }
    }
}
