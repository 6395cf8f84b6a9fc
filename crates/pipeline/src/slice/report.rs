//! What a slice did.

use crate::config::Config;
use crate::report::MergeReport;
use tracemill_core::flaws::Flaws;
use tracemill_core::read::Inputs;
use tracemill_core::windows::Edges;
use tracemill_core::windows::{Bounds, Span, Windows};

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
    /// Whether no event of the trace lies in a window: what was written is kept in any window, or was made at an edge.
    pub is_empty: bool,
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
            is_empty: false,
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
        self.written.run.inputs = inputs.reports;
        let Some(bounds) = bounds else {
            self.is_empty = true;
            self.written.run.warnings.push("the inputs have no event with a time".to_owned());
            return;
        };
        let trace = text((bounds.first, bounds.end));
        let lasts = length(bounds.first, bounds.end);
        let outside: Vec<String> =
            self.windows.iter().filter_map(|&span| outside(span, bounds)).collect();
        let is_said = outside.len() == self.windows.len();
        let around = self.kept_always + self.moved + self.counters;
        self.is_empty = is_said || self.written.run.events <= around;
        for window in outside {
            self.written
                .run
                .warnings
                .push(format!("{window}: the trace is {trace} µs and lasts {lasts}"));
        }
        if self.is_empty && !is_said {
            let windows: Vec<String> = self.windows.iter().map(|&span| text(span)).collect();
            self.written.run.warnings.push(format!(
                "no event lies in the window: it is {} µs, the trace is {trace} µs and lasts {lasts}",
                windows.join(", ")
            ));
        }
    }

    /// Pieces, keys and profile data lost in all. What lies outside the windows is not lost.
    pub fn lost(&self) -> u64 {
        self.written.run.lost() + self.flaws.lost()
    }
}

/// What is wrong with a window that lies before or behind a whole trace.
fn outside(span: Span, bounds: Bounds) -> Option<String> {
    let (from, to) = span;
    if to <= bounds.first {
        return Some(format!(
            "the window {} µs ends {} before the trace begins",
            text(span),
            length(to, bounds.first)
        ));
    }
    // an event without a duration may be the end of the trace
    (from >= bounds.end && from > bounds.last).then(|| {
        format!(
            "the window {} µs begins {} after the end of the trace",
            text(span),
            length(bounds.end, from)
        )
    })
}

/// The time between two moments, in the unit that suits it.
fn length(from: i64, to: i64) -> String {
    let ns = to.abs_diff(from);
    let (scale, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (1_000.0, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.2} {unit}", ns as f64 / scale)
}

/// `from..to` as microseconds; nothing where there is no limit.
fn text((from, to): Span) -> String {
    let side = |time: i64, limit: i64| {
        let mut text = Vec::new();
        if time != limit {
            text.push(b'@');
            tracemill_core::json::push_micros(time, &mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    };
    format!("{}..{}", side(from, i64::MIN), side(to, i64::MAX))
}
