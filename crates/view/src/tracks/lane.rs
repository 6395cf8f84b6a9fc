//! Lanes (tracks) of the page: their names, and the processes to which they belong.

use crate::tracks::Track;
use crate::tracks::joined::Origins;
use crate::tracks::notes::Notes;
use crate::tracks::record::{OPEN, Span};
use std::ops::Deref;
use std::sync::Arc;
use tracemill_index::drawing::{LaneKey, LaneKind};
use tracemill_tokenizer::to_text;
use tracemill_trace::json::printable;
use tracemill_trace::spill::hash::HashMap;

pub(crate) struct LaneInfo {
    pub(crate) kind: LaneKind,
    pub(crate) pid: Box<[u8]>,
    track: Box<[u8]>,
    pub(crate) name: String,
    sort_index: f64,
}

/// A lane with its rows and sums.
#[derive(Clone)]
pub(crate) struct Lane {
    pub(crate) info: Arc<LaneInfo>,
    pub(crate) tracks: Vec<Track>,
    pub(crate) events: u64,
    /// Total time of the outermost intervals that have an end.
    pub(crate) busy: i64,
    /// Number of intervals without an end around the current time. They last until the trace ends.
    open: u16,
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Deref for Lane {
    type Target = LaneInfo;

    fn deref(&self) -> &LaneInfo {
        &self.info
    }
}

impl LaneInfo {
    pub(crate) fn new(key: &LaneKey, notes: &Notes) -> Self {
        let of_thread = notes.of(&key.pid, Some(&key.track));
        let name = match key.kind {
            LaneKind::Thread | LaneKind::Calls => {
                let track = printable(&key.track);
                let name = of_thread.name.filter(|name| !name.is_empty());
                name.map_or_else(|| format!("Thread {track}"), |name| format!("{name} {track}"))
            }
            LaneKind::Async if key.track.is_empty() => "async".to_owned(),
            LaneKind::Async => printable(&key.track),
            LaneKind::Counter => {
                let at = key.track.iter().position(|&byte| byte == 0xFF).unwrap_or(key.track.len());
                let (name, series) = key.track.split_at(at);
                let series = printable(series.get(1..).unwrap_or_default());
                match &*series {
                    "value" => to_text(name),
                    series => format!("{} · {series}", to_text(name)),
                }
            }
        };
        LaneInfo {
            kind: key.kind,
            pid: key.pid.clone(),
            track: key.track.clone(),
            name,
            sort_index: of_thread.sort_index.unwrap_or(0.0),
        }
    }
}

impl LaneInfo {
    /// Returns the thread id, the category of async operations, or name and series of a counter.
    pub(crate) fn track(&self) -> &[u8] {
        &self.track
    }
}

impl Lane {
    pub(crate) fn new(info: Arc<LaneInfo>) -> Self {
        Lane {
            info,
            tracks: Vec::new(),
            events: 0,
            busy: 0,
            open: 0,
            first: i64::MAX,
            last: i64::MIN,
        }
    }

    pub(crate) fn add(&mut self, span: &Span) {
        self.events += 1;
        self.first = self.first.min(span.start);
        let is_counter = self.kind == LaneKind::Counter;
        self.last = self.last.max(if is_counter { span.start } else { span.end() });
        if span.row == self.open && !is_counter {
            match span.flags & OPEN {
                0 => self.busy = self.busy.saturating_add(span.dur),
                _ => self.open += 1,
            }
        }
    }
}

/// A process, and its lanes in display order.
pub(crate) struct Process {
    pub(crate) pid: String,
    pub(crate) name: String,
    pub(crate) labels: Option<String>,
    sort_index: f64,
    pub(crate) inputs: Vec<u32>,
    pub(crate) lanes: Vec<usize>,
}

/// Returns the processes that have events, ordered by sort index, then by first appearance.
pub(crate) fn processes(lanes: &[Lane], notes: &Notes, origins: &Origins) -> Vec<Process> {
    let mut order: Vec<&[u8]> = Vec::new();
    let mut of: HashMap<&[u8], Vec<usize>> = HashMap::default();
    for (number, lane) in lanes.iter().enumerate().filter(|(_, lane)| lane.events > 0) {
        let numbers = of.entry(&lane.pid).or_default();
        if numbers.is_empty() {
            order.push(&lane.pid);
        }
        numbers.push(number);
    }
    let mut all: Vec<Process> = Vec::with_capacity(order.len());
    for pid in order {
        let numbers = of.remove(pid).unwrap_or_default();
        let inputs = origins.get(pid).map(|inputs| inputs.iter().copied().collect());
        all.push(Process {
            inputs: inputs.unwrap_or_default(),
            ..process(pid, numbers, lanes, notes)
        });
    }
    all.sort_by(|a, b| a.sort_index.total_cmp(&b.sort_index));
    all
}

fn process(pid: &[u8], mut numbers: Vec<usize>, lanes: &[Lane], notes: &Notes) -> Process {
    let note = notes.of(pid, None);
    // counters come first, as an overview of time; async operations come next, then threads, each
    // followed by its calls
    let rank = |kind: LaneKind| match kind {
        LaneKind::Counter => 0,
        LaneKind::Async => 1,
        LaneKind::Thread | LaneKind::Calls => 2,
    };
    numbers.sort_by(|&a, &b| {
        let (a, b) = (&lanes[a], &lanes[b]);
        rank(a.kind).cmp(&rank(b.kind)).then(a.sort_index.total_cmp(&b.sort_index))
    });
    let id = printable(pid);
    let named = note.name.filter(|name| !name.is_empty());
    let name = named.unwrap_or_else(|| match id.is_empty() {
        true => "(no process)".to_owned(),
        false => "Process".to_owned(),
    });
    let sort_index = note.sort_index.unwrap_or(0.0);
    let (labels, lanes) = (note.labels, calls_below(numbers, lanes));
    Process { pid: id, name, labels, sort_index, inputs: Vec::new(), lanes }
}

/// Moves the calls of each thread directly below the thread's events.
fn calls_below(order: Vec<usize>, lanes: &[Lane]) -> Vec<usize> {
    let is_calls = |number: &usize| lanes[*number].kind == LaneKind::Calls;
    let (calls, others): (Vec<usize>, Vec<usize>) = order.into_iter().partition(is_calls);
    let mut below: HashMap<&[u8], usize> =
        calls.into_iter().map(|number| (&*lanes[number].track, number)).collect();
    let mut order = Vec::with_capacity(others.len() + below.len());
    for number in others {
        order.push(number);
        if lanes[number].kind == LaneKind::Thread {
            order.extend(below.remove(&*lanes[number].track));
        }
    }
    let mut alone: Vec<usize> = below.into_values().collect();
    alone.sort_unstable();
    order.extend(alone);
    order
}
