//! What a slice did.

use super::Edges;
use crate::config::Config;
use crate::flaws::Flaws;
use crate::read::Inputs;
use crate::report::MergeReport;
use crate::windows::{Bounds, Span, Windows};

/// What `slice` did.
#[derive(Clone, Debug)]
pub struct SliceReport {
    /// Inputs, output, cost and warnings, as of a merge.
    pub written: MergeReport,
    /// The windows, in order: nanoseconds as they stand in the trace; [`i64::MIN`] and [`i64::MAX`] where there is no
    /// limit.
    pub windows: Vec<(i64, i64)>,
    /// What became of that which edges cut.
    pub edges: Edges,
    /// Least time, and greatest end, of the events that are no metadata, in nanoseconds; `None` without such events.
    pub trace: Option<(i64, i64)>,
    /// Events that are kept in any window: metadata, and those without a time.
    pub kept_always: u64,
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
}

impl SliceReport {
    pub(super) fn new(windows: &Windows, edges: Edges, config: &Config) -> Self {
        SliceReport {
            written: MergeReport::new(config),
            windows: windows.0.clone(),
            edges,
            trace: None,
            kept_always: 0,
            clipped: 0,
            opened: 0,
            closed: 0,
            counters: 0,
            moved: 0,
            rebased: 0,
            samples: 0,
            flaws: Flaws::default(),
        }
    }

    /// Everything is written.
    pub(super) fn end(&mut self, inputs: Inputs, bounds: Option<Bounds>) {
        self.trace = bounds.map(|bounds| (bounds.first, bounds.end));
        self.written.inputs = inputs.reports;
        let is_empty = self.written.events == self.kept_always;
        if let Some((first, end)) = self.trace.filter(|_| is_empty) {
            let windows: Vec<String> = self.windows.iter().map(|&span| text(span)).collect();
            self.written.warnings.push(format!(
                "no event lies in the window: it is {} µs, the trace is {} µs",
                windows.join(", "),
                text((first, end))
            ));
        }
    }

    /// Pieces, keys and profile data lost in all. What lies outside the windows is not lost.
    pub fn lost(&self) -> u64 {
        self.written.lost() + self.flaws.lost()
    }
}

/// `from..to` as microseconds; nothing where there is no limit.
fn text((from, to): Span) -> String {
    let side = |time: i64, limit: i64| {
        let mut text = Vec::new();
        if time != limit {
            crate::json::push_micros(time, &mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    };
    format!("@{}..@{}", side(from, i64::MIN), side(to, i64::MAX))
}
