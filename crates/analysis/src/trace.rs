//! A trace, or several, or CPU profiles, read: its threads with their events and samples.

use crate::calls::integrate;
use crate::details::{DetailsTable, Wanted};
use crate::entries::{Entry, Nested, merge, nest};
use crate::facts::{Bounds, Facts, Lane, Record};
use crate::frames::frames;
use crate::kinds::{Kinds, flags};
use crate::meta::{Meta, ThreadId};
use crate::model::{Model, Raw, Weights, meta_names, micros};
use crate::names::Names;
use crate::pairs::{Pairs, pair, pair_as_devtools};
use crate::value::string;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use tracemill_pipeline::{
    Config, Error, InputReport, ProfileFacts, ProfileSource, Scanned, Source, scan_inputs,
};
use tracemill_tokenizer::string_is;

/// How inputs are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadRules {
    /// Details of events that are wanted.
    pub wanted: Wanted,
    /// For how long samples count in CPU profiles that stand alone. Beside the events of a trace each lasts until the next.
    pub weights: Weights,
    /// Do what DevTools does where that is a defect: B and E are paired over all threads in the order of the file, chunks of
    /// profiles are taken in the order of the file, and a `.cpuprofile` is thread 1 of process 1.
    pub as_devtools: bool,
}

/// What kind of thread it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadKind {
    /// `CrRendererMain`
    Main,
    /// A dedicated worker.
    Worker,
    /// `CompositorTileWorker…`
    Rasterizer,
    /// `ThreadPool…`
    ThreadPool,
    /// A CPU profile that stands alone.
    CpuProfile,
    /// Any other.
    Other,
}

impl ThreadKind {
    fn of(name: Option<&[u8]>) -> Self {
        match name {
            Some(b"CrRendererMain") => ThreadKind::Main,
            Some(b"DedicatedWorker thread") => ThreadKind::Worker,
            Some(name) if name.starts_with(b"CompositorTileWorker") => ThreadKind::Rasterizer,
            Some(name) if name.starts_with(b"ThreadPool") => ThreadKind::ThreadPool,
            _ => ThreadKind::Other,
        }
    }
}

/// A thread: what it is, its events and the samples of its profile.
pub struct Thread {
    /// As written.
    pub pid: Box<[u8]>,
    /// As written.
    pub tid: Box<[u8]>,
    /// From the last `thread_name` event.
    pub name: Option<String>,
    /// What kind of thread it is.
    pub kind: ThreadKind,
    /// Whether the panel of DevTools has a track for it: of a web trace only processes with a page.
    pub is_in_devtools: bool,
    /// The path of the input of a whole profile; empty for standard input.
    pub input: Option<String>,
    /// The number of the input that its first event, or its profile, stands in.
    pub input_number: usize,
    pub(crate) records: Vec<Record>,
    pub(crate) model: Option<Model>,
    /// What became of B and E events.
    pub pairs: Pairs,
}

impl Thread {
    /// Samples of its profile.
    pub fn samples(&self) -> u64 {
        self.model.as_ref().map_or(0, |model| model.samples.len() as u64)
    }

    /// Samples that name no node of the profile.
    pub fn unknown_samples(&self) -> u64 {
        self.model.as_ref().map_or(0, |model| model.unknown)
    }
}

/// See the module doc.
pub struct Trace {
    pub(crate) names: Names,
    pub(crate) kinds: Kinds,
    /// Of each kind.
    pub(crate) flags: Vec<u16>,
    pub(crate) details: DetailsTable,
    pub(crate) meta: Meta,
    /// In the order of DevTools: by process, each in the order of first events.
    pub threads: Vec<Thread>,
    /// First and last microsecond (§11); infinite if there is none.
    pub bounds: (f64, f64),
    /// Whether Chrome did not record it for DevTools: then every event is drawn.
    pub is_generic: bool,
    /// Whether all there is are CPU profiles.
    pub is_cpu_profile: bool,
    /// For how long samples count in CPU profiles that stand alone.
    pub weights: Weights,
    /// Of each input.
    pub inputs: Vec<InputReport>,
    /// What the user should know, one sentence each.
    pub warnings: Vec<String>,
    /// Events of threads that have no time: they are left out.
    pub untimed: u64,
    /// Calls that were written as events ([`crate::CALLS`]) beside the samples that they were made of: they are left out, since
    /// calls are made of the samples.
    pub written_calls: u64,
}

/// A thread's flame chart: its events and calls, nested.
pub struct Track {
    pub(crate) nested: Nested,
}

impl Track {
    /// Events and calls that have a place.
    pub fn len(&self) -> usize {
        self.nested.entries.len()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.nested.entries.is_empty()
    }

    /// Events and calls that begin in one but end behind it, and so have no place.
    pub fn dropped(&self) -> u64 {
        self.nested.dropped
    }
}

impl Trace {
    /// Reads `sources` to their end.
    ///
    /// Cost: one pass on all cores, and a sort a thread. Heap: 32 bytes for each I, X, B and E, 12 for a sample, 60 for a node of
    /// a profile; each distinct text once.
    ///
    /// # Errors
    /// As [`scan_inputs`].
    pub fn read(sources: &[Source], rules: ReadRules, config: &Config) -> Result<Self, Error> {
        let mut facts = Facts::new(rules.wanted);
        facts.names = meta_names();
        let new = move || Facts::new(rules.wanted);
        let scanned = scan_inputs(sources, config, new, |part: Facts, stretch| {
            facts.append(part, stretch);
            Ok(())
        })?;
        let profiles = read_profiles(&scanned, rules, &mut facts.names)?;
        let says_profile = scanned.members().any(|(key, value)| {
            let origin = crate::value::member(&value, b"dataOrigin");
            string_is(key, b"metadata") && origin.is_some_and(|own| string_is(own, b"CPUProfile"))
        });
        scanned.check_unchanged()?;
        let wholes = profiles.iter().any(|profile| profile.facts.is_whole);
        let is_cpu_profile = says_profile || wholes && facts.lanes.is_empty();
        let meta = Meta::of(&facts.notable);
        let is_generic = !(facts.is_web || wholes);
        let bounds = bounds_of(&facts, &meta, &profiles, rules);
        let call_bounds = facts.call_bounds;
        let mut trace = Trace {
            flags: flags(&facts.kinds, &facts.names),
            names: facts.names,
            kinds: facts.kinds,
            details: facts.details,
            meta,
            threads: Vec::new(),
            bounds: (bounds.min, bounds.max),
            is_generic,
            is_cpu_profile,
            weights: rules.weights,
            inputs: scanned.inputs().to_vec(),
            warnings: scanned.warnings().to_vec(),
            untimed: facts.untimed,
            written_calls: 0,
        };
        let mut lanes = facts.lanes;
        if rules.as_devtools {
            pair_as_devtools(&mut lanes);
        }
        let mut chosen = choose(profiles, is_cpu_profile);
        let mut all = lanes;
        if is_cpu_profile && rules.as_devtools {
            all.clear();
        }
        let known: HashSet<Box<[u8]>> = all.iter().map(|lane| lane.pid.clone()).collect();
        trace.add_threads(&mut all, &mut chosen);
        trace.leave_out_calls(call_bounds);
        if rules.as_devtools {
            trace.leave_out(&known);
        }
        let kinds = &trace.kinds.all;
        trace.threads.par_iter_mut().for_each(|thread| {
            if !rules.as_devtools {
                thread.pairs = pair(&mut thread.records, kinds);
            }
            thread.records.sort_by(|a, b| {
                Entry::of_record(a).compare(&Entry::of_record(b)).then(a.number().cmp(&b.number()))
            });
        });
        Ok(trace)
    }

    /// Puts the threads in order (devtools-semantics §9): processes by their first events, then those with pages; in
    /// each threads by their first events, then those with names, then those with samples only.
    fn add_threads(&mut self, lanes: &mut [Lane], profiles: &mut [Chosen]) {
        let mut order: Vec<Box<[u8]>> = Vec::new();
        let mut places: HashMap<Box<[u8]>, usize> = HashMap::new();
        let pages = self.meta.pages.iter().map(|(pid, _)| pid.clone());
        let own = lanes.iter().map(|lane| lane.pid.clone()).chain(pages);
        for pid in own.chain(profiles.iter().map(|profile| profile.pid.clone())) {
            let next = order.len();
            places.entry(pid.clone()).or_insert_with(|| {
                order.push(pid);
                next
            });
        }
        let mut threads: Vec<Vec<Thread>> = order.iter().map(|_| Vec::new()).collect();
        let mut by_tid: HashMap<(usize, Box<[u8]>), usize> = HashMap::new();
        let mut enter = |place: usize, tid: &[u8], pid: &[u8], meta: &Meta| {
            let own = &mut threads[place];
            let at = *by_tid.entry((place, tid.into())).or_insert(own.len());
            if at == own.len() {
                own.push(thread_of(pid, tid, meta));
            }
            at
        };
        let mut filled: Vec<(usize, usize, usize, Vec<Record>)> = Vec::new();
        for lane in lanes.iter_mut() {
            let place = places[&*lane.pid];
            let at = enter(place, &lane.tid, &lane.pid, &self.meta);
            filled.push((place, at, lane.input, std::mem::take(&mut lane.records)));
        }
        for ((pid, tid), _) in &self.meta.thread_names {
            if let Some(&place) = places.get(pid) {
                enter(place, tid, pid, &self.meta);
            }
        }
        let mut models = Vec::new();
        for profile in profiles {
            let place = places[&*profile.pid];
            let at = enter(place, &profile.tid, &profile.pid, &self.meta);
            models.push((place, at, profile.model.take(), profile.input.take()));
        }
        for (place, at, input, records) in filled {
            (threads[place][at].input_number, threads[place][at].records) = (input, records);
        }
        for (place, at, model, input) in models {
            let thread = &mut threads[place][at];
            if self.is_cpu_profile || input.is_some() {
                thread.kind = ThreadKind::CpuProfile;
            }
            if let Some(input) = &input {
                let named = self.inputs.iter().position(|own| own.name == *input);
                thread.input_number = named.unwrap_or(0);
            }
            thread.input = input;
            thread.model = model;
        }
        let pages = &self.meta;
        let is_drawn = |pid: &[u8]| pages.page(pid).is_some_and(|page| page.url.is_some());
        self.threads = threads.into_iter().flatten().collect();
        for thread in &mut self.threads {
            let alone = thread.kind == ThreadKind::CpuProfile;
            thread.is_in_devtools = self.is_generic || alone || is_drawn(&thread.pid);
        }
    }

    /// Takes calls that were written as events from threads that have the samples too. Where those are gone they are events like
    /// others, and `bounds` are theirs.
    fn leave_out_calls(&mut self, bounds: Bounds) {
        let Trace { threads, kinds, names, written_calls, .. } = self;
        if !(0..kinds.all.len() as u32).any(|kind| kinds.is_call(kind, names)) {
            return;
        }
        let mut stay = false;
        for thread in threads.iter_mut() {
            let is_call = |record: &Record| kinds.is_call(record.kind, names);
            if thread.model.is_none() {
                stay |= thread.records.iter().any(is_call);
                continue;
            }
            let before = thread.records.len();
            thread.records.retain(|record| !is_call(record));
            *written_calls += (before - thread.records.len()) as u64;
        }
        if stay {
            let (first, last) = self.bounds;
            self.bounds = (first.min(bounds.min), last.max(bounds.max));
        }
    }

    /// Takes from threads what DevTools does not show (devtools-semantics §9): those of processes without a page, and profiles of
    /// processes without events, unless nothing else is there; then their threads stand there, empty.
    fn leave_out(&mut self, with_events: &HashSet<Box<[u8]>>) {
        for thread in self.threads.iter_mut().filter(|own| own.kind != ThreadKind::CpuProfile) {
            let has_process =
                with_events.contains(&thread.pid) || self.meta.page(&thread.pid).is_some();
            if !thread.is_in_devtools || !has_process {
                thread.records = Vec::new();
                thread.model = None;
                thread.name = None;
            }
        }
    }

    /// The flame chart of a thread. Cost: its events, samples and calls; 44 bytes of heap for each event and call.
    pub fn track(&self, thread: &Thread) -> Track {
        let alone = thread.kind == ThreadKind::CpuProfile;
        if let Some(model) = thread.model.as_ref().filter(|_| alone) {
            let mut nested = Nested::default();
            for frame in frames(model) {
                nested.entries.push(Entry::of_call(&frame.call));
                nested.depths.push(frame.depth);
                nested.own.push(frame.own);
            }
            return Track { nested };
        }
        let events: Vec<Entry> = thread.records.iter().map(Entry::of_record).collect();
        let Some(model) = &thread.model else { return Track { nested: nest(events) } };
        let calls = integrate(&events, model, &self.flags, |entry| {
            let id = self.details.all[entry.details as usize].trace_id;
            (id != 0).then(|| model.trace_ids.get(&id).copied())
        });
        Track { nested: nest(merge(events, &calls)) }
    }
}

fn thread_of(pid: &[u8], tid: &[u8], meta: &Meta) -> Thread {
    let name = meta.thread_name(pid, tid);
    Thread {
        pid: pid.into(),
        tid: tid.into(),
        name: name.map(|name| String::from_utf8_lossy(name).into_owned()),
        kind: ThreadKind::of(name),
        is_in_devtools: true,
        input: None,
        input_number: 0,
        records: Vec::new(),
        model: None,
        pairs: Pairs::default(),
    }
}

/// A profile with its model.
struct Read {
    facts: ProfileFacts,
    source: Option<ProfileSource>,
    model: Model,
}

/// The profile of a thread.
struct Chosen {
    pid: Box<[u8]>,
    tid: Box<[u8]>,
    input: Option<String>,
    model: Option<Model>,
}

fn read_profiles(
    scanned: &Scanned,
    rules: ReadRules,
    names: &mut Names,
) -> Result<Vec<Read>, Error> {
    let mut all = Vec::new();
    for (number, mut facts) in scanned.profiles().into_iter().enumerate() {
        let mut raw = Raw::default();
        scanned
            .profile(number, rules.as_devtools, |piece| raw.add(piece, facts.is_whole, names))?;
        let source = raw.source.or(facts.source);
        if facts.input.is_some() && rules.as_devtools {
            facts.pid = b"1"[..].into();
            facts.tid = Some(b"1"[..].into());
        }
        let start = micros(facts.start.as_deref()).unwrap_or(0.0);
        let end = micros(facts.end.as_deref()).unwrap_or(f64::NAN);
        let mut model = raw.model(start, end);
        if facts.is_whole {
            model.weigh(rules.weights, start);
        }
        all.push(Read { facts, source, model });
    }
    Ok(all)
}

/// One profile a thread (§3.7): that of tracing, else that of the inspector, else the first.
fn choose(profiles: Vec<Read>, is_cpu_profile: bool) -> Vec<Chosen> {
    let rank = |source: Option<ProfileSource>| match source {
        Some(ProfileSource::Internal) if !is_cpu_profile => 0,
        Some(ProfileSource::Inspector) => 1,
        _ => 2,
    };
    let mut chosen: Vec<(u8, Chosen)> = Vec::new();
    let mut places: HashMap<ThreadId, usize> = HashMap::new();
    for profile in profiles {
        let Read { facts, source, model } = profile;
        let Some(tid) = facts.tid else { continue };
        let own = rank(source);
        let next = chosen.len();
        let at = *places.entry((facts.pid.clone(), tid.clone())).or_insert(next);
        let this = Chosen { pid: facts.pid, tid, input: facts.input, model: Some(model) };
        match chosen.get_mut(at) {
            None => chosen.push((own, this)),
            Some((known, _)) if *known <= own => {}
            Some(known) => *known = (own, this),
        }
    }
    let all = chosen.into_iter().map(|(_, chosen)| chosen);
    all.filter(|chosen| chosen.model.as_ref().is_some_and(|model| !model.ids.is_empty())).collect()
}

/// First and last microsecond (§11).
fn bounds_of(facts: &Facts, meta: &Meta, profiles: &[Read], rules: ReadRules) -> Bounds {
    let mut bounds = facts.bounds;
    for profile in profiles.iter().filter(|profile| profile.facts.input.is_some()) {
        let start = micros(profile.facts.start.as_deref()).unwrap_or(0.0);
        let end = micros(profile.facts.end.as_deref());
        if start != 0.0 || !rules.as_devtools {
            let end = match end {
                Some(end) => start + (end - start),
                None if rules.as_devtools => f64::NAN,
                None => profile.model.times.last().map_or(start, |ms| ms * 1000.0),
            };
            bounds.add(start, end);
            if end.is_nan() {
                bounds.max = end;
            }
        }
    }
    if let Some(started) = meta.started.filter(|&started| started >= 0.0) {
        bounds.min = started;
    }
    bounds
}

/// A pid or tid as text.
pub(crate) fn id_text(written: &[u8]) -> String {
    let text = string(written).unwrap_or_else(|| written.to_vec());
    String::from_utf8_lossy(&text).into_owned()
}
