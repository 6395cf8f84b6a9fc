//! Access to the contents of a trace for crates that build on it.

use crate::events::compiled::Whole;
use crate::events::counters::Counter;
use crate::events::devices::DeviceEvent;
use crate::events::kinds::Kind;
use crate::events::meta::Meta;
use crate::events::pages::Marked;
use crate::profile::model::Model;
use crate::profile::samples::Sample;
use crate::trace::{Thread, Trace};
use crate::value::clock::Clock;
use crate::value::record::Record;
use tracemill_trace::event::names::Names;
use tracemill_trace::run::limits::Limits;

impl Thread {
    /// Returns its CPU profile.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_deref()
    }

    /// Returns the number by which [`DeviceEvent::lane`] names it; `None` if it has no events.
    pub fn lane(&self) -> Option<u32> {
        self.lane
    }
}

impl Trace {
    /// Returns what the run may take.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the clock of its events.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns its texts by their numbers.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the kinds of events by their numbers.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds.all
    }

    /// Returns the [flags](crate::events::kinds::flag) of each kind.
    pub fn flags(&self) -> &[u16] {
        &self.flags
    }

    /// Returns names of processes, frames and pages.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Returns the page events (navigations, paints, requests, layout shifts), in input order.
    pub fn marks(&self) -> &[Marked] {
        &self.pages.all
    }

    /// Returns the values of counters, in the order of the inputs.
    pub fn counters(&self) -> &[Counter] {
        &self.counters.all
    }

    /// Returns the events of a thread, by time.
    pub fn records(&self, thread: &Thread) -> impl Iterator<Item = Record> + '_ {
        self.records.range(thread.records.clone())
    }

    /// Returns the samples of a CPU profile, by time.
    pub fn samples(&self, model: &Model) -> impl Iterator<Item = Sample> + '_ {
        self.samples.range(model.span.range.clone())
    }

    /// Returns events that matter to devices, in the order of the inputs.
    pub fn device_events(&self) -> impl Iterator<Item = DeviceEvent> + '_ {
        self.devices.iter()
    }

    /// Returns the files that clang included on a thread.
    pub fn included(&self, thread: &Thread) -> &[Whole] {
        thread.lane.map_or(&[], |lane| self.included.of(lane))
    }

    /// Returns the text that reports show of an event: the detail of a clang event, or the stack
    /// frame of a forced layout; 0 for none.
    pub fn reported_text(&self, record: &Record) -> u32 {
        self.details.all[record.details as usize].subject
    }
}
