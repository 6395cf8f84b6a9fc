//! The tracks that DevTools draws above the threads, with their rows.
//!
//! ```text
//!   events of tracks ─┬─ by time ──────> frames                    ┐
//!   (in input order)  ├─ by operation ─> timings, animations       ├─> rows ─┬─> summaries (report)
//!                     └─ by time ──────> console.timeStamp         │         └─> totals (top)
//!   page events ──────── interactions, layout shifts               │
//!   threads ──────────── tasks of the GPU                          ┘
//! ```
//!
//! Rows are passed on as they are found and not kept. Sorted lists move to disk beyond the budget.

pub(crate) mod frames;
pub(crate) mod memory;
pub(crate) mod rows;
pub(crate) mod timings;

use crate::spread::{keep_longest, push_longest};
use crate::web::interactions::interactions;
use crate::web::navigations::navigations;
use crate::web::shifts::shift_clusters;
use crate::web::starts_of_pages;
use crate::web::tracks::rows::{RowVisit, Track, TrackRow};
use tracemill_analysis::{Trace, Window};
use tracemill_trace::Error;
use tracemill_trace::spill::hash::HashMap;

/// Passes the rows of all tracks to `visit`, in no order.
///
/// Cost: three passes over the events of tracks, three sorts, and a pass over the main threads.
///
/// # Errors
/// Returns an I/O error of a temporary file, the error of `visit`, or
/// [`tracemill_trace::ErrorKind::Exceeded`] if open frames or timings need more memory than the
/// budget has.
pub fn track_rows(trace: &Trace, visit: &mut RowVisit<'_>) -> Result<(), Error> {
    frames::frames(trace, visit)?;
    timings::timings(trace, visit)?;
    for interaction in interactions(trace).outermost() {
        visit(Track::Interactions, TrackRow::of_interaction(interaction))?;
    }
    let mut shifts = Vec::new();
    let starts = starts_of_pages(trace, &navigations(trace));
    let clusters = shift_clusters(trace, starts, |shift, score| {
        let window = Window { from: shift.ts, to: shift.ts };
        let row = TrackRow::new("Layout shift".to_owned(), "layout shift", window);
        shifts.push(TrackRow { score: Some(score), ..row.keyed(format!("s-{}", shift.number)) });
    });
    let clusters = clusters.iter().map(TrackRow::of_cluster);
    clusters.chain(shifts).try_for_each(|row| visit(Track::LayoutShifts, row))?;
    gpu(trace, visit)
}

/// Passes the tasks of the GPU's main thread to `visit`.
fn gpu(trace: &Trace, visit: &mut RowVisit<'_>) -> Result<(), Error> {
    let meta = trace.meta();
    let (Some(pid), Some(tid)) = (&meta.gpu_process, &meta.gpu_thread) else { return Ok(()) };
    let is_task =
        |kind: u32| trace.names().bytes_of(trace.kinds()[kind as usize].name) == b"GPUTask";
    let clock = trace.clock();
    for thread in trace.threads.iter().filter(|thread| thread.pid == *pid && thread.tid == *tid) {
        for record in trace.records(thread).filter(|record| is_task(record.kind)) {
            let (ts, dur) = (clock.micros(record.ts), clock.micros(record.dur));
            let row = TrackRow::new("GPU".to_owned(), "task", Window { from: ts, to: ts });
            let row = row.keyed(format!("r-{}", record.number()));
            visit(Track::Gpu, TrackRow { dur, ..row })?;
        }
    }
    Ok(())
}

/// The rows of a track in short.
#[derive(Clone, Debug)]
pub struct TrackSummary {
    /// The track.
    pub track: Track,
    /// Number of rows.
    pub count: u64,
    /// Number of rows of each kind, in the order of their first rows.
    pub kinds: Vec<(&'static str, u64)>,
    /// Total duration in microseconds.
    pub total: f64,
    /// Starts of the first and of the last row.
    pub starts: (f64, f64),
    /// The longest rows, without idle frames. Points in time are in the order of the trace.
    pub longest: Vec<TrackRow>,
}

/// Returns whether a row begins in a window, in milliseconds.
fn is_within(row: &TrackRow, window: Option<Window>) -> bool {
    window.is_none_or(|window| (window.from..=window.to).contains(&(row.ts / 1000.0)))
}

/// Summarizes the tracks that have rows in the window, in the order of the panel.
pub(crate) fn summaries(
    trace: &Trace,
    rows: usize,
    window: Option<Window>,
) -> Result<Vec<TrackSummary>, Error> {
    /// Heap bytes of a row in a list that may grow, with its texts; or of a track.
    const EACH: usize = 2 * size_of::<TrackRow>() + 100;
    let room = trace.limits().table_quota();
    let mut all: Vec<TrackSummary> = Vec::new();
    let (mut places, mut held) = (HashMap::default(), 0);
    track_rows(trace, &mut |track, row| {
        if !is_within(&row, window) {
            return Ok(());
        }
        let at = *places.entry(track).or_insert(all.len());
        if at == all.len() {
            let (kinds, longest) = (Vec::new(), Vec::new());
            let starts = (row.ts, row.ts);
            all.push(TrackSummary { track, count: 0, kinds, total: 0.0, starts, longest });
        }
        held -= all[at].longest.len();
        all[at].add(row, rows);
        held += all[at].longest.len();
        room.check(((all.len() + held) * EACH) as u64, "rows of tracks")
    })?;
    for summary in &mut all {
        keep_longest(&mut summary.longest, rows);
    }
    all.sort_by_key(|summary| summary.track.place());
    Ok(all)
}

impl TrackSummary {
    fn add(&mut self, row: TrackRow, rows: usize) {
        self.count += 1;
        self.total += row.dur;
        self.starts = (self.starts.0.min(row.ts), self.starts.1.max(row.ts));
        match self.kinds.iter_mut().find(|(kind, _)| *kind == row.kind) {
            Some((_, count)) => *count += 1,
            None => self.kinds.push((row.kind, 1)),
        }
        if row.kind != frames::IDLE && self.track != Track::Screenshots {
            push_longest(&mut self.longest, row, rows);
        }
    }

    /// Returns the number of rows that [`TrackSummary::longest`] chooses from.
    pub fn listed(&self) -> u64 {
        let left_out = self.kinds.iter().filter(|(kind, _)| *kind == frames::IDLE);
        match self.track {
            Track::Screenshots => 0,
            _ => self.count - left_out.map(|(_, count)| count).sum::<u64>(),
        }
    }
}

/// The rows of a track with the same name.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackTotal {
    /// Title of the rows.
    pub name: String,
    /// Number of rows.
    pub count: u64,
    /// Total duration in microseconds.
    pub total: f64,
    /// The longest row.
    pub longest: TrackRow,
}

/// Sums the rows of a track by name, the largest total first. `name` is the name of a track, as
/// [`Track::is_named`] compares it. Returns the names of all tracks with rows if none has the name.
///
/// # Errors
/// Returns an I/O error of a temporary file, or [`tracemill_trace::ErrorKind::Exceeded`] if the
/// names need more memory than the budget has.
pub fn track_totals(
    trace: &Trace,
    name: &str,
    window: Option<Window>,
) -> Result<Result<Vec<TrackTotal>, Vec<String>>, Error> {
    let room = trace.limits().table_quota();
    let mut totals: HashMap<String, TrackTotal> = HashMap::default();
    let mut others: Vec<Track> = Vec::new();
    let (mut bytes, mut is_known) = (0, false);
    track_rows(trace, &mut |track, row| {
        if !track.is_named(trace, name) {
            if !others.contains(&track) && others.len() < 100 {
                others.push(track);
            }
            return Ok(());
        }
        is_known = true;
        if !is_within(&row, window) {
            return Ok(());
        }
        match totals.get_mut(&row.name) {
            Some(sum) => sum.add(row),
            None => {
                bytes += (size_of::<TrackTotal>() + 4 * row.name.len() + 100) as u64;
                room.check(bytes, "names of rows of a track")?;
                let total = TrackTotal {
                    name: row.name.clone(),
                    count: 1,
                    total: row.dur,
                    longest: row.clone(),
                };
                totals.insert(row.name, total);
            }
        }
        Ok(())
    })?;
    if !is_known {
        return Ok(Err(names_of(trace, others)));
    }
    let mut totals: Vec<TrackTotal> = totals.into_values().collect();
    let order = |a: &TrackTotal, b: &TrackTotal| {
        b.total.total_cmp(&a.total).then(b.count.cmp(&a.count)).then_with(|| a.name.cmp(&b.name))
    };
    totals.sort_by(order);
    Ok(Ok(totals))
}

fn names_of(trace: &Trace, mut tracks: Vec<Track>) -> Vec<String> {
    tracks.sort_by_key(|track| track.place());
    let name = |track: Track| match track {
        Track::Extension { name, .. } => trace.names().text(name),
        track => track.key().to_owned(),
    };
    tracks.into_iter().map(name).collect()
}

impl TrackTotal {
    fn add(&mut self, row: TrackRow) {
        self.count += 1;
        self.total += row.dur;
        if row.dur > self.longest.dur {
            self.longest = row;
        }
    }
}
