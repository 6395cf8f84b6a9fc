//! What a slice did.

use serde::Serialize;
use std::path::PathBuf;
use tracemill_join::report::MergeReport;
use tracemill_join::report::warning::Warning;
use tracemill_trace::Limits;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::flaws::Flaws;
use tracemill_trace::time::bounds::Bounds;
use tracemill_trace::time::windows::{Edges, TimeSpan, Windows};

/// What `slice` did.
#[derive(Clone, Debug, Serialize)]
pub struct SliceReport {
    /// Inputs, output, cost and warnings, as of a merge.
    #[serde(flatten)]
    pub written: MergeReport,
    /// The windows, in order: nanoseconds as they stand in the trace; [`i64::MIN`] and [`i64::MAX`] where there is no
    /// limit.
    pub windows: Vec<TimeSpan>,
    /// What became of that which edges cut.
    pub edges: Edges,
    /// Start, and greatest end, of the events that are no metadata, in nanoseconds; `None` without such events.
    pub trace: Option<(i64, i64)>,
    /// Whether no event of the trace lies in a window: what was written is kept in any window, or was made at an edge.
    pub is_empty: bool,
    /// Events that are kept in any window: metadata, those without a time, and those that DevTools needs.
    pub kept_always: u64,
    /// Events of those that have a time, outside the windows: DevTools needs them to show pages and workers.
    pub kept_outside: u64,
    /// Complete events that were cut.
    pub clipped: u64,
    /// Begins that were repeated at the start of a window.
    pub opened: u64,
    /// Ends that were made at the end of a window.
    pub closed: u64,
    /// Values of counters that were repeated at the start of a window.
    pub counters: u64,
    /// `TracingStartedInBrowser` events that were moved to the start of a window.
    pub moved: u64,
    /// CPU profile streams that were re-based.
    pub rebased: u64,
    /// Samples in those.
    pub samples: u64,
    /// What is wrong with those.
    pub flaws: Flaws,
    /// The index that said what to read, if not all of the trace was read, and how many bytes of events it said.
    #[serde(serialize_with = "tracemill_join::report::rows::numbered_path")]
    pub index: Option<(PathBuf, u64)>,
    /// Why an index there is could not say that.
    pub index_unused: Option<&'static str>,
}

impl SliceReport {
    pub(super) fn new(windows: &Windows, edges: Edges, limits: &Limits) -> Self {
        SliceReport {
            written: MergeReport::new(limits),
            windows: windows.0.clone(),
            edges,
            trace: None,
            is_empty: false,
            kept_always: 0,
            kept_outside: 0,
            clipped: 0,
            opened: 0,
            closed: 0,
            counters: 0,
            moved: 0,
            rebased: 0,
            samples: 0,
            flaws: Flaws::default(),
            index: None,
            index_unused: None,
        }
    }

    /// Everything is written.
    pub(super) fn end(&mut self, inputs: Inputs, bounds: Option<Bounds>) {
        self.trace = bounds.map(|bounds| (bounds.start, bounds.end));
        self.written.run.inputs = inputs.reports;
        let Some(bounds) = bounds else {
            self.is_empty = true;
            self.written.run.warnings.push(Warning::NoTimes);
            return;
        };
        let trace = TimeSpan::new(bounds.start, bounds.end);
        let windows = self.windows.iter();
        let outside: Vec<TimeSpan> =
            windows.copied().filter(|&window| is_outside(window, bounds)).collect();
        let is_said = outside.len() == self.windows.len();
        let around = self.kept_always + self.moved + self.counters;
        self.is_empty = is_said || self.written.run.events <= around;
        let warnings = &mut self.written.run.warnings;
        warnings.extend(outside.into_iter().map(|window| Warning::WindowOutside { window, trace }));
        if self.is_empty && !is_said {
            warnings.push(Warning::WindowEmpty { windows: self.windows.clone(), trace });
        }
    }

    /// The interval, in nanoseconds, that DevTools is to open on: from the first window to the last, if events outside of
    /// them are kept.
    pub(crate) fn opening(&self) -> Option<(i64, i64)> {
        let (start, end) = self.trace.filter(|_| self.kept_outside > 0 && !self.is_empty)?;
        let (first, last) = (self.windows.first()?, self.windows.last()?);
        Some((first.from.max(start), last.to.min(end)))
    }

    /// Pieces, keys and profile data lost in all. What lies outside the windows is not lost.
    pub fn lost(&self) -> u64 {
        self.written.run.lost() + self.flaws.lost()
    }
}

/// Whether a window lies before or behind a whole trace.
fn is_outside(window: TimeSpan, bounds: Bounds) -> bool {
    // an event without a duration may be the end of the trace
    window.to <= bounds.first || window.from >= bounds.end && window.from > bounds.last
}
