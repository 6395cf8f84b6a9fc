//! Builds an opened trace: its threads, profiles and bounds, from one pass over the inputs.

use crate::entries::sorting::{Filed, Sorting};
use crate::events::bounds::Bounds;
use crate::events::carried::CarriedStacks;
use crate::events::cpu_times::CpuTimes;
use crate::events::devices::aligned;
use crate::events::kinds::flags;
use crate::events::meta::{Meta, ThreadId};
use crate::events::modifications::Modifications;
use crate::events::producer::{Producer, Signs};
use crate::events::tracks::tracks_on_clock;
use crate::profile::maps::{Mapper, SourceMaps};
use crate::profile::model::Model;
use crate::profile::samples::{Sample, Samples};
use crate::read::facts::{Facts, Lane};
use crate::read::metadata::{facts_of, is_of_profile, job_ranks};
use crate::read::placing::{causes_on_clock, clock_of, on_clock};
use crate::read::reading::Reading;
use crate::read::refused::refusals;
use crate::read::spools::EventSpools;
use crate::trace::profiles::{Chosen, ProfileRoom, ReadProfile, choose, read_profiles, time_of};
use crate::trace::{ReadRules, Thread, ThreadKind, Trace};
use crate::value::clock::Clock;
use crate::value::space::Space;
use tracemill_join::config::Config;
use tracemill_join::input_set::InputSet;
use tracemill_pipeline::PendingMerge;
use tracemill_trace::event::metadata::NODE_MAIN;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::SpilledVec;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::{Error, Source};

/// Which records of a track are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stay,
    /// Keeps all records except stored calls, which the samples yield too.
    StayButCalls,
    /// Drops all records, because no query needs them.
    Unasked,
    Go,
}

impl Trace {
    /// Reads `sources` to their end.
    ///
    /// Cost: one pass on all cores, and a sort. Disk beyond the budget: 40 bytes per I, X, B and E
    /// event; 28 per sample while sorting, then 12; 32 per node and per function of a profile, and
    /// temporarily about 50 more. Heap: distinct texts and threads.
    ///
    /// # Errors
    /// Returns the errors of [`InputSet::read`], and [`tracemill_trace::ErrorKind::Exceeded`] if the
    /// heap needs more than a quarter of the budget.
    pub fn read(sources: &[Source], rules: ReadRules, config: &Config) -> Result<Self, Error> {
        Trace::read_mapped(sources, rules, &SourceMaps::default(), config)
    }

    /// Reads `sources`, and applies source maps to the functions of CPU profiles.
    ///
    /// Additional cost: a pass over each used map. A map may take a quarter of the memory budget.
    ///
    /// # Errors
    /// Returns the errors of [`Trace::read`]. Defects of maps are reported in [`Trace::mapped`].
    pub fn read_mapped(
        sources: &[Source],
        rules: ReadRules,
        maps: &SourceMaps,
        config: &Config,
    ) -> Result<Self, Error> {
        let mut reading = Reading::new(rules, config);
        let inputs = reading.read(sources)?;
        Trace::of_inputs(reading, &inputs, maps)
    }

    /// Reads `sources` for a caller that merges them with new events. Skips events that the merge
    /// would drop.
    ///
    /// # Errors
    /// Returns the errors of [`Trace::read`].
    pub fn read_to_merge(
        sources: &[Source],
        rules: ReadRules,
        maps: &SourceMaps,
        config: &Config,
    ) -> Result<(Self, PendingMerge), Error> {
        let mut reading = Reading::new(rules, config);
        let (inputs, merge) = reading.read_to_merge(sources)?;
        let trace = Trace::of_inputs(reading, &inputs, maps)?;
        Ok((trace, merge.with_inputs(inputs)))
    }

    fn of_inputs(
        reading: Reading<'_>,
        inputs: &InputSet,
        maps: &SourceMaps,
    ) -> Result<Self, Error> {
        let Reading { mut facts, spools, space, .. } = reading;
        let EventSpools { sorting, devices, tracks, causes, cpu_times } = spools;
        let Reading { quota, rules, config, .. } = reading;
        let place = |input: usize| inputs.place(input);
        let moved = facts.unite(place);
        let meta = facts.meta(place);
        let (producer, follows_devtools) = producer_of(&facts, &meta, inputs);
        let is_drawn = facts.are_drawn() || inputs.profiles().iter().any(|record| record.is_whole);
        let drawn_only = rules.as_devtools || follows_devtools && is_drawn;
        facts.bound(drawn_only, place);
        let clock = clock_of(&facts, &meta, inputs, rules.times);
        let (sorting, of_events) = on_clock(sorting, &mut facts, &moved, clock, place, &space)?;
        facts.pages.place_on(clock);
        facts.included.pair(&moved, place, clock);
        let carried = causes.stacks.finish()?;
        let causes =
            causes_on_clock(causes.events, &mut facts.names, &moved, clock, place, &space)?;
        let devices = aligned(devices, &moved, place, space.spool(8))?;
        let tracks = tracks_on_clock(tracks, &moved, clock, place, space.spool(8))?;
        let mut samples = Samples::new(&space);
        let room = ProfileRoom { space: &space, quota: &quota, limits: &config.limits };
        let names = &mut facts.names;
        let profiles = read_profiles(inputs, rules, names, &mut samples, room, clock)?;
        let (metadata, job_ranks) =
            (inputs.key_values(b"metadata").collect::<Vec<_>>(), job_ranks(inputs));
        let wholes = profiles.iter().any(|profile| profile.facts.is_whole);
        let is_cpu_profile =
            metadata.iter().any(|value| is_of_profile(value)) || wholes && facts.lanes.is_empty();
        let refusals = match rules.ignore_refusals {
            true => Default::default(),
            false => refusals(inputs, &facts, &meta, &profiles),
        };
        // No bytes of the inputs are read after this check.
        inputs.check_unchanged()?;
        let bounds = bounds_of(of_events, &meta, &profiles, rules, clock);
        let mut lanes = std::mem::take(&mut facts.lanes);
        if is_cpu_profile && rules.as_devtools {
            lanes.clear();
        }
        let (call_bounds, count) = (facts.bounds.calls, moved.iter().map(|(at, _)| at + 1).max());
        let samples = samples.finish()?;
        let mut trace = Trace::of(facts, meta, samples, config, rules, follows_devtools, &space)?;
        (trace.clock, trace.refusals) = (clock, refusals.into_iter().collect());
        trace.producer = if is_cpu_profile { Producer::CpuProfile } else { producer };
        (trace.devices, trace.tracks, trace.is_cpu_profile) = (devices, tracks, is_cpu_profile);
        (trace.causes, trace.carried, trace.cpu_times) = (causes, carried, cpu_times);
        (trace.bounds, trace.job_ranks) = ((bounds.min, bounds.max), job_ranks);
        trace.is_generic &= !wholes;
        (trace.inputs, trace.warnings) = (inputs.reports().to_vec(), inputs.warnings().to_vec());
        (trace.host_ratio, trace.recorded) = facts_of(&metadata, trace.inputs.len());
        trace.add_profiles(&lanes, profiles);
        if !drawn_only {
            trace.bound_by_samples();
        }
        trace.map(maps, &metadata, config.limits.bytes(Share::of(1, 4)));
        let of_maps = metadata.iter().map(|text| text.len() as u64).sum::<u64>();
        quota.check(trace.names.heap() + of_maps, "names, and metadata with source maps,")?;
        let mut fates = vec![Fate::Go; count.unwrap_or(0) as usize];
        trace.decide(&mut fates, rules.only_calls);
        if rules.as_devtools {
            let pids: HashSet<Box<[u8]>> = lanes.iter().map(|lane| lane.pid.clone()).collect();
            trace.leave_out(&pids);
        }
        trace.file(sorting, &fates, call_bounds, &space)?;
        if rules.as_devtools || rules.as_stored {
            trace.look_as_stored(&metadata)?;
        }
        if rules.as_devtools && trace.threads.iter().all(|thread| thread.entries() == 0) {
            // All threads left come from profiles, which DevTools shows without names.
            trace.threads.iter_mut().for_each(|thread| thread.name = None);
        }
        Ok(trace)
    }

    /// Computes the calls of all threads, because the number of calls orders the panel's tracks.
    /// Also reads the stored view, which only a single input has.
    fn look_as_stored(&mut self, metadata: &[Vec<u8>]) -> Result<(), Error> {
        self.keep_calls()?;
        if let ([metadata], [_]) = (metadata, &self.inputs[..])
            && let Some(modifications) = Modifications::of(metadata)
        {
            self.hidden = self.hidden_entries(&modifications)?;
            self.modifications = modifications;
        }
        Ok(())
    }

    /// Creates a trace from the facts, without threads.
    fn of(
        facts: Facts,
        meta: Meta,
        samples: SpilledVec<Sample>,
        config: &Config,
        rules: ReadRules,
        follows_devtools: bool,
        space: &Space,
    ) -> Result<Self, Error> {
        let has_tasks = rules.as_devtools || follows_devtools;
        Ok(Trace {
            flags: flags(&facts.kinds, &facts.names, has_tasks),
            producer: Producer::Generic,
            follows_devtools,
            meta,
            records: Default::default(),
            devices: space.spool(1).take()?,
            tracks: SpilledVec::default(),
            causes: SpilledVec::default(),
            carried: CarriedStacks::default(),
            cpu_times: CpuTimes::default(),
            samples,
            limits: config.limits.clone(),
            clock: Clock::default(),
            threads: Vec::new(),
            bounds: (f64::INFINITY, f64::NEG_INFINITY),
            start: facts.bounds.start,
            uncounted: Default::default(),
            is_generic: !facts.is_web,
            is_cpu_profile: false,
            weights: rules.weights,
            as_devtools: rules.as_devtools,
            ignore_list: None,
            async_callers: None,
            entities: Default::default(),
            modifications: Default::default(),
            host_ratio: None,
            recorded: None,
            job_ranks: Vec::new(),
            hidden: Default::default(),
            libraries: Default::default(),
            mapped: Default::default(),
            inputs: Vec::new(),
            warnings: Vec::new(),
            refusals: Vec::new(),
            untimed: facts.untimed,
            unfiled: facts.unfiled,
            written_calls: 0,
            names: facts.names,
            kinds: facts.kinds,
            details: facts.details,
            counters: facts.counters,
            image_urls: facts.images.urls(),
            of_requests: facts.requests.numbers(),
            pages: facts.pages,
            included: facts.included,
        })
    }

    fn map(&mut self, maps: &SourceMaps, metadata: &[Vec<u8>], most: u64) {
        let mut mapper = Mapper::new(&mut self.names, most);
        let models = self.threads.iter().filter_map(|thread| thread.model.as_deref());
        mapper.read(models.flat_map(Model::functions), maps, metadata);
        if mapper.mapped.functions > 0 {
            let models = self.threads.iter_mut().filter_map(|thread| thread.model.as_deref_mut());
            models.for_each(|model| model.map(|frame| mapper.change(frame)));
        }
        (self.libraries, self.mapped) = (mapper.libraries, mapper.mapped);
    }

    /// Assigns profiles to threads, and orders the threads.
    fn add_profiles(&mut self, lanes: &[Lane], profiles: Vec<ReadProfile>) {
        let (mut chosen, uncounted) = choose(profiles, self.is_cpu_profile);
        self.uncounted = uncounted;
        self.add_threads(lanes, &mut chosen);
        self.name_as_node();
    }

    /// Orders the threads as DevTools does.
    ///
    /// Processes with events come first, in the order of their first events; processes known only
    /// by a page follow. In a process, threads with events come first, then threads known only by a
    /// name, then threads known only by samples.
    fn add_threads(&mut self, lanes: &[Lane], profiles: &mut [Chosen]) {
        let of_profiles = profiles.iter().map(|profile| (profile.pid.clone(), profile.tid.clone()));
        let of_profiles: Vec<ThreadId> = of_profiles.collect();
        let mut places: HashMap<&[u8], usize> = HashMap::default();
        let pages = self.meta.pages.iter().map(|(pid, _)| &**pid);
        let pids = lanes.iter().map(|lane| &*lane.pid).chain(pages);
        for pid in pids.chain(of_profiles.iter().map(|(pid, _)| &**pid)) {
            let next = places.len();
            places.entry(pid).or_insert(next);
        }
        let mut threads: Vec<Vec<Thread>> = places.iter().map(|_| Vec::new()).collect();
        let mut by_tid: HashMap<(usize, &[u8]), usize> = HashMap::default();
        let mut enter = |place: usize, tid, pid, meta: &Meta| {
            let group = &mut threads[place];
            let at = *by_tid.entry((place, tid)).or_insert(group.len());
            if at == group.len() {
                group.push(Thread::new(pid, tid, meta));
            }
            at
        };
        let mut filled: Vec<(usize, usize)> = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let place = places[&*lane.pid];
            filled.push((place, enter(place, &lane.tid, &lane.pid, &self.meta)));
        }
        for ((pid, tid), _) in &self.meta.thread_names {
            if let Some(&place) = places.get(&**pid) {
                enter(place, tid, pid, &self.meta);
            }
        }
        let mut models = Vec::new();
        for (profile, (pid, tid)) in profiles.iter_mut().zip(&of_profiles) {
            let place = places[&**pid];
            let at = enter(place, tid, pid, &self.meta);
            models.push((place, at, profile.model.take(), profile.input.take()));
        }
        for ((number, lane), (place, at)) in (0..).zip(lanes).zip(filled) {
            let thread = &mut threads[place][at];
            (thread.input_number, thread.lane) = (lane.input, Some(number));
        }
        for (place, at, model, input) in models {
            let thread = &mut threads[place][at];
            if self.is_cpu_profile || input.is_some() {
                thread.kind = ThreadKind::CpuProfile;
            }
            if let Some(input) = &input {
                let named = self.inputs.iter().position(|report| report.name == *input);
                thread.input_number = named.unwrap_or(0);
            }
            thread.input = input;
            thread.model = model.map(Box::new);
        }
        let pages = &self.meta;
        let is_drawn = |pid: &[u8]| pages.page(pid).is_some_and(|page| page.url.is_some());
        self.threads = threads.into_iter().flatten().collect();
        for thread in &mut self.threads {
            let alone = thread.kind == ThreadKind::CpuProfile;
            thread.is_in_devtools = self.is_generic || alone || is_drawn(&thread.pid);
        }
        self.label_threads_by_input();
    }

    /// Adds the input to the titles of threads whose name occurs in several inputs.
    fn label_threads_by_input(&mut self) {
        let mut inputs: HashMap<Option<&str>, Option<usize>> = HashMap::default();
        for thread in &self.threads {
            let input = inputs.entry(thread.name.as_deref()).or_insert(Some(thread.input_number));
            *input = input.filter(|&number| number == thread.input_number);
        }
        let is_shared = |thread: &Thread| inputs[&thread.name.as_deref()].is_none();
        let shared: Vec<bool> = self.threads.iter().map(is_shared).collect();
        for (thread, _) in self.threads.iter_mut().zip(shared).filter(|(_, shared)| *shared) {
            thread.input = self.inputs.get(thread.input_number).map(|input| input.name.clone());
        }
    }

    /// Decides which records of each track are kept.
    fn decide(&self, fates: &mut [Fate], only_calls: bool) {
        for thread in &self.threads {
            if let Some(lane) = thread.lane {
                fates[lane as usize] = match thread.model {
                    Some(_) => Fate::StayButCalls,
                    None if only_calls => Fate::Unasked,
                    None => Fate::Stay,
                };
            }
        }
    }

    /// Assigns records to threads. Drops stored calls of threads with samples. If other threads
    /// have stored calls, extends the bounds of the trace by `bounds`.
    fn file(
        &mut self,
        mut sorting: Sorting,
        fates: &[Fate],
        bounds: Bounds,
        space: &Space,
    ) -> Result<(), Error> {
        let Trace { kinds, names, written_calls, cpu_times, .. } = self;
        let calls: Vec<bool> =
            (0..kinds.all.len() as u32).map(|kind| kinds.is_call(kind, names)).collect();
        let mut stay_calls = false;
        let mut stays = |filed: &Filed| {
            let is_call = calls[filed.record.kind as usize];
            match fates[filed.lane as usize] {
                Fate::StayButCalls if is_call => {
                    *written_calls += 1;
                    false
                }
                Fate::Go => false,
                fate => {
                    stay_calls |= is_call;
                    fate != Fate::Unasked
                }
            }
        };
        if fates.contains(&Fate::Unasked) {
            sorting.drop_early(&mut stays)?;
        }
        let room = self.limits.open_quota();
        let filing = sorting.finish(fates.len(), &kinds.all, space, &room, cpu_times, stays)?;
        for thread in &mut self.threads {
            if let Some(lane) = thread.lane {
                thread.records = filing.ranges[lane as usize].clone();
                thread.pairs = filing.pairs.get(&lane).copied().unwrap_or_default();
            }
        }
        self.records = filing.records;
        if stay_calls {
            let (first, last) = self.bounds;
            let times = [bounds.min, bounds.max].map(|time| self.clock.placed_micros(time));
            self.bounds = (first.min(times[0]), last.max(times[1]));
        }
        Ok(())
    }

    /// Extends the bounds to the samples of each thread.
    fn bound_by_samples(&mut self) {
        for model in self.threads.iter().filter_map(|thread| thread.model.as_deref()) {
            let range = &model.span.range;
            for at in [range.start, range.end.saturating_sub(1)] {
                let sample = self.samples.get(at).filter(|_| range.contains(&at));
                let time = sample.map(|point| self.clock.micros(self.clock.tick(point.ms)));
                let (first, last) = self.bounds;
                self.bounds = time.map_or(self.bounds, |ts| (first.min(ts), last.max(ts)));
            }
            // DevTools ignores these samples, so the last one ends the trace here.
            if let Some(end) = model.span.end.filter(|_| model.is_of_stacks) {
                self.bounds.1 = self.bounds.1.max(self.clock.micros(self.clock.tick(end)));
            }
        }
    }

    /// Restores the names that Node gave its main threads. DevTools uses later names instead.
    fn name_as_node(&mut self) {
        if self.as_devtools {
            return;
        }
        let mains = &self.meta.node_mains;
        let is_main = |entry: &&mut Thread| mains.contains(&(entry.pid.clone(), entry.tid.clone()));
        let name = String::from_utf8_lossy(NODE_MAIN);
        self.threads
            .iter_mut()
            .filter(is_main)
            .for_each(|thread| thread.name = Some(name.to_string()));
    }

    /// Clears the threads that DevTools does not show: threads of processes without a page, and
    /// threads of processes that have only profiles.
    fn leave_out(&mut self, with_events: &HashSet<Box<[u8]>>) {
        for thread in self.threads.iter_mut().filter(|entry| entry.kind != ThreadKind::CpuProfile) {
            let has_process =
                with_events.contains(&thread.pid) || self.meta.page(&thread.pid).is_some();
            if !thread.is_in_devtools || !has_process {
                thread.lane = None;
                thread.model = None;
                thread.name = None;
            }
        }
    }
}

/// Detects the producer of the inputs, and whether DevTools' rules apply to the trace.
fn producer_of(facts: &Facts, meta: &Meta, inputs: &InputSet) -> (Producer, bool) {
    let profiles = inputs.profiles();
    let signs = Signs {
        kinds: &facts.kinds,
        names: &facts.names,
        meta,
        is_web: facts.is_web,
        has_whole: profiles.iter().any(|profile| profile.is_whole),
        has_profiles: profiles.iter().any(|profile| !profile.is_of_stacks),
    };
    let producer = signs.producer();
    (producer, signs.follow_devtools(producer))
}

/// Returns the first and last microsecond (§11) on a clock.
fn bounds_of(
    mut bounds: Bounds,
    meta: &Meta,
    profiles: &[ReadProfile],
    rules: ReadRules,
    clock: Clock,
) -> Bounds {
    for profile in profiles.iter().filter(|profile| profile.facts.input.is_some()) {
        let time = |text| time_of(text, None, clock).map(|tick| clock.micros(tick));
        let start = time(profile.facts.start.as_deref()).unwrap_or(0.0);
        let end = time(profile.facts.end.as_deref());
        if start != 0.0 || !rules.as_devtools {
            let end = match end {
                Some(end) => start + (end - start),
                None if rules.as_devtools => f64::NAN,
                None => profile.model.span.end.map_or(start, |end| clock.micros(clock.tick(end))),
            };
            bounds.add(start, end);
            if end.is_nan() {
                bounds.max = end;
            }
        }
    }
    if let Some(started) = meta.started.filter(|&started| started >= 0.0) {
        bounds.min = clock.placed_micros(started);
    }
    bounds
}
