//! Gives crates that build on this one access to the contents of a trace.

use crate::entries::{Entry, Placed};
use crate::events::causes::{CauseEvent, ids_of};
use crate::events::compiled::Whole;
use crate::events::counters::Counter;
use crate::events::devices::{Correlated, DeviceEvent, Role};
use crate::events::kinds::Kind;
use crate::events::meta::Meta;
use crate::events::pages::Marked;
use crate::events::tracks::TrackEvent;
use crate::profile::model::Model;
use crate::profile::samples::Sample;
use crate::trace::{Thread, Trace, Track};
use crate::value::clock::Clock;
use crate::value::record::Record;
use crate::value::space::Space;
use tracemill_trace::Error;
use tracemill_trace::event::names::Names;
use tracemill_trace::order::SortedByKey;
use tracemill_trace::run::limits::Limits;

impl Thread {
    /// Returns the CPU profile of the thread.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_deref()
    }

    /// Returns the number of the thread's track, as in [`DeviceEvent::lane`]. Returns `None` if the
    /// thread has no events.
    pub fn lane(&self) -> Option<u32> {
        self.lane
    }
}

impl Track<'_> {
    /// Returns events and calls in pre-order, without those that overlap their parent in part.
    /// Cost: merges events and calls again.
    pub fn entries(&self) -> impl Iterator<Item = Placed> + '_ {
        self.nested()
    }
}

impl Trace {
    /// Returns the limits on memory and threads for the analysis.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the clock of the trace's events.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns the CPU time of an event in microseconds, if the trace has it and
    /// [`Wanted::cpu_times`](crate::Wanted::cpu_times) requested it.
    pub fn cpu_time(&self, entry: &Entry) -> Option<f64> {
        self.cpu_times.of(entry.number()).filter(|_| !entry.is_call())
    }

    /// Returns the table of texts, which maps numbers to names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the kinds of events, in the order of their numbers.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds.all
    }

    /// Returns the [flags](crate::events::kinds::flag) of each kind.
    pub fn flags(&self) -> &[u16] {
        &self.flags
    }

    /// Returns the names of processes and threads, and the frames of pages.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns the page events (navigations, paints, requests, layout shifts and others), in input
    /// order.
    pub fn marks(&self) -> &[Marked] {
        &self.pages.all
    }

    /// Returns the summaries of counters, in the order of the inputs.
    pub fn counters(&self) -> &[Counter] {
        &self.counters.all
    }

    /// Returns the events of a thread, sorted by time.
    pub fn records(&self, thread: &Thread) -> impl Iterator<Item = Record> + '_ {
        self.records.range(thread.records.clone())
    }

    /// Returns the samples of a CPU profile, sorted by time.
    pub fn samples(&self, model: &Model) -> impl Iterator<Item = Sample> + '_ {
        self.samples.range(model.span.range.clone())
    }

    /// Returns the GPU events of PyTorch's profiler, in input order.
    pub fn device_events(&self) -> impl Iterator<Item = DeviceEvent> + '_ {
        self.devices.iter()
    }

    /// Returns the GPU events and their launches, without steps, by correlation id.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails.
    pub fn correlated(&self, space: &Space) -> Result<SortedByKey<Correlated>, Error> {
        let mut events = space.sorter(2);
        for event in self.device_events().filter(|event| event.role != Role::Step) {
            events.push(Correlated(event))?;
        }
        events.finish()
    }

    /// Returns the events of DevTools' tracks, in input order.
    pub fn track_events(&self) -> impl Iterator<Item = TrackEvent> + '_ {
        self.tracks.iter()
    }

    /// Returns the events that may cause others, in the order of the inputs.
    pub fn cause_events(&self) -> impl Iterator<Item = CauseEvent> + '_ {
        self.causes.iter()
    }

    /// Returns an event that may cause others by its number among all. Cost: a binary search.
    pub fn cause_event(&self, number: u64) -> Option<CauseEvent> {
        let at = self.causes.partition_point(|event| event.number < number);
        self.causes.get(at).filter(|event| event.number == number)
    }

    /// Returns an event that may cause others by its offset in the address space of the inputs.
    /// Cost: a binary search.
    pub fn cause_event_at(&self, offset: u64) -> Option<CauseEvent> {
        let at = self.causes.partition_point(|event| event.offset < offset);
        self.causes.get(at).filter(|event| event.offset == offset)
    }

    /// Returns the pid and tid of an event as written, or as a merge of the inputs renames them.
    pub fn ids_of(&self, event: &CauseEvent) -> (&[u8], &[u8]) {
        ids_of(self.names.bytes_of(event.thread))
    }

    /// Returns the start of an event in milliseconds on the trace's clock.
    pub fn start_of(&self, event: &CauseEvent) -> f64 {
        self.clock.ms_of(event.ts)
    }

    /// Returns the number of the thread of an event, unless no table has the thread.
    pub fn thread_of(&self, event: &CauseEvent) -> Option<usize> {
        let (pid, tid) = self.ids_of(event);
        let is_it = |thread: &Thread| *thread.pid == *pid && *thread.tid == *tid;
        self.threads.iter().position(is_it)
    }

    /// Returns the start of a sample of a CPU profile in milliseconds on the trace's clock.
    pub fn start_of_sample(&self, model: &Model, sample: u32) -> Option<f64> {
        let sample = self.samples.get(model.span.range.start + sample as usize)?;
        Some(self.clock.ms_of(self.clock.tick(sample.ms)))
    }

    /// Returns the stack that an entry carries, as [`stack_texts`](crate::events::carried::stack_texts)
    /// reads it; empty if it carries none. Cost: a binary search if it may carry one.
    pub fn carried_stack(&self, entry: &Entry) -> Vec<u8> {
        match entry.is_call() || !self.details.all[entry.details as usize].is_stacked {
            true => Vec::new(),
            false => self.carried.of(entry.number()),
        }
    }

    /// Returns the files that clang included on a thread.
    pub fn included(&self, thread: &Thread) -> &[Whole] {
        thread.lane.map_or(&[], |lane| self.included.of(lane))
    }

    /// Returns the number of the text that reports show for an event: the detail of a clang event,
    /// or the stack frame of a forced layout. Returns 0 if there is none.
    pub fn reported_text(&self, record: &Record) -> u32 {
        self.details.all[record.details as usize].subject
    }
}
