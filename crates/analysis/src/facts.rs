//! The scan: each event that a thread's tree can hold becomes a record of 32 bytes in the lane of its thread.
//!
//! A record keeps what every tree needs. What only some rows need (trace ids of samples, requests, URLs, frames) stands in
//! `args` and is decoded by the worker only where a quick search finds the word; equal ones are kept once.

use crate::details::{Details, DetailsTable, Wanted};
use crate::kinds::{Kind, Kinds, NO_CAT};
use crate::meta::Notable;
use crate::names::Names;
use crate::value::number;
use std::collections::HashMap;
use tracemill_pipeline::{Findings, Stretch};
use tracemill_tokenizer::{Event, Field, unescape};

/// An event of a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Record {
    /// Microseconds.
    pub(crate) ts: f64,
    /// Microseconds; 0 if missing.
    pub(crate) dur: f64,
    pub(crate) kind: u32,
    /// Number of its details; 0 for none.
    pub(crate) details: u32,
    /// Number among all events, and its phase in the lowest byte.
    tagged: u64,
}

impl Record {
    pub(crate) fn phase(&self) -> u8 {
        self.tagged as u8
    }

    pub(crate) fn number(&self) -> u64 {
        self.tagged >> 8
    }
}

/// The events of a thread, in input order.
pub(crate) struct Lane {
    /// As written, or the canonical form of numbers; empty if missing.
    pub(crate) pid: Box<[u8]>,
    pub(crate) tid: Box<[u8]>,
    /// The number of the input of its first event.
    pub(crate) input: usize,
    pub(crate) records: Vec<Record>,
}

/// What the bounds of a trace are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl Bounds {
    pub(crate) fn add(&mut self, min: f64, max: f64) {
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }
}

/// What is found in the events of a stretch, or of all.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) wanted: Wanted,
    pub(crate) names: Names,
    pub(crate) kinds: Kinds,
    pub(crate) details: DetailsTable,
    /// In the order of their first events.
    pub(crate) lanes: Vec<Lane>,
    numbers: HashMap<Box<[u8]>, usize>,
    last: Option<usize>,
    /// Events of the scan that names, frames and bounds are made of.
    pub(crate) notable: Vec<Notable>,
    pub(crate) bounds: Bounds,
    /// The same of calls that were written as events.
    pub(crate) call_bounds: Bounds,
    /// Whether an event says that Chrome recorded the trace for DevTools.
    pub(crate) is_web: bool,
    /// Events of threads that have no time.
    pub(crate) untimed: u64,
    scratch: Vec<u8>,
}

impl Facts {
    pub(crate) fn new(wanted: Wanted) -> Self {
        Facts { wanted, ..Facts::default() }
    }

    /// The lane of an event: that of the event before, if it is the same.
    fn lane(&mut self, pid: &[u8], tid: &[u8]) -> usize {
        if let Some(last) = self.last
            && (&*self.lanes[last].pid, &*self.lanes[last].tid) == (pid, tid)
        {
            return last;
        }
        self.scratch.clear();
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
                    input: usize::MAX,
                    records: Vec::new(),
                });
                self.lanes.len() - 1
            }
        };
        *self.last.insert(lane)
    }

    fn kind(&mut self, event: &Event<'_>) -> u32 {
        let name = self.text(event.field(Field::Name)).unwrap_or(0);
        let cat = self.text(event.field(Field::Cat)).unwrap_or(NO_CAT);
        self.kinds.number(Kind { name, cat })
    }

    /// The number of a text field's content.
    fn text(&mut self, value: Option<&[u8]>) -> Option<u32> {
        let value = value?;
        let content = match value {
            [b'"', content @ .., b'"'] => content,
            _ => value,
        };
        if !content.contains(&b'\\') {
            return Some(self.names.number(content));
        }
        self.scratch.clear();
        unescape(content, &mut self.scratch);
        Some(self.names.number(&self.scratch))
    }

    /// Takes over what a later stretch found.
    pub(crate) fn append(&mut self, later: Facts, stretch: Stretch) {
        let texts = self.names.append(&later.names);
        let kinds = self.kinds.append(&later.kinds, &texts);
        let details = self.details.append(&later.details, &texts);
        for lane in later.lanes {
            let at = self.lane(&lane.pid, &lane.tid);
            self.lanes[at].input = self.lanes[at].input.min(stretch.input);
            let moved = lane.records.into_iter().map(|record| Record {
                kind: kinds[record.kind as usize],
                details: details[record.details as usize],
                tagged: record.tagged + (stretch.first << 8),
                ..record
            });
            self.lanes[at].records.extend(moved);
        }
        self.notable.extend(later.notable);
        self.bounds.add(later.bounds.min, later.bounds.max);
        self.call_bounds.add(later.call_bounds.min, later.call_bounds.max);
        self.is_web |= later.is_web;
        self.untimed += later.untimed;
    }
}

impl Findings for Facts {
    #[inline]
    fn event(&mut self, event: &Event<'_>, number_in: u64, _offset: u64) {
        if let Some(notable) = Notable::of(event) {
            self.is_web |= notable.is_web();
            self.notable.push(notable);
        }
        let phase = event.phase();
        if !matches!(phase, b'X' | b'I' | b'B' | b'E') {
            return;
        }
        let Some(ts) = event.field(Field::Ts).and_then(number) else {
            self.untimed += 1;
            return;
        };
        let dur = event.field(Field::Dur).and_then(number).unwrap_or(0.0);
        let kind = self.kind(event);
        let name = self.kinds.all[kind as usize].name;
        if ts != 0.0 && !self.names.bytes_of(name).ends_with(b"::UMA") {
            let is_call = self.kinds.is_call(kind, &self.names);
            let bounds = if is_call { &mut self.call_bounds } else { &mut self.bounds };
            bounds.add(ts, ts + dur);
        }
        let details = match phase {
            b'E' => 0,
            _ => {
                let found = Details::of(event, phase, self.names.bytes_of(name), self.wanted);
                found.map_or(0, |found| self.details.number(&found, &mut self.names))
            }
        };
        let id = |field| event.field(field).unwrap_or_default();
        let lane = self.lane(id(Field::Pid), id(Field::Tid));
        let tagged = number_in << 8 | u64::from(phase);
        self.lanes[lane].records.push(Record { ts, dur, kind, details, tagged });
    }
}
