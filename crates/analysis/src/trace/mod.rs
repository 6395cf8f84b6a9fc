//! A trace, or several, or CPU profiles, read: its threads with their events and samples.

mod access;
pub(crate) mod choose;
pub(crate) mod hiding;
pub(crate) mod profiles;
pub(crate) mod uncounted;

use crate::entries::calls::integrate;
use crate::entries::sorting::{FiledRecords, Pairs};
use crate::entries::{Entry, Nested, Placed, merge};
use crate::events::compiled::Included;
use crate::events::counters::Counters;
use crate::events::details::{DetailsTable, Wanted};
use crate::events::devices::DeviceEvent;
use crate::events::entities::Entities;
use crate::events::kinds::Kinds;
use crate::events::meta::Meta;
use crate::events::modifications::{Hidden, Modifications};
use crate::events::pages::Pages;
use crate::events::producer::Producer;
use crate::profile::frames::frames;
use crate::profile::made::Calls;
use crate::profile::maps::Mapped;
use crate::profile::model::{Model, Weights};
use crate::profile::refusals::Refusal;
use crate::profile::samples::Sample;
use crate::trace::uncounted::UncountedProfiles;
use crate::value::clock::{Clock, Times, nanos_of};
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

/// How inputs are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadRules {
    /// Details of events that are wanted.
    pub wanted: Wanted,
    /// How times are counted.
    pub times: Times,
    /// For how long samples count in CPU profiles that stand alone. Beside the events of a trace each lasts until the next.
    pub weights: Weights,
    /// Events whose names differ in digits only are of one name: each run of digits is an N.
    pub fold_numbers: bool,
    /// Do not look for what DevTools refuses, which costs a part of the scan: there are no [`Trace::refusals`] then.
    pub ignore_refusals: bool,
    /// Nothing is made but calls: threads without samples have no events.
    pub only_calls: bool,
    /// Look at it as DevTools did when it stored the trace, for [`Trace::opening_window`]; `as_devtools` does so too.
    pub as_stored: bool,
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
    /// The path of the input of a whole profile, or of a thread that has the same name as one of another input; empty for
    /// standard input.
    pub input: Option<String>,
    /// The number of the input that its first event, or its profile, stands in.
    pub input_number: usize,
    /// The number of its lane, if it has events.
    pub(crate) lane: Option<u32>,
    /// Its stretch of all records.
    pub(crate) records: Range<usize>,
    /// Few threads have one.
    pub(crate) model: Option<Box<Model>>,
    /// Calls of its samples, where they are counted before anything is made of them.
    pub(crate) kept: Option<Arc<Calls>>,
    /// What became of B and E events.
    pub pairs: Pairs,
}

impl Thread {
    /// Samples of its profile.
    pub fn samples(&self) -> u64 {
        self.model.as_deref().map_or(0, |model| model.span.count)
    }

    /// Samples that name no node of the profile.
    pub fn unknown_samples(&self) -> u64 {
        self.model.as_deref().map_or(0, |model| model.span.unknown)
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
    pub(crate) counters: Counters,
    pub(crate) pages: Pages,
    /// URLs of events of images, by their numbers.
    pub(crate) image_urls: HashMap<u64, Box<[u8]>>,
    /// Numbers of events that requests have one of, the last.
    pub(crate) of_requests: HashSet<u64>,
    pub(crate) included: Included,
    /// Of all threads, thread by thread.
    pub(crate) records: FiledRecords,
    /// What PyTorch's profiler tells of devices, in the order of the inputs.
    pub(crate) devices: SpilledVec<DeviceEvent>,
    /// Of all profiles, one after the other.
    pub(crate) samples: SpilledVec<Sample>,
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
    /// In the order of DevTools: by process, each in the order of first events.
    pub threads: Vec<Thread>,
    /// First and last microsecond (§11) on the trace's clock; infinite if there is none.
    pub bounds: (f64, f64),
    /// The nanosecond from which `slice` and `info` count times, where tables count from the first of `bounds` by the rules of DevTools.
    pub(crate) start: Option<i64>,
    /// CPU profiles of which nothing is in the tables.
    pub uncounted: UncountedProfiles,
    pub(crate) producer: Producer,
    /// Whether rules of DevTools decide which events count, from when to when: V8 or Blink wrote the
    /// trace. Else all events count.
    pub follows_devtools: bool,
    /// Whether Chrome did not record it for DevTools: then every event is drawn.
    pub is_generic: bool,
    /// Whether all there is are CPU profiles.
    pub is_cpu_profile: bool,
    /// For how long samples count in CPU profiles that stand alone.
    pub weights: Weights,
    /// Whether calls are as in DevTools where that is a defect.
    pub(crate) as_devtools: bool,
    /// URLs that are on the ignore list; if `None` those that the panel of DevTools has there.
    pub ignore_list: Option<Matcher>,
    /// Companies by their domains, for groups by third party; none unless given.
    pub entities: Entities,
    /// How the trace was looked at when DevTools stored it.
    pub(crate) modifications: Modifications,
    /// Entries that DevTools hides then.
    pub(crate) hidden: Hidden,
    /// URLs of sources that source maps say are of others: they are on the ignore list too.
    pub(crate) libraries: HashSet<u32>,
    /// What source maps did.
    pub mapped: Mapped,
    /// Of each input.
    pub inputs: Vec<InputReport>,
    /// What the user should know, one sentence each.
    pub warnings: Vec<Warning>,
    /// Why DevTools does not open it, or draws nothing of it, as far as tables need to look at it; each once.
    pub refusals: Vec<Refusal>,
    /// Events of threads that have no time: they are left out.
    pub untimed: u64,
    /// Number of events of each phase that no thread's tree can hold.
    pub unfiled: BTreeMap<u8, u64>,
    /// Calls that were written as events ([`tracemill_viewers::essential::CALLS`]) beside the samples that they were made of: they are left out, since
    /// calls are made of the samples.
    pub written_calls: u64,
}

/// A thread's flame chart: its events, and the calls of its profile.
pub struct Track<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) thread: &'t Thread,
    pub(crate) calls: Option<Arc<Calls>>,
}

impl Track<'_> {
    /// Events and calls that have a place, nested. Cost: they are merged each time.
    pub(crate) fn nested(&self) -> Nested<impl Iterator<Item = Placed> + '_> {
        Nested::new(self.merged(), self.is_alone())
    }

    /// Events and calls in order; of a profile that stands alone calls, with their depths.
    pub(crate) fn merged(&self) -> impl Iterator<Item = Placed> + '_ {
        let events = (!self.is_alone()).then(|| self.trace.events(self.thread));
        let calls = self.calls.iter().flat_map(|own| own.iter());
        let calls = calls.map(|call| Placed { entry: Entry::of_call(&call), depth: call.depth });
        let events = events.into_iter().flatten().map(|entry| Placed { entry, depth: 0 });
        merge(events, calls)
    }

    /// Whether it is that of a CPU profile that stands alone.
    pub(crate) fn is_alone(&self) -> bool {
        self.trace.stands_alone(self.thread).is_some()
    }
}

impl Trace {
    /// Returns the producer.
    pub fn producer(&self) -> Producer {
        self.producer
    }

    /// Room for what is made of one thread.
    pub fn space(&self) -> Space {
        let share = Share::of_index(3, 4).divided(self.limits.threads);
        Space::new(self.limits.lease("calls of a thread", share), 1)
    }

    /// What the rows of one tree have of it.
    pub fn space_of_rows(&self) -> Space {
        let share = Share::of(1, 8).divided(self.limits.threads);
        Space::new(self.limits.lease("rows of trees", share), 1)
    }

    /// Whether a thread's calls are those of a CPU profile that stands alone.
    pub fn stands_alone<'t>(&self, thread: &'t Thread) -> Option<&'t Model> {
        thread.model.as_deref().filter(|_| thread.kind == ThreadKind::CpuProfile)
    }

    /// When the last sample of a thread ends, in microseconds; `None` without samples.
    pub fn last_sample(&self, thread: &Thread) -> Option<f64> {
        let end = thread.model.as_deref()?.span.end?;
        Some(self.clock.micros(self.clock.tick(end)))
    }

    /// Microseconds on its clock as they are written in the trace: the double nearest to that.
    pub fn written(&self, micros: f64) -> f64 {
        self.clock.written_micros(self.clock.of_micros(micros))
    }

    /// First and last tick.
    pub(crate) fn ticks(&self) -> (f64, f64) {
        (self.clock.of_micros(self.bounds.0), self.clock.of_micros(self.bounds.1))
    }

    /// Where its times begin, in nanoseconds, if they are exact ones: all times that are said to be on its clock count from there.
    pub fn origin(&self) -> Option<i64> {
        self.clock.origin()
    }

    /// Returns how many milliseconds after the start of the trace, from which `slice` and `info` count times, DevTools begins to
    /// count, if its rules apply and it begins at another microsecond.
    pub fn devtools_zero(&self) -> Option<f64> {
        let first = Some(self.bounds.0).filter(|first| first.is_finite())?;
        let first = nanos_of(self.clock.written_micros(self.clock.of_micros(first)));
        let after = i128::from(first) - i128::from(self.start?);
        (after.abs() >= 1000).then_some(after as f64 / 1e6)
    }

    /// Returns the start of the trace in milliseconds on its clock: the moment from which every verb counts times.
    pub fn start_ms(&self) -> f64 {
        self.bounds.0 / 1000.0 - self.devtools_zero().unwrap_or(0.0)
    }

    /// What became of all B and E events.
    pub fn pairs(&self) -> Pairs {
        let add = |sum: Pairs, thread: &Thread| Pairs {
            unended: sum.unended + thread.pairs.unended,
            lone_ends: sum.lone_ends + thread.pairs.lone_ends,
        };
        self.threads.iter().fold(Pairs::default(), add)
    }

    /// Samples of a thread in a stretch of ticks.
    pub(crate) fn samples_within(&self, thread: &Thread, (from, to): (f64, f64)) -> u64 {
        if from == f64::NEG_INFINITY && to == f64::INFINITY {
            return thread.samples();
        }
        let range = thread.model.as_deref().map_or(0..0, |model| model.span.range.clone());
        let times = self.samples.range(range).map(|sample| self.clock.tick(sample.ms));
        times.filter(|time| (from..=to).contains(time)).count() as u64
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
        let made_of = (self.events(thread), samples, until);
        integrate(made_of, (model, &self.flags, self.clock), trace_id, space)
    }

    /// The flame chart of a thread. Cost: its events and samples, and 40 bytes for each call, on disk beyond the budget; nothing where its
    /// calls are there already.
    ///
    /// # Errors
    /// What temporary files say.
    pub fn track<'t>(&'t self, thread: &'t Thread) -> Result<Track<'t>, Error> {
        self.track_until(thread, f64::INFINITY)
    }

    /// The same for who looks no further than `until`, a tick: of calls behind all events those that begin later may be missing, and
    /// those that are open then may end anywhere behind it.
    pub(crate) fn track_until<'t>(
        &'t self,
        thread: &'t Thread,
        until: f64,
    ) -> Result<Track<'t>, Error> {
        let calls = match &thread.kept {
            Some(kept) => Some(Arc::clone(kept)),
            None => self.made(thread, until, &self.space())?.map(Arc::new),
        };
        Ok(Track { trace: self, thread, calls })
    }

    /// The calls of a thread's samples, if it has a profile.
    pub(crate) fn made(
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

/// Returns a pid or tid, given as written, as text without quotes.
pub fn id_text(written: &[u8]) -> String {
    let text = string(written).unwrap_or_else(|| written.to_vec());
    unescaped_text(&text)
}
