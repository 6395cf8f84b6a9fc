//! The report of a slice.

use serde::Serialize;
use std::path::PathBuf;
use tracemill_join::report::MergeReport;
use tracemill_join::report::warning::Warning;
use tracemill_trace::Limits;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::flaws::Flaws;
use tracemill_trace::time::bounds::Bounds;
use tracemill_trace::time::windows::{Edges, TimeSpan, Windows};

/// The result of `slice`.
#[derive(Clone, Debug, Serialize)]
pub struct SliceReport {
    /// Inputs, output, cost and warnings, as in a merge.
    #[serde(flatten)]
    pub written: MergeReport,
    /// The windows in order, as absolute times in nanoseconds. [`i64::MIN`] and [`i64::MAX`] mean
    /// no limit.
    pub windows: Vec<TimeSpan>,
    /// The treatment of events across an edge.
    pub edges: Edges,
    /// Start and latest end of the events other than metadata, in nanoseconds; `None` if there are
    /// no such events.
    pub trace: Option<(i64, i64)>,
    /// Whether no event of the trace is in a window. The output then only has events that are
    /// always kept, and synthetic events.
    pub is_empty: bool,
    /// Number of events that are always kept: metadata, events without a time, and events that
    /// DevTools needs.
    pub kept_always: u64,
    /// Number of events with a time outside the windows that DevTools needs for pages and workers.
    pub kept_outside: u64,
    /// Number of complete events that were cut.
    pub clipped: u64,
    /// Number of begin events repeated at the start of a window.
    pub opened: u64,
    /// Number of end events added at the end of a window.
    pub closed: u64,
    /// Number of counter values repeated at the start of a window.
    pub counters: u64,
    /// Number of `TracingStartedInBrowser` events moved to the start of a window.
    pub moved: u64,
    /// Number of CPU profile streams that were re-based.
    pub rebased: u64,
    /// Number of samples in the re-based streams.
    pub samples: u64,
    /// Problems of the re-based streams.
    pub flaws: Flaws,
    /// The index that was used instead of a scan, and the number of bytes of events that were read.
    #[serde(serialize_with = "tracemill_join::report::rows::numbered_path")]
    pub index: Option<(PathBuf, u64)>,
    /// Reason why an existing index was not used.
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

    /// Completes the report after writing.
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
        let all_outside = outside.len() == self.windows.len();
        let around = self.kept_always + self.moved + self.counters;
        self.is_empty = all_outside || self.written.run.events <= around;
        let warnings = &mut self.written.run.warnings;
        warnings.extend(outside.into_iter().map(|window| Warning::WindowOutside { window, trace }));
        if self.is_empty && !all_outside {
            warnings.push(Warning::WindowEmpty { windows: self.windows.clone(), trace });
        }
    }

    /// Returns the time range, in nanoseconds, that DevTools shows when it opens the output: from
    /// the first to the last window. Returns `None` if no events outside the windows are kept.
    pub(crate) fn opening(&self) -> Option<(i64, i64)> {
        let (start, end) = self.trace.filter(|_| self.kept_outside > 0 && !self.is_empty)?;
        let (first, last) = (self.windows.first()?, self.windows.last()?);
        Some((first.from.max(start), last.to.min(end)))
    }

    /// Returns the number of losses of events, keys and profile data. Events outside the windows do
    /// not count.
    pub fn lost(&self) -> u64 {
        self.written.run.lost() + self.flaws.lost()
    }
}

/// Returns whether a window is completely before or after the trace.
fn is_outside(window: TimeSpan, bounds: Bounds) -> bool {
    // the last event may have no duration
    window.to <= bounds.first || window.from >= bounds.end && window.from > bounds.last
}
