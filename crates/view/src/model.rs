//! The data that the page shows: lanes (tracks), rows and names, of a whole trace or of a window.

use crate::tracks::bins::Bins;
use crate::tracks::damage::{self, Damaged};
use crate::tracks::flows::Flows;
use crate::tracks::joined::Origins;
use crate::tracks::lane::{Lane, Process};
use crate::tracks::names::SharedNames;
use crate::tracks::record::Span;
use crate::tracks::{DrawnRow, Grid, Tracks};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use tracemill_analysis::names_with_categories;
use tracemill_index::drawing::{COLORS, LaneKind};
use tracemill_join::input_set::InputSet;
use tracemill_join::report::warning::Warning;
use tracemill_trace::Error;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::time::bounds::Bounds;

/// The counts of a trace, and messages for the user.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceFacts {
    pub(crate) events: u64,
    pub(crate) event_bytes: u64,
    /// Number of events that are not drawn, such as events without a time. `None` if the trace is
    /// shown by its index.
    pub(crate) undrawn: Option<u64>,
    /// Number of end events without a begin event. `None` if the trace is shown by its index.
    pub(crate) lone_ends: Option<u64>,
    pub(crate) unended: u64,
    /// Number of intervals without a row, because too many intervals overlap.
    pub(crate) folded: u64,
    pub(crate) lost: u64,
    /// A sentence that lists the changes by a merge of several inputs.
    pub(crate) joined: Option<String>,
    /// The inputs of each process.
    pub(crate) origins: Origins,
    pub(crate) bounds: Option<(i64, i64)>,
}

/// The sums over the intervals of a name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NameSum {
    pub(crate) count: u64,
    pub(crate) total: i64,
    pub(crate) longest: i64,
}

impl NameSum {
    pub(crate) fn add(&mut self, dur: i64) {
        self.count += 1;
        self.total = self.total.saturating_add(dur);
        self.longest = self.longest.max(dur);
    }

    pub(crate) fn append(&mut self, other: &NameSum) {
        self.count += other.count;
        self.total = self.total.saturating_add(other.total);
        self.longest = self.longest.max(other.longest);
    }
}

/// All data that is drawn, for a whole trace or for a window.
pub(crate) struct Model {
    pub(crate) names: SharedNames,
    pub(crate) sums: Arc<Vec<NameSum>>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) processes: Vec<Process>,
    pub(crate) tracks: Tracks,
    pub(crate) flows: Flows,
    pub(crate) bounds: Bounds,
    pub(crate) facts: TraceFacts,
    /// Approximate sums of the intervals that are not in rows.
    pub(crate) bins: Option<Bins>,
    /// Rows of calls, if they are not among `tracks`.
    pub(crate) calls: Option<Arc<Tracks>>,
    scanned: InputSet,
    damaged: OnceLock<Vec<Damaged>>,
}

pub(crate) struct Arranged {
    pub(crate) names: SharedNames,
    pub(crate) sums: Arc<Vec<NameSum>>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) tracks: Tracks,
    pub(crate) flows: Flows,
    pub(crate) facts: TraceFacts,
}

impl Arranged {
    pub(crate) fn model(self, processes: Vec<Process>, bounds: Bounds, scanned: InputSet) -> Model {
        let Arranged { names, sums, lanes, tracks, flows, facts } = self;
        let (bins, calls, damaged) = (None, None, OnceLock::new());
        Model {
            names,
            sums,
            lanes,
            processes,
            tracks,
            flows,
            bounds,
            facts,
            bins,
            calls,
            scanned,
            damaged,
        }
    }
}

impl Model {
    pub(crate) fn rows_of(&self, lane: &Lane) -> &Tracks {
        let calls = self.calls.as_deref().filter(|_| lane.kind == LaneKind::Calls);
        calls.unwrap_or(&self.tracks)
    }

    /// Returns the approximate sums of all lanes. Returns `None` if the lane has calls, which are
    /// always in rows.
    pub(crate) fn bins_of(&self, lane: &Lane) -> Option<&Bins> {
        self.bins.as_ref().filter(|_| lane.kind != LaneKind::Calls)
    }

    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        self.scanned.check_unchanged()
    }

    /// Returns whether a merge of the inputs changes any pid or time.
    pub(crate) fn is_merged(&self) -> bool {
        (0..self.inputs().len()).any(|input| !self.scanned.place(input).is_as_written())
    }

    pub(crate) fn inputs(&self) -> &[InputReport] {
        self.scanned.reports()
    }

    pub(crate) fn warnings(&self) -> &[Warning] {
        self.scanned.warnings()
    }

    /// Returns up to `most` bytes of an event's text, and its full length.
    pub(crate) fn event(&self, place: u64, most: usize) -> Option<(Vec<u8>, u64)> {
        self.scanned.event_at(place, most)
    }

    /// Converts a time of the trace to nanoseconds since the trace start.
    pub(crate) fn since_start(&self, time: i64) -> f64 {
        (i128::from(time) - i128::from(self.bounds.start)) as f64
    }

    /// Returns the JSON that the page needs before drawing: bounds, counts, processes and lanes.
    pub(crate) fn described(&self, file: &str) -> Value {
        let facts = &self.facts;
        let ranges = self.bounds.end.saturating_sub(self.bounds.start);
        json!({
            "file": file,
            "start": self.bounds.start.to_string(),
            "end": self.bounds.end.to_string(),
            "duration": ranges.to_string(),
            "events": facts.events,
            "bytes": self.scanned.reports().iter().map(|input| input.bytes).sum::<u64>(),
            "event_bytes": facts.event_bytes,
            "undrawn": facts.undrawn,
            "lone_ends": facts.lone_ends,
            "unended": facts.unended,
            "folded": facts.folded,
            "lost": facts.lost,
            "damage": self.damage_json(),
            "inputs": self.inputs_json(),
            "names": self.names.len(),
            "by_index": self.bins.is_some(),
            "colors": COLORS.iter().map(|color| format!("#{:06x}", color.rgb)).collect::<Vec<_>>(),
            "categories": self.categories_json(),
            "on_disk": self.tracks.spilled() + self.flows.spilled(),
            "processes": self.processes.iter().map(|process| self.process_json(process)).collect::<Vec<_>>(),
        })
    }

    pub(crate) fn begins(&self) -> Vec<Option<u64>> {
        self.scanned.begins()
    }

    fn events(&self) -> impl Iterator<Item = damage::NearEvent> {
        let tracks = self.lanes.iter().flat_map(|lane| &lane.tracks);
        let spans = tracks.flat_map(|track| self.tracks.of(track.spans.clone()));
        spans.filter(Span::is_event).map(|span| (span.place, span.start))
    }

    fn damaged_by(&self, events: impl Iterator<Item = damage::NearEvent>) -> Vec<Damaged> {
        damage::find(self.inputs(), &self.begins(), events)
    }

    pub(crate) fn know_around_damage(&mut self, events: Vec<damage::NearEvent>) {
        self.damaged = OnceLock::from(self.damaged_by(events.into_iter()));
    }

    fn damage_json(&self) -> Vec<Value> {
        let all = self.damaged.get_or_init(|| self.damaged_by(self.events()));
        all.iter().map(|damage| damage.json(|time| self.since_start(time))).collect()
    }

    /// Returns the numbers of the names that DevTools knows, by category.
    fn categories_json(&self) -> BTreeMap<&'static str, Vec<u32>> {
        let mut all = BTreeMap::<_, Vec<u32>>::new();
        for (name, category) in names_with_categories() {
            if let Some(number) = self.names.find(name.as_bytes()) {
                all.entry(category).or_default().push(number);
            }
        }
        all
    }

    fn inputs_json(&self) -> Vec<Value> {
        let all = self.inputs().iter().zip(self.begins());
        all.map(|(input, at)| json!({ "name": input.name, "at": at })).collect()
    }

    fn process_json(&self, process: &Process) -> Value {
        let lanes: Vec<Value> = process.lanes.iter().map(|&lane| self.lane_json(lane)).collect();
        let Process { pid, name, labels, inputs, .. } = process;
        json!({ "pid": pid, "name": name, "labels": labels, "inputs": inputs, "lanes": lanes })
    }

    fn lane_json(&self, number: usize) -> Value {
        let lane = &self.lanes[number];
        // short intervals are drawn in an additional row below the long intervals
        let more = u16::from(self.bins_of(lane).is_some());
        let rows = lane.tracks.iter().map(|track| track.row + 1).max().unwrap_or(0) + more;
        json!({
            "id": number,
            "kind": lane.kind.name(),
            "name": lane.name,
            "rows": rows,
            "events": lane.events,
            "busy": lane.busy,
            "first": self.since_start(lane.first),
            "last": self.since_start(lane.last),
        })
    }

    /// Returns the number of intervals in a window, in the given lanes.
    pub(crate) fn count(&self, lanes: &[usize], from: i64, to: i64) -> u64 {
        let of = |lane: &Lane| {
            let (is_counter, rows) = (lane.kind == LaneKind::Counter, self.rows_of(lane));
            let within = |track| rows.within(track, is_counter, from, to).len() as u64;
            lane.tracks.iter().map(within).sum::<u64>()
        };
        let about = |lane: usize| {
            self.bins.as_ref().map_or(0, |bins| bins.count(lane as u32, from, to).round() as u64)
        };
        lanes.iter().map(|&lane| of(&self.lanes[lane]) + about(lane)).sum()
    }

    /// Returns the intervals and pixel columns with which a lane is drawn.
    pub(crate) fn draw(&self, number: usize, grid: Grid) -> DrawnRow {
        let mut drawn = DrawnRow::default();
        let (tracks, rows) = (self.lanes[number].tracks.iter(), self.rows_of(&self.lanes[number]));
        tracks.for_each(|track| rows.draw(track, grid, &mut drawn));
        self.bins.iter().for_each(|bins| bins.draw(number as u32, grid, &mut drawn));
        drawn
    }

    /// Returns the intervals and pixel columns with which the first row of a lane is drawn,
    /// including the approximate sums of the lane.
    pub(crate) fn draw_first(&self, number: usize, grid: Grid) -> DrawnRow {
        let mut drawn = DrawnRow::default();
        let (first, rows) = (self.lanes[number].tracks.first(), self.rows_of(&self.lanes[number]));
        first.iter().for_each(|track| rows.draw(track, grid, &mut drawn));
        self.bins.iter().for_each(|bins| bins.draw(number as u32, grid, &mut drawn));
        drawn
    }

    /// Returns, for each pixel column of a counter, the time of its first sample, and its least and
    /// greatest value.
    pub(crate) fn draw_counter(&self, number: usize, grid: Grid) -> Vec<(i64, f64, f64)> {
        match (&self.bins, self.lanes[number].tracks.first()) {
            (Some(bins), _) => bins.draw_counter(number as u32, grid),
            (None, Some(track)) => self.tracks.draw_counter(track, grid),
            (None, None) => Vec::new(),
        }
    }
}
