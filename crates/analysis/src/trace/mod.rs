//! An opened trace: its threads with their events, samples and metadata.

mod access;
pub(crate) mod choose;
pub(crate) mod hiding;
pub(crate) mod profiles;
pub(crate) mod uncounted;

use crate::entries::calls::{CallRules, integrate};
use crate::entries::sorting::{FiledRecords, Pairs};
use crate::entries::{Entry, Nested, Placed, merge};
use crate::events::carried::CarriedStacks;
use crate::events::causes::CauseEvent;
use crate::events::compiled::Included;
use crate::events::counters::Counters;
use crate::events::cpu_times::CpuTimes;
use crate::events::details::{DetailsTable, Wanted};
use crate::events::devices::DeviceEvent;
use crate::events::entities::Entities;
use crate::events::kinds::Kinds;
use crate::events::meta::Meta;
use crate::events::modifications::{Hidden, Modifications};
use crate::events::pages::Pages;
use crate::events::producer::Producer;
use crate::events::tracks::TrackEvent;
use crate::profile::frames::frames;
use crate::profile::made::Calls;
use crate::profile::maps::Mapped;
use crate::profile::model::{Model, Weights};
use crate::profile::refusals::Refusal;
use crate::profile::samples::Sample;
use crate::trace::uncounted::UncountedProfiles;
use crate::tree::async_callers::AsyncCallers;
use crate::value::clock::{Clock, TickRange, Times, nanos_of};
use crate::value::matcher::Matcher;
use crate::value::space::Space;
use crate::value::string;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::Error;
use tracemill_trace::event::names::Names;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::SpilledVec;
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// Options for reading inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadRules {
    /// Event details to keep.
    pub wanted: Wanted,
    /// Unit and rounding of times.
    pub times: Times,
    /// Duration of a sample in standalone CPU profiles. In traces a sample lasts until the next
    /// one.
    pub weights: Weights,
    /// Whether names that differ only in digits are equal: each run of digits becomes `N`.
    pub fold_numbers: bool,
    /// Whether to skip the search for reasons why DevTools refuses the trace. The search slows the
    /// scan; without it, [`Trace::refusals`] is empty.
    pub ignore_refusals: bool,
    /// Whether only calls are read. If so, threads without samples have no events.
    pub only_calls: bool,
    /// Whether the view that DevTools stored with the trace is read, for [`Trace::opening_window`].
    /// `as_devtools` implies it.
    pub as_stored: bool,
    /// Whether to reproduce these defects of DevTools: it pairs B and E events across threads in
    /// file order, takes profile chunks in file order, and shows a `.cpuprofile` as process 1 and
    /// thread 1.
    pub as_devtools: bool,
}

/// The kind of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadKind {
    /// A main thread of a renderer, `CrRendererMain`.
    Main,
    /// A dedicated worker.
    Worker,
    /// A raster thread, `CompositorTileWorker…`.
    Rasterizer,
    /// A thread of a thread pool, `ThreadPool…`.
    ThreadPool,
    /// A standalone CPU profile, not part of a trace.
    CpuProfile,
    /// Any other thread.
    Other,
}

impl ThreadKind {
    pub(crate) fn of(name: Option<&[u8]>) -> Self {
        match name {
            Some(b"CrRendererMain") => ThreadKind::Main,
            Some(b"DedicatedWorker thread") => ThreadKind::Worker,
            Some(name) if name.starts_with(b"CompositorTileWorker") => ThreadKind::Rasterizer,
            Some(name) if name.starts_with(b"ThreadPool") => ThreadKind::ThreadPool,
            _ => ThreadKind::Other,
        }
    }
}

/// A thread: its ids, name, events and the samples of its profile.
pub struct Thread {
    /// The pid as written in the trace.
    pub pid: Box<[u8]>,
    /// The tid as written in the trace.
    pub tid: Box<[u8]>,
    /// The name from the last `thread_name` event.
    pub name: Option<String>,
    /// The kind of the thread.
    pub kind: ThreadKind,
    /// Whether DevTools' panel has a track for the thread. In traces that Chrome recorded for
    /// DevTools, only processes with a page have tracks.
    pub is_in_devtools: bool,
    /// Path of the input, if the thread is a CPU profile or its name also occurs in another input.
    /// The path of standard input is empty.
    pub input: Option<String>,
    /// Index of the input with the thread's first event, or with its profile.
    pub input_number: usize,
    /// Index of the track with the thread's events; `None` if the thread has no events.
    pub(crate) lane: Option<u32>,
    /// Range of the thread's events in the records of the trace.
    pub(crate) records: Range<usize>,
    /// CPU profile of the thread, boxed because few threads have one.
    pub(crate) model: Option<Box<Model>>,
    /// Calls of the thread's samples, if reading the trace already computed the calls.
    pub(crate) kept: Option<Arc<Calls>>,
    /// Counts of unpaired B and E events.
    pub pairs: Pairs,
}

impl Thread {
    /// Creates a thread without events, with its name in the metadata.
    pub(crate) fn new(pid: &[u8], tid: &[u8], meta: &Meta) -> Self {
        let name = meta.thread_name(pid, tid);
        Thread {
            pid: pid.into(),
            tid: tid.into(),
            name: name.map(unescaped_text),
            kind: ThreadKind::of(name),
            is_in_devtools: true,
            input: None,
            input_number: 0,
            lane: None,
            records: 0..0,
            model: None,
            kept: None,
            pairs: Pairs::default(),
        }
    }

    /// Returns the number of samples in the profile.
    pub fn samples(&self) -> u64 {
        self.model.as_deref().map_or(0, |model| model.span.count)
    }

    /// Returns the number of samples that name no node of the profile.
    pub fn unknown_samples(&self) -> u64 {
        self.model.as_deref().map_or(0, |model| model.span.unknown)
    }
}

/// An opened trace, returned by [`Trace::read`].
pub struct Trace {
    pub(crate) names: Names,
    pub(crate) kinds: Kinds,
    pub(crate) flags: Vec<u16>,
    pub(crate) details: DetailsTable,
    pub(crate) meta: Meta,
    pub(crate) counters: Counters,
    pub(crate) pages: Pages,
    /// URLs of image events, by event number.
    pub(crate) image_urls: HashMap<u64, Box<[u8]>>,
    /// For each request, the event numbers of its last response, finish, priority and cache event.
    pub(crate) of_requests: HashSet<u64>,
    pub(crate) included: Included,
    /// Events of all threads, grouped by thread.
    pub(crate) records: FiledRecords,
    /// GPU events of PyTorch's profiler, in input order.
    pub(crate) devices: SpilledVec<DeviceEvent>,
    /// Events of DevTools' tracks, in input order, if requested.
    pub(crate) tracks: SpilledVec<TrackEvent>,
    /// Events that may cause others, in input order, if requested.
    pub(crate) causes: SpilledVec<CauseEvent>,
    /// Stacks that events carry, if requested.
    pub(crate) carried: CarriedStacks,
    /// CPU times of events, if requested.
    pub(crate) cpu_times: CpuTimes,
    /// Samples of all profiles, one profile after the other.
    pub(crate) samples: SpilledVec<Sample>,
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
    /// Threads in the order of DevTools: by process, then by first event.
    pub threads: Vec<Thread>,
    /// First and last microsecond of the trace, computed as in DevTools, on the trace's clock;
    /// infinite if the trace has no times.
    pub bounds: (f64, f64),
    /// The nanosecond from which `slice` and `info` count times. Tables count from the start of
    /// `bounds` instead, as DevTools does.
    pub(crate) start: Option<i64>,
    /// CPU profiles that no table includes.
    pub uncounted: UncountedProfiles,
    pub(crate) producer: Producer,
    /// Whether DevTools' rules decide which events count, and the time range. They apply if V8 or
    /// Blink wrote the trace; in other traces all events count.
    pub follows_devtools: bool,
    /// Whether the trace lacks the signs of a recording by Chrome for DevTools. In such a trace
    /// every event is drawn.
    pub is_generic: bool,
    /// Whether the inputs are CPU profiles only.
    pub is_cpu_profile: bool,
    /// Duration of a sample in standalone CPU profiles.
    pub weights: Weights,
    /// Whether calls are computed with the defects of DevTools.
    pub(crate) as_devtools: bool,
    /// Pattern of URLs on the ignore list; if `None`, the list of DevTools' panel.
    pub ignore_list: Option<Matcher>,
    /// Callers across asynchronous tasks, in bottom-up trees; `None` by default.
    pub async_callers: Option<AsyncCallers>,
    /// Companies by domain, for grouping by third party; empty by default.
    pub entities: Entities,
    /// The view that DevTools stored with the trace.
    pub(crate) modifications: Modifications,
    /// Device pixel ratio of the recording screen (`metadata.hostDPR`) of a single input.
    pub host_ratio: Option<f64>,
    /// Date and time of the recording of a single input, as its metadata has them.
    pub recorded: Option<String>,
    /// Number of each input among the ranks of its job (`distributedInfo.rank` of PyTorch).
    pub job_ranks: Vec<Option<u64>>,
    /// Entries hidden in that view.
    pub(crate) hidden: Hidden,
    /// URLs that source maps mark as third-party; they are on the ignore list too.
    pub(crate) libraries: HashSet<u32>,
    /// Results of applying source maps.
    pub mapped: Mapped,
    /// Report of each input.
    pub inputs: Vec<InputReport>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// Distinct reasons, among those that tables look for, why DevTools refuses the trace or draws
    /// nothing of it.
    pub refusals: Vec<Refusal>,
    /// Number of thread events without a time; they are left out.
    pub untimed: u64,
    /// Number of events that belong to no thread's tree, by phase.
    pub unfiled: BTreeMap<u8, u64>,
    /// Number of X events ([`tracemill_viewers::essential::CALLS`]) left out because they repeat
    /// calls of samples.
    pub written_calls: u64,
}

/// The flame chart of a thread: its events, and the calls of its profile.
pub struct Track<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) thread: &'t Thread,
    pub(crate) calls: Option<Arc<Calls>>,
}

impl Track<'_> {
    /// Returns the tree of events and calls, without entries that overlap their parent. Cost: each
    /// use of this method merges events and calls again.
    pub(crate) fn nested(&self) -> Nested<impl Iterator<Item = Placed> + '_> {
        Nested::new(self.merged(), self.is_alone())
    }

    /// Returns events and calls in order. Depths are set only for a standalone CPU profile, which
    /// has calls only.
    pub(crate) fn merged(&self) -> impl Iterator<Item = Placed> + '_ {
        let events = (!self.is_alone()).then(|| self.trace.events(self.thread));
        let calls = self.calls.iter().flat_map(|calls| calls.iter());
        let calls = calls.map(|call| Placed { entry: Entry::of_call(&call), depth: call.depth });
        let events = events.into_iter().flatten().map(|entry| Placed { entry, depth: 0 });
        merge(events, calls)
    }

    /// Returns whether the track shows a standalone CPU profile.
    pub(crate) fn is_alone(&self) -> bool {
        self.trace.stands_alone(self.thread).is_some()
    }
}

impl Trace {
    /// Returns the producer of the trace.
    pub fn producer(&self) -> Producer {
        self.producer
    }

    /// Returns the spillable memory for data of one thread.
    pub fn space(&self) -> Space {
        let share = Share::of_index(1, 2).divided(self.limits.threads);
        Space::new(self.limits.lease("calls of a thread", share), 1)
    }

    /// Returns the spillable memory for the rows of one tree.
    pub fn space_of_rows(&self) -> Space {
        let share = Share::of(1, 8).divided(self.limits.threads);
        Space::new(self.limits.lease("rows of trees", share), 1)
    }

    /// Returns the model of a thread's standalone CPU profile, if it has one.
    pub fn stands_alone<'t>(&self, thread: &'t Thread) -> Option<&'t Model> {
        thread.model.as_deref().filter(|_| thread.kind == ThreadKind::CpuProfile)
    }

    /// Returns the end of a thread's last sample in microseconds. Returns `None` if the thread has
    /// no samples.
    pub fn last_sample(&self, thread: &Thread) -> Option<f64> {
        let end = thread.model.as_deref()?.span.end?;
        Some(self.clock.micros(self.clock.tick(end)))
    }

    /// Converts microseconds on the trace's clock to the time as written in the trace, rounded to a
    /// double.
    pub fn written(&self, micros: f64) -> f64 {
        self.clock.written_micros(self.clock.of_micros(micros))
    }

    pub(crate) fn ticks(&self) -> (f64, f64) {
        (self.clock.of_micros(self.bounds.0), self.clock.of_micros(self.bounds.1))
    }

    /// Returns the written time, in nanoseconds, of time 0 on the trace's clock. Returns `None` if
    /// times are not exact.
    pub fn origin(&self) -> Option<i64> {
        self.clock.origin()
    }

    /// Returns how many milliseconds after the start of the trace DevTools begins to count times.
    /// Returns `None` if the difference is less than a microsecond.
    pub fn devtools_zero(&self) -> Option<f64> {
        let first = Some(self.bounds.0).filter(|first| first.is_finite())?;
        let first = nanos_of(self.clock.written_micros(self.clock.of_micros(first)));
        let after = i128::from(first) - i128::from(self.start?);
        (after.abs() >= 1000).then_some(after as f64 / 1e6)
    }

    /// Returns the start of the trace, which is time 0 of every command, in milliseconds on the
    /// trace's clock.
    pub fn start_ms(&self) -> f64 {
        self.bounds.0 / 1000.0 - self.devtools_zero().unwrap_or(0.0)
    }

    /// Returns the counts of unpaired B and E events of all threads.
    pub fn pairs(&self) -> Pairs {
        let add = |sum: Pairs, thread: &Thread| Pairs {
            unended: sum.unended + thread.pairs.unended,
            lone_ends: sum.lone_ends + thread.pairs.lone_ends,
        };
        self.threads.iter().fold(Pairs::default(), add)
    }

    /// Counts the samples of a thread within a range of ticks.
    pub(crate) fn samples_within(&self, thread: &Thread, within: TickRange) -> u64 {
        if within == TickRange::ALL {
            return thread.samples();
        }
        let range = thread.model.as_deref().map_or(0..0, |model| model.span.range.clone());
        let times = self.samples.range(range).map(|sample| self.clock.tick(sample.ms));
        times.filter(|time| (within.from..=within.to).contains(time)).count() as u64
    }

    fn events(&self, thread: &Thread) -> impl Iterator<Item = Entry> + '_ {
        self.records.range(thread.records.clone()).map(|record| Entry::of_record(&record))
    }

    fn calls(
        &self,
        thread: &Thread,
        model: &Model,
        until: f64,
        space: &Space,
    ) -> Result<Calls, Error> {
        let trace_id = |entry: &Entry| {
            let id = self.details.all[entry.details as usize].trace_id;
            (id != 0).then(|| model.trace_ids.get(&id).copied())
        };
        let samples = self.samples.range(model.span.range.clone());
        let rules = CallRules { model, flags: &self.flags, clock: self.clock, until };
        integrate(self.events(thread), samples, rules, trace_id, space)
    }

    /// Computes the calls of all threads and keeps them, so that further flame charts are free.
    ///
    /// Cost: the samples, and 40 bytes per call, on disk beyond the budget.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails.
    pub fn keep_calls(&mut self) -> Result<(), Error> {
        let profiles = self.threads.iter().filter(|thread| thread.model.is_some()).count();
        let space = self.space().divided(profiles);
        for at in 0..self.threads.len() {
            if self.threads[at].kept.is_none() {
                self.threads[at].kept =
                    self.compute_calls(&self.threads[at], f64::INFINITY, &space)?.map(Arc::new);
            }
        }
        Ok(())
    }

    /// Computes the flame chart of a thread.
    ///
    /// Cost: the events and samples of the thread, and 40 bytes per call, on disk beyond the
    /// budget. Free if the calls are known already.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails.
    pub fn track<'t>(&'t self, thread: &'t Thread) -> Result<Track<'t>, Error> {
        self.track_until(thread, f64::INFINITY)
    }

    /// Computes the flame chart up to the tick `until`. After the last event, calls that begin
    /// after `until` may be missing, and calls that are open at `until` may end at any later tick.
    pub(crate) fn track_until<'t>(
        &'t self,
        thread: &'t Thread,
        until: f64,
    ) -> Result<Track<'t>, Error> {
        let calls = match &thread.kept {
            Some(kept) => Some(Arc::clone(kept)),
            None => self.compute_calls(thread, until, &self.space())?.map(Arc::new),
        };
        Ok(Track { trace: self, thread, calls })
    }

    /// Computes the calls of a thread's samples, if it has a profile.
    pub(crate) fn compute_calls(
        &self,
        thread: &Thread,
        until: f64,
        space: &Space,
    ) -> Result<Option<Calls>, Error> {
        let Some(model) = thread.model.as_deref() else { return Ok(None) };
        if model.is_of_stacks || self.stands_alone(thread).is_some() {
            let samples = self.samples.range(model.span.range.clone());
            return frames(model, samples, space, self.as_devtools, self.clock).map(Some);
        }
        self.calls(thread, model, until, space).map(Some)
    }
}

/// Converts a pid or tid as written in the trace to text without quotes.
pub fn id_text(written: &[u8]) -> String {
    let text = string(written).unwrap_or_else(|| written.to_vec());
    unescaped_text(&text)
}
