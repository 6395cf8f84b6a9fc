//! Tables of an analysis, and the selection of rows to show.

use serde_json::{Value, json};
use std::borrow::Cow;
use tracemill_analysis::{Part, Query, Shape, Trace, TreeRow, UncountedProfiles, Weights};
use tracemill_trace::run::words::{grouped, plural};

/// The query of a command, and the tables that answer it.
pub(super) struct Answer<'a> {
    pub(super) verb: &'static str,
    pub(super) trace: &'a Trace,
    pub(super) parts: &'a [Part],
    pub(super) query: &'a Query,
    pub(super) shown: ShownRows,
}

impl Answer<'_> {
    pub(super) fn view(&self) -> &'static str {
        match self.query.shape {
            Shape::CallTree => "call-tree",
            Shape::BottomUp { .. } => "bottom-up",
            Shape::Log => "log",
        }
    }
}

/// Version of DevTools whose rules the numbers follow.
pub(super) const RULES: &str = "1705227";

/// Returns the rules by which times are computed: `exact` or `devtools`.
pub(super) fn times_of(trace: &Trace) -> &'static str {
    if trace.origin().is_some() { "exact" } else { "devtools" }
}

/// Returns a phrase about the time that a sample counts for.
pub(super) fn self_of(weights: Weights) -> &'static str {
    match weights {
        Weights::Next => "until the next sample",
        Weights::Delta => "since the sample before",
        Weights::Hits => "all samples alike",
    }
}

/// Returns notes for readers of the tables: the position of DevTools' time 0, and CPU profiles that
/// are not counted.
pub(super) fn notes(trace: &Trace) -> Vec<String> {
    let zero = trace.devtools_zero();
    let zero = zero.map(|ms| format!("DevTools' 0 is at {ms:+.2} ms"));
    zero.into_iter().chain(uncounted_profiles(trace)).collect()
}

/// Returns a sentence about CPU profiles that are not counted, with the reasons.
fn uncounted_profiles(trace: &Trace) -> Option<String> {
    let UncountedProfiles { of, further, unowned } = trace.uncounted;
    let reasons = [
        (further, "of threads with another (one of each counts, as in DevTools)"),
        (unowned, "without the Profile event that names their thread"),
    ];
    let reasons = reasons.into_iter().filter(|(count, _)| *count > 0);
    let reasons = reasons.map(|(count, why)| format!("{} {why}", grouped(count)));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    let (count, all) = (grouped(further + unowned), plural(of, "CPU profile"));
    (!reasons.is_empty()).then(|| format!("{count} of {all} not counted: {reasons}"))
}

/// Returns the content of [`notes`] as members of a JSON object.
pub(super) fn note_members(trace: &Trace) -> [(&'static str, Value); 2] {
    let UncountedProfiles { of, further, unowned } = trace.uncounted;
    let profiles = json!({"of": of, "further": further, "unowned": unowned});
    [("devtools_zero_ms", json!(trace.devtools_zero())), ("uncounted_profiles", profiles)]
}

/// How many rows of a table are shown.
#[derive(Clone, Copy)]
pub(super) struct ShownRows {
    /// Maximum number of rows, if the user gives one.
    pub(super) rows: Option<usize>,
    /// Maximum number of rows, if the user gives none.
    pub(super) default_rows: Option<usize>,
    /// Milliseconds from the trace start to DevTools' time 0, to which the starts of rows are
    /// relative.
    pub(super) zero: f64,
}

impl ShownRows {
    /// Creates the limits for tables of `trace`.
    pub(super) fn new(trace: &Trace, rows: Option<u32>, default_rows: Option<usize>) -> Self {
        let zero = trace.devtools_zero().unwrap_or(0.0);
        ShownRows { rows: rows.map(|rows| rows as usize), default_rows, zero }
    }

    pub(super) fn most(&self) -> usize {
        self.rows.or(self.default_rows).unwrap_or(usize::MAX)
    }

    /// Returns the rows to show. Their starts are relative to the trace start.
    pub(super) fn of<'p>(
        &self,
        part: &'p Part,
    ) -> impl ExactSizeIterator<Item = Cow<'p, TreeRow>> + use<'p> {
        let zero = self.zero;
        part.table.rows.iter().take(self.most()).map(move |mut row| {
            if zero != 0.0 {
                row.to_mut().start += zero;
            }
            row
        })
    }

    pub(super) fn more(&self, part: &Part) -> u64 {
        part.table.more + part.table.rows.len().saturating_sub(self.most()) as u64
    }
}
