//! Reads inputs into rows, with one pass over the inputs and two sorts. A lane is a track of the
//! page, drawn in one or more rows; a mark is a begin or end event.
//!
//! ```text
//!   scan ─┬─ X, instants, counters ───────────────> by lane and time ─> rows ─> tracks
//!         └─ B E b e S F ─> by thread or id ─> pairs ──┘
//! ```
//!
//! Sorts and lists have shares of the memory budget. Data beyond a share is on disk.

pub(crate) mod calls;
pub(crate) mod long;
pub(crate) mod placing;

use crate::build::placing::{Placed, Placing};
use crate::model::{Arranged, Model, TraceFacts};
use crate::tracks::flows::{ByLane, Flows};
use crate::tracks::found::{EachChunk, Found};
use crate::tracks::joined::{InputNotes, Joined};
use crate::tracks::lane::{Lane, LaneInfo, processes};
use crate::tracks::names::SharedNames;
use crate::tracks::notes::Notes;
use crate::tracks::record::{Mark, NO_PLACE, OPEN, Span, Timed, colored, place_of_call};
use std::sync::Arc;
use tracemill_analysis::{Entries, ReadRules, TableRules, Trace, View};
use tracemill_index::drawing::{LaneKey, LaneKind, LaneTable, NAME_MOST};
use tracemill_join::config::Config;
use tracemill_join::input_set::InputSet;
use tracemill_trace::event::pairing::{self, Begins};
use tracemill_trace::order::{KeySorter, Keyed};
use tracemill_trace::run::error::ErrorKind;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::SpillVec;
use tracemill_trace::time::bounds::Bounds;
use tracemill_trace::{Error, Source};

/// Share of the memory budget for each of the three lists of flows.
const FLOWS: Share = Share::of_index(1, 24);
/// Share of the memory budget for intervals.
pub(crate) const SPANS: Share = Share::of_index(1, 3);
/// Share of the memory budget for begin and end events before they are paired.
const MARKS: Share = Share::of_index(1, 6);

pub(crate) fn sorter<R: Keyed>(config: &Config, name: &'static str, share: Share) -> KeySorter<R> {
    // a list doubles when it is full
    KeySorter::new(config.limits.lease(name, share).divided(2), config.limits.threads)
}

pub(crate) struct All {
    names: SharedNames,
    pub(crate) lanes: Arc<LaneTable>,
    pub(crate) parts: InputNotes,
    spans: KeySorter<Timed>,
    marks: Option<KeySorter<Mark>>,
    flows: KeySorter<Mark>,
    pub(crate) facts: TraceFacts,
    given: u64,
}

impl All {
    pub(crate) fn new(names: SharedNames, lanes: Arc<LaneTable>, config: &Config) -> Self {
        All {
            names,
            lanes,
            parts: InputNotes::default(),
            spans: sorter(config, "spans by lane", SPANS),
            marks: Some(sorter(config, "begins and ends", MARKS)),
            flows: sorter(config, "points of flows", FLOWS),
            facts: TraceFacts { undrawn: Some(0), lone_ends: Some(0), ..TraceFacts::default() },
            given: config.limits.memory,
        }
    }

    pub(crate) fn append(&mut self, found: Found, input: usize) -> Result<(), Error> {
        let names = self.names.append(&found.labels.names);
        let lanes = self.numbers(found.labels.lanes, input as u32);
        self.parts.add(input, found.notes, found.times);
        self.facts.events += found.events;
        self.facts.undrawn = self.facts.undrawn.map(|undrawn| undrawn + found.undrawn);
        self.facts.event_bytes += found.bytes;
        for Timed(lane, span) in found.spans {
            let span = Span { name: names[span.name as usize], ..span };
            self.spans.push(Timed(lanes[lane as usize], span))?;
        }
        for mark in found.marks {
            let (lane, name) = (lanes[mark.lane as usize], names[mark.name as usize]);
            let is_thread = mark.group >> 63 == 0;
            let group = if is_thread { u64::from(lane) } else { mark.group };
            let marks = self.marks.as_mut();
            marks.map_or(Ok(()), |marks| marks.push(Mark { group, lane, name, ..mark }))?;
        }
        for mark in found.flows {
            self.flows.push(Mark { lane: lanes[mark.lane as usize], ..mark })?;
        }
        self.check()
    }

    pub(crate) fn name(&self, text: &[u8]) -> u32 {
        self.names.number(text)
    }

    pub(crate) fn keep_spans(
        &mut self,
        config: &Config,
        mut is_kept: impl FnMut(&Timed) -> bool,
    ) -> Result<(), Error> {
        let all =
            std::mem::replace(&mut self.spans, sorter(config, "spans by lane", SPANS)).finish()?;
        let mut kept = all.iter().filter(|span| is_kept(span));
        kept.try_for_each(|span| self.spans.push(span))
    }

    pub(crate) fn push(&mut self, span: Timed) -> Result<(), Error> {
        self.spans.push(span)
    }

    fn numbers(&mut self, other: LaneTable, input: u32) -> Vec<u32> {
        let number = |key: LaneKey| {
            let key = LaneKey { input, ..key };
            let known = self.lanes.get(&key);
            known.unwrap_or_else(|| Arc::make_mut(&mut self.lanes).add(key))
        };
        other.into_keys().into_iter().map(number).collect()
    }

    /// Checks that names and lanes take at most a quarter of the memory budget. They must stay in
    /// memory.
    pub(crate) fn check(&self) -> Result<(), Error> {
        /// Estimated bytes per lane, in addition to its texts.
        const LANE: u64 = 400;
        let lanes = self.lanes.heap() + self.parts.heap() + self.lanes.all().len() as u64 * LANE;
        let bytes = self.names.heap() + lanes;
        if bytes > self.given / 4 {
            let what = format!("names and tracks take {} MiB", bytes >> 20);
            return Err(ErrorKind::Exceeded { what, given: self.given }.into());
        }
        Ok(())
    }

    /// Moves the lanes and times of each input to those of the merged trace. Cost: a sort, or
    /// nothing if the merge changes no pid and no time.
    fn join(&mut self, joined: &Joined, config: &Config) -> Result<(), Error> {
        if joined.is_same() {
            return Ok(());
        }
        let spans =
            std::mem::replace(&mut self.spans, sorter(config, "spans by lane", SPANS)).finish()?;
        for Timed(lane, span) in spans.iter() {
            let lane = joined.lane(lane);
            let start = span.start.saturating_add(lane.offset);
            self.spans.push(Timed(lane.number, Span { start, ..span }))?;
        }
        let flows = std::mem::replace(&mut self.flows, sorter(config, "points of flows", FLOWS))
            .finish()?;
        for point in flows.iter() {
            self.flows.push(joined.mark(point))?;
        }
        let Some(before) = self.marks.replace(sorter(config, "begins and ends", MARKS)) else {
            return Ok(());
        };
        let before = before.finish()?;
        for mark in before.iter() {
            let mark = joined.mark(mark);
            self.marks.as_mut().map_or(Ok(()), |marks| marks.push(mark))?;
        }
        Ok(())
    }

    /// Pairs begin and end marks, and adds the resulting intervals. With `by_name`, an end mark
    /// that has a name closes only a begin mark of the same name.
    pub(crate) fn pair(&mut self, end: i64, by_name: bool, config: &Config) -> Result<(), Error> {
        let Some(marks) = self.marks.take() else { return Ok(()) };
        let marks = marks.finish()?;
        let (mut open, room): (Begins<Mark>, _) = (Begins::default(), config.limits.open_quota());
        let mut group = None;
        for mark in marks.iter() {
            if group != Some(mark.group) {
                self.leave_open(&mut open, end)?;
                group = Some(mark.group);
            }
            if matches!(mark.phase, b'B' | b'b' | b'S') {
                open.begin(mark.pair, mark);
                room.check(open.heap(), pairing::OPEN)?;
                continue;
            }
            let begin = match by_name && mark.pair != 0 {
                true => open.end_named(mark.pair),
                false => open.end(mark.pair),
            };
            match begin {
                Some(begin) => {
                    let dur = mark.ts.saturating_sub(begin.ts);
                    self.spans.push(interval(&begin, dur, 0))?;
                }
                None => self.facts.lone_ends = self.facts.lone_ends.map(|ends| ends + 1),
            }
        }
        self.leave_open(&mut open, end)
    }

    fn leave_open(&mut self, open: &mut Begins<Mark>, end: i64) -> Result<(), Error> {
        for begin in open.values() {
            self.facts.unended += 1;
            let dur = end.saturating_sub(begin.ts).max(0);
            self.spans.push(interval(&begin, dur, OPEN))?;
        }
        open.clear();
        Ok(())
    }

    /// Adds the calls of CPU profiles as separate lanes. Cost: a second pass over the inputs.
    pub(crate) fn calls(&mut self, sources: &[Source], config: &Config) -> Result<(), Error> {
        let trace = Trace::read(sources, ReadRules::default(), config)?;
        for thread in trace.threads.iter().filter(|thread| thread.samples() > 0) {
            let (pid, tid) = (thread.pid.clone(), thread.tid.clone());
            let key = LaneKey { kind: LaneKind::Calls, pid, track: tid, input: 0 };
            let lane = Arc::make_mut(&mut self.lanes).add(key);
            let track = trace.track(thread)?;
            let rules = TableRules { entries: Entries::All, as_devtools: false };
            View::new(&track, rules).call_rows(|row| {
                let text = if row.name.is_empty() { b"(anonymous)" } else { row.name };
                let name = self.names.number(&text[..text.len().min(NAME_MOST)]);
                let nanos = |micros: f64| (micros * 1000.0).round() as i64;
                let start = nanos(row.ts);
                let dur = nanos(row.ts + row.dur).saturating_sub(start).max(0);
                self.facts.bounds = Some(match self.facts.bounds {
                    Some((first, last)) => (first.min(start), last.max(start + dur)),
                    None => (start, start + dur),
                });
                let place = self.place_of(row.url, row.line, row.column);
                self.spans.push(Timed(lane, Span { start, dur, place, name, row: 0, flags: 0 }))
            })?;
        }
        self.check()
    }
}

impl All {
    /// Returns the offset of a call, which names the source location of its function.
    fn place_of(&self, url: &[u8], line: Option<i64>, column: Option<i64>) -> u64 {
        if url.is_empty() {
            return NO_PLACE;
        }
        let mut text = url[..url.len().min(NAME_MOST)].to_vec();
        // lines and columns count from 0 in profiles, and from 1 in editors
        for number in [line, column].into_iter().map_while(|number| number) {
            text.extend_from_slice(format!(":{}", number + 1).as_bytes());
        }
        place_of_call(self.names.number(&text))
    }
}

fn interval(begin: &Mark, dur: i64, flags: u16) -> Timed {
    let Mark { ts, place, name, lane, color, .. } = *begin;
    let flags = flags | colored(color);
    Timed(lane, Span { start: ts, dur, place, name, row: 0, flags })
}

pub(crate) fn build(sources: &[Source], config: &Config) -> Result<Model, Error> {
    let mut all = All::new(SharedNames::default(), Arc::default(), config);
    let merge_config = config.as_merged();
    let scanned =
        InputSet::read(sources, &merge_config, EachChunk(|found, input| all.append(found, input)))?;
    let lanes = Arc::unwrap_or_clone(std::mem::take(&mut all.lanes));
    let (joined, lanes) = Joined::new(lanes, &scanned);
    all.join(&joined, config)?;
    all.lanes = Arc::new(lanes);
    (all.facts.joined, all.facts.origins) = (joined.sentence, joined.origins);
    if !scanned.profiles().is_empty() {
        all.calls(sources, &merge_config)?;
    }
    let (notes, times) = std::mem::take(&mut all.parts).joined(&scanned);
    let bounds = bounds_of(times.bounds(), all.facts.bounds);
    all.pair(bounds.end, false, config)?;
    all.facts.lost = scanned.reports().iter().map(InputReport::lost).sum();
    let arranged = arrange(all, |_| Ok(()), Vec::new(), &notes, config)?;
    let processes = processes(&arranged.lanes, &notes, &arranged.facts.origins);
    Ok(arranged.model(processes, bounds, scanned))
}

/// Combines the bounds of events with those of calls. If there are neither, returns one nanosecond
/// at time 0.
pub(crate) fn bounds_of(of_events: Option<Bounds>, of_calls: Option<(i64, i64)>) -> Bounds {
    match (of_events, of_calls) {
        (None, None) => Bounds { start: 0, first: 0, last: 1, end: 1 },
        (Some(bounds), None) => Bounds { end: bounds.end.max(bounds.start + 1), ..bounds },
        (None, Some((first, end))) => {
            Bounds { start: first, first, last: end, end: end.max(first + 1) }
        }
        (Some(bounds), Some((first, end))) => Bounds {
            start: bounds.start.min(first),
            first: bounds.first.min(first),
            last: bounds.last.max(end),
            end: bounds.end.max(end).max(bounds.start + 1),
        },
    }
}

fn flows(points: KeySorter<Mark>, config: &Config) -> Result<Flows, Error> {
    let lease = config.limits.lease("flows", Share::of_index(1, 12)).divided(2);
    let (mut all, mut filed) =
        (SpillVec::new(lease.clone()), sorter(config, "points of flows", FLOWS));
    let points = points.finish()?;
    for (at, point) in points.iter().enumerate() {
        all.extend(&[point])?;
        filed.push(ByLane(Mark { pair: at as u64, ..point }))?;
    }
    drop(points);
    let mut by_lane = SpillVec::new(lease);
    filed.finish()?.iter().try_for_each(|point| by_lane.extend(&[point]))?;
    Ok(Flows::new(all.take()?, by_lane.take()?))
}

/// A function that receives intervals, by lane and time.
pub(crate) type Take<'t> = dyn FnMut(Timed) -> Result<(), Error> + 't;

/// Assigns each interval to a row, and writes the rows. `known` has the descriptions of the first
/// lanes. `more` passes additional intervals, in order.
pub(crate) fn arrange(
    all: All,
    more: impl FnOnce(&mut Take<'_>) -> Result<(), Error>,
    known: Vec<Arc<LaneInfo>>,
    notes: &Notes,
    config: &Config,
) -> Result<Arranged, Error> {
    let All { names, lanes: keys, spans, flows: points, mut facts, .. } = all;
    let keys = keys.all();
    let flows = flows(points, config)?;
    let others = keys.iter().skip(known.len()).map(|key| Arc::new(LaneInfo::new(key, notes)));
    let others: Vec<Arc<LaneInfo>> = others.collect();
    let mut placing =
        Placing::new(known.into_iter().chain(others).map(Lane::new).collect(), config);
    let spans = spans.finish()?;
    let mut spans = spans.iter().peekable();
    more(&mut |span| {
        while let Some(before) = spans.next_if(|timed| timed.key() <= span.key()) {
            placing.take(before)?;
        }
        placing.take(span)
    })?;
    spans.try_for_each(|span| placing.take(span))?;
    let Placed { lanes, tracks, sums, folded } = placing.finish()?;
    facts.folded += folded;
    Ok(Arranged { names, sums: Arc::new(sums), lanes, tracks, flows, facts })
}
