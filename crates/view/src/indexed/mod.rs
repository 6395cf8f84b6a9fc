//! Shows a trace by its index. Long intervals are drawn in rows; all others are drawn as bins,
//! which are approximate sums. If a window has few events, they are read and drawn exactly.
//!
//! ```text
//!   index ─ long intervals, bins, names, lanes ─> the whole trace, approximately, at once
//!   window ─ its ranges of the file ─> events, pairs, rows ─> the window, exactly
//! ```
//!
//! Windows are read by the code for whole inputs. The index lists long intervals. All other
//! intervals that overlap a window begin less than a fixed time (the look-back) before it; their
//! events are read and paired as in every command.

pub(crate) mod seek;
pub(crate) mod shown;

use crate::build::calls::Calls;
use crate::build::long::{end_of, long, timed};
use crate::build::{All, Take, arrange, bounds_of};
use crate::model::{Arranged, Model, NameSum, TraceFacts};
use crate::tile::around::{EventAt, around, event_at};
use crate::tracks::bins::Bins;
use crate::tracks::damage;
use crate::tracks::flows::NEXT;
use crate::tracks::found::{EachChunk, Found};
use crate::tracks::joined::Origins;
use crate::tracks::lane::{LaneInfo, processes};
use crate::tracks::names::SharedNames;
use crate::tracks::notes::Notes;
use crate::tracks::record::{Mark, NO_PLACE, Timed};
use serde_json::Value;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;
use tracemill_index::drawing::{Labels, LaneKey, LaneKind, LaneTable};
use tracemill_index::{DrawnBin, DrawnIndex, DrawnSpan};
use tracemill_join::config::Config;
use tracemill_join::input_set::InputSet;
use tracemill_tokenizer::fields_of;
use tracemill_trace::Error;
use tracemill_trace::run::limits::{Cancel, Limits};
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::hash::HashSet;
use tracemill_trace::time::windows::TimeSpan;

/// Maximum number of events that are read to draw a window exactly.
const EVENTS: u64 = 200_000;
/// Maximum number of events that are read for the statistics of a window.
const EVENTS_SUMMED: u64 = 4_000_000;
/// Maximum bytes that are read for the statistics of a window.
const BYTES_SUMMED: u64 = 256 << 20;
/// Number of windows that are kept in memory.
const KEPT: usize = 4;
/// Maximum number of bytes of an event that are read to find its name.
const TEXT: usize = 1 << 20;
/// Interval at which requests that wait for another window check for cancellation.
const EVERY: Duration = Duration::from_millis(5);

type WindowModels = Vec<(TimeSpan, Arc<Model>)>;

pub(crate) struct Indexed {
    index: Arc<DrawnIndex>,
    tables: Tables,
    notes: Notes,
    calls: Option<Calls>,
    whole: Arc<Model>,
    lanes: Arc<LaneTable>,
    infos: Vec<Arc<LaneInfo>>,
    /// Offsets of events that the index does not count, and the intervals of these events.
    special: HashSet<u64>,
    special_spans: Vec<Timed>,
    config: Config,
    windows: Mutex<WindowModels>,
}

impl Indexed {
    /// Reads the parts of an index that describe the whole trace. Returns `None` if the index does
    /// not suffice.
    pub(crate) fn new(index: DrawnIndex, config: &Config) -> Result<Option<Self>, Error> {
        let Some(tables) = tables(&index)? else { return Ok(None) };
        Self::of(Arc::new(index), tables, None, config)
    }

    /// Computes the calls of CPU profiles. See [`Calls::read`].
    pub(crate) fn read_calls(&self, cancel: &Cancel) -> Result<Calls, Error> {
        let (names, mut config) = (self.whole.names.clone(), self.config(cancel));
        // drawing needs the other half of the threads at the same time
        config.limits.threads = (config.limits.threads / 2).max(1);
        Calls::read(self.index.source(), names, &self.notes, &config)
    }

    pub(crate) fn with_calls(&self, calls: Calls) -> Result<Option<Self>, Error> {
        Self::of(Arc::clone(&self.index), self.tables.clone(), Some(calls), &self.config)
    }

    pub(crate) fn lacks_calls(&self) -> bool {
        self.index.has_profiles() && self.calls.is_none()
    }

    fn of(
        index: Arc<DrawnIndex>,
        tables: Tables,
        calls: Option<Calls>,
        config: &Config,
    ) -> Result<Option<Self>, Error> {
        let of_calls = calls.as_ref().and_then(|calls| calls.bounds);
        let bounds = bounds_of(Some(index.bounds()), of_calls);
        let mut all = All::new(tables.0.clone(), Arc::clone(&tables.2), config);
        all.check()?;
        let mut special_spans = Vec::new();
        let Some((plan, places)) = index.special_plan()? else { return Ok(None) };
        let take = |found, input| all.append(found, input);
        let scanned = InputSet::read_planned(&plan, config, EachChunk(take))?;
        all.pair(bounds.end, index.only_by_name(), config)?;
        if all.facts.unended > 0 || all.facts.lone_ends != Some(0) {
            return Ok(None);
        }
        all.keep_spans(config, |span| {
            special_spans.push(*span);
            true
        })?;
        let unnamed = all.name("…".as_bytes());
        let (notes, _) = std::mem::take(&mut all.parts).joined(&scanned);
        let mut lanes = Arc::clone(&all.lanes);
        for (key, _) in calls.iter().flat_map(|calls| &calls.lanes) {
            Arc::make_mut(&mut lanes).add(key.clone());
        }
        all.facts = facts_of(&index, &lanes);
        let (keys, mut unended) = (Arc::clone(&all.lanes), 0);
        let long = |take: &mut Take<'_>| {
            unended = long(&index, keys.all(), unnamed, bounds, config, take)?;
            Ok(())
        };
        let mut arranged = arrange(all, long, Vec::new(), &notes, config)?;
        arranged.facts.unended = unended;
        arranged.sums = Arc::clone(&tables.1);
        let mut whole = whole(&index, arranged, calls.as_ref(), &notes, scanned)?;
        whole.know_around_damage(around_damage(&index, config)?);
        let infos = whole.lanes.iter().map(|lane| Arc::clone(&lane.info)).collect();
        let special = places.into_iter().collect();
        let (whole, windows, config) = (Arc::new(whole), Mutex::default(), config.clone());
        Ok(Some(Indexed {
            index,
            tables,
            notes,
            calls,
            whole,
            lanes,
            infos,
            special,
            special_spans,
            config,
            windows,
        }))
    }

    /// Returns the approximate model of the whole trace.
    pub(crate) fn whole(&self) -> &Arc<Model> {
        &self.whole
    }

    pub(crate) fn index(&self) -> &DrawnIndex {
        &self.index
    }

    /// Returns an exact model of a window if the window has few events. Otherwise, returns the
    /// approximate model of the whole trace.
    pub(crate) fn window(&self, window: TimeSpan, cancel: &Cancel) -> Result<Arc<Model>, Error> {
        let model = self.exact(window, EVENTS, cancel)?;
        Ok(model.unwrap_or_else(|| Arc::clone(&self.whole)))
    }

    /// Returns a window like [`Indexed::window`], with a higher limit of events.
    pub(crate) fn summed(&self, window: TimeSpan, cancel: &Cancel) -> Result<Arc<Model>, Error> {
        let model = self.exact(window, EVENTS_SUMMED, cancel)?;
        Ok(model.unwrap_or_else(|| Arc::clone(&self.whole)))
    }

    /// Returns the ancestors and arrows of an event, as JSON. An arrow to an event outside the
    /// drawn window needs another window; arrows whose window cannot be read are left out.
    pub(crate) fn around(&self, at: EventAt, cancel: &Cancel) -> Result<Option<Value>, Error> {
        let start = at.start;
        let mut model = self.window(TimeSpan::new(start, start.saturating_add(1)), cancel)?;
        let Some(mut found) = event_at(&model, at) else { return Ok(None) };
        let window = TimeSpan::new(start, found.1.end().saturating_add(1));
        // the window of the event contains the points of flows inside it
        let all = self.window(window, cancel)?;
        if all.bins.is_none()
            && let Some(event) = event_at(&all, EventAt { row: found.1.row, ..at })
        {
            (model, found) = (all, event);
        }
        let bound = |point: Mark| {
            if (window.from..window.to).contains(&point.ts) {
                return model.bound(point);
            }
            let next = if point.name & NEXT == 0 { 0 } else { self.index.look_back() };
            let end = point.ts.saturating_add(next).saturating_add(1);
            let window = TimeSpan::new(point.ts, end);
            let far = self.window(window, cancel).ok()?;
            far.bound(point)
        };
        Ok(around(&model, found, bound))
    }

    pub(crate) fn special(&self) -> &[Timed] {
        &self.special_spans
    }

    /// Estimates the number of events and bytes of a slice.
    pub(crate) fn size(&self, from: i64, to: i64) -> Result<(u64, u64), Error> {
        let count = self.index.count(from, to, u64::MAX)?.unwrap_or_default();
        Ok((count.events, count.bytes.saturating_add(count.events * 2)))
    }

    pub(crate) fn config(&self, cancel: &Cancel) -> Config {
        // the other half of the memory is for the displayed model and for slices
        let limits = Limits {
            cancel: cancel.clone(),
            progress: Arc::default(),
            ..self.config.limits.within(Share::of(1, 2))
        };
        Config { limits, ..self.config.clone() }
    }

    /// Returns an exact model of a window. Returns `None` if more than `most` events must be read.
    /// Reads one window at a time; a request that is cancelled stops waiting.
    fn exact(
        &self,
        window: TimeSpan,
        most: u64,
        cancel: &Cancel,
    ) -> Result<Option<Arc<Model>>, Error> {
        let mut windows = loop {
            match self.windows.try_lock() {
                Ok(windows) => break windows,
                Err(TryLockError::Poisoned(windows)) => break windows.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    cancel.check()?;
                    std::thread::sleep(EVERY);
                }
            }
        };
        if let Some(at) = windows.iter().position(|(span, _)| *span == window) {
            let kept = windows.remove(at);
            let model = Arc::clone(&kept.1);
            windows.push(kept);
            return Ok(Some(model));
        }
        let count = self.index.count(window.from, window.to, most)?;
        if count.is_none_or(|count| count.read_bytes > BYTES_SUMMED) {
            return Ok(None);
        }
        let Some(model) = self.read(window, cancel)?.map(Arc::new) else { return Ok(None) };
        if windows.len() == KEPT {
            windows.remove(0);
        }
        windows.push((window, Arc::clone(&model)));
        Ok(Some(model))
    }

    fn read(&self, window: TimeSpan, cancel: &Cancel) -> Result<Option<Model>, Error> {
        let TimeSpan { from, to } = window;
        let config = self.config(cancel);
        let bounds = self.whole.bounds;
        let (names, known) = (self.whole.names.clone(), self.infos.clone());
        let mut all = All::new(names, Arc::clone(&self.lanes), &config);
        let (mut long, mut apart) = (Vec::new(), HashSet::default());
        let look = self.index.look_back();
        let seen = (from.saturating_sub(look), to.saturating_add(look));
        self.index.spans(Some(seen), |span| {
            apart.extend([span.place, span.last]);
            if window.touches(span.start, end_of(&span, bounds)) {
                long.push(span);
            }
            Ok(())
        })?;
        let take = |mut found: Found, input| {
            let lanes = found.labels.lanes.all().to_vec();
            found.spans.retain(|span| self.is_own(span, &lanes, window));
            // the ranges that are read extend beyond the window, where some pairs are incomplete
            found.marks.retain(|mark: &Mark| {
                let is_seen = seen.0 <= mark.ts && mark.ts < seen.1;
                is_seen && !apart.contains(&mark.place) && !self.special.contains(&mark.place)
            });
            all.append(found, input)
        };
        let Some(plan) = self.index.window_plan(from, to)? else { return Ok(None) };
        let scanned = InputSet::read_planned(&plan, &config, EachChunk(take))?;
        all.pair(bounds.end, self.index.only_by_name(), &config)?;
        all.keep_spans(&config, |Timed(lane, span)| {
            let is_counter = self.kind(*lane) == Some(LaneKind::Counter);
            is_counter || window.touches(span.start, span.end())
        })?;
        for span in &long {
            let name = match span.name {
                Some(name) => name,
                None => name_of(self.event(span.place, TEXT, cancel)?, &all),
            };
            all.push(timed(&DrawnSpan { name: Some(name), ..*span }, name, bounds))?;
        }
        let special = self.special_spans.iter();
        let special = special.filter(|span| window.touches(span.1.start, span.1.end()));
        special.copied().try_for_each(|span| all.push(span))?;
        let mut arranged = arrange(all, |_| Ok(()), known, &Notes::default(), &config)?;
        arranged.sums = Arc::clone(&self.whole.sums);
        // the lanes of calls are not read again but copied
        for (lane, whole_lane) in arranged.lanes.iter_mut().zip(&self.whole.lanes) {
            if whole_lane.kind == LaneKind::Calls {
                lane.clone_from(whole_lane);
            }
        }
        let mut model = arranged.model(Vec::new(), bounds, scanned);
        model.calls.clone_from(&self.whole.calls);
        Ok(Some(model))
    }

    /// Returns up to `most` bytes of an event's text, and its full length.
    pub(crate) fn event(
        &self,
        place: u64,
        most: usize,
        cancel: &Cancel,
    ) -> Result<Option<(Vec<u8>, u64)>, Error> {
        match self.index.is_packed() {
            true => self.index.event_at(place, most, &self.config(cancel).limits),
            false => Ok(self.whole.event(place, most)),
        }
    }

    fn kind(&self, lane: u32) -> Option<LaneKind> {
        self.infos.get(lane as usize).map(|info| info.kind)
    }

    /// Returns whether an interval belongs to a window, and is neither long nor special (not
    /// counted by the index).
    fn is_own(&self, Timed(lane, span): &Timed, lanes: &[LaneKey], window: TimeSpan) -> bool {
        if lanes[*lane as usize].kind == LaneKind::Counter {
            return span.start < window.to;
        }
        let is_short = span.place == NO_PLACE || !self.index.is_long(span.dur);
        is_short && window.touches(span.start, span.end()) && !self.special.contains(&span.place)
    }
}

fn around_damage(index: &DrawnIndex, config: &Config) -> Result<Vec<damage::NearEvent>, Error> {
    let mut all = Vec::new();
    for place in damage::places(std::slice::from_ref(index.report())) {
        all.extend(events_near(index, place, config)?);
    }
    Ok(all)
}

/// Returns drawn events near an offset. Reads larger and larger ranges, up to a limit, until an
/// event before the offset is found.
fn events_near(
    index: &DrawnIndex,
    place: u64,
    config: &Config,
) -> Result<Vec<damage::NearEvent>, Error> {
    const FIRST: u64 = 8;
    const MOST: u64 = 4096;
    let (mut around, mut events) = (FIRST, Vec::<damage::NearEvent>::new());
    loop {
        let plan = index.stretches_plan(&index.stretches_around(place, around)?)?;
        let Some(plan) = plan else { return Ok(events) };
        let take = |found: Found, _| {
            events.extend(found.spans.iter().map(|span| (span.1.place, span.1.start)));
            let begins = found.marks.iter().filter(|mark| matches!(mark.phase, b'B' | b'b' | b'S'));
            events.extend(begins.map(|mark| (mark.place, mark.ts)));
            Ok(())
        };
        InputSet::read_planned(&plan, config, EachChunk(take))?;
        if around >= MOST || events.iter().any(|event| event.0 < place) {
            return Ok(events);
        }
        events.clear();
        around *= FIRST;
    }
}

/// Returns the number of an event's name. Used for names that the index could not store.
fn name_of(event: Option<(Vec<u8>, u64)>, all: &All) -> u32 {
    let (bytes, _) = event.unwrap_or_default();
    let mut labels = Labels::default();
    let name = labels.name(&fields_of(&bytes).of(&bytes));
    all.name(labels.names.bytes_of(name))
}

type Tables = (SharedNames, Arc<Vec<NameSum>>, Arc<LaneTable>);

/// Reads the names with their sums, and the lanes (tracks). Returns `None` if a name or lane occurs
/// twice.
fn tables(index: &DrawnIndex) -> Result<Option<Tables>, Error> {
    let (names, mut sums) = (SharedNames::default(), Vec::new());
    index.names(|row| {
        names.number(row.text);
        sums.push(NameSum { count: row.count, total: row.total, longest: row.longest });
    })?;
    let (mut lanes, keys) = (LaneTable::default(), index.lanes()?);
    let count = keys.len();
    keys.into_iter().for_each(|key| _ = lanes.add(key));
    let is_sound = lanes.all().len() == count && names.len() == sums.len();
    Ok(is_sound.then(|| (names, Arc::new(sums), Arc::new(lanes))))
}

fn facts_of(index: &DrawnIndex, lanes: &LaneTable) -> TraceFacts {
    let report = index.report();
    let inputs = || std::iter::once(0).collect();
    let origins: Origins = lanes.all().iter().map(|key| (key.pid.clone(), inputs())).collect();
    let (events, event_bytes, lost) = (report.events, report.bytes, report.lost());
    TraceFacts { events, event_bytes, lost, origins, ..TraceFacts::default() }
}

fn whole(
    index: &DrawnIndex,
    mut arranged: Arranged,
    calls: Option<&Calls>,
    notes: &Notes,
    scanned: InputSet,
) -> Result<Model, Error> {
    let bounds = bounds_of(Some(index.bounds()), calls.and_then(|calls| calls.bounds));
    let (mut bins, width): (Vec<DrawnBin>, i64) = (Vec::new(), index.bin_width());
    let count = arranged.lanes.len() as u32;
    index.bins(|bin| bins.extend(Some(bin).filter(|bin| bin.lane < count)))?;
    bins.sort_by_key(|bin| (bin.lane, bin.start));
    for bin in &bins {
        let lane = &mut arranged.lanes[bin.lane as usize];
        let end = bin.start.saturating_add(width).min(bounds.end);
        lane.events = lane.events.saturating_add(bin.count);
        lane.first = lane.first.min(bin.start.max(bounds.start));
        lane.last = lane.last.max(end);
        if lane.kind != LaneKind::Counter {
            // bins count intervals inside others too
            let most = lane.last.saturating_sub(lane.first);
            lane.busy = lane.busy.saturating_add(bin.busy).min(most);
        }
    }
    if let Some(calls) = calls {
        arranged.lanes.extend(calls.lanes.iter().map(|(_, lane)| lane.clone()));
        let sums = Arc::make_mut(&mut arranged.sums);
        sums.resize(sums.len().max(calls.sums.len()), NameSum::default());
        sums.iter_mut().zip(&*calls.sums).for_each(|(sum, call_sum)| sum.append(call_sum));
    }
    let processes = processes(&arranged.lanes, notes, &arranged.facts.origins);
    let mut model = arranged.model(processes, bounds, scanned);
    model.bins = Some(Bins::new(bins, width));
    model.calls = calls.map(|calls| Arc::clone(&calls.tracks));
    Ok(model)
}
