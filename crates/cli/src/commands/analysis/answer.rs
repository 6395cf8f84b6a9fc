//! What is answered: tables, and which of their rows are shown.

use std::borrow::Cow;
use tracemill_analysis::{Part, Query, Shape, Trace, TreeRow, Weights};

/// Tables, and what they are of.
pub(super) struct Answer<'a> {
    pub(super) verb: &'static str,
    pub(super) trace: &'a Trace,
    pub(super) parts: &'a [Part],
    pub(super) query: &'a Query,
    pub(super) shown: Shown,
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

/// The version of DevTools whose rules the numbers are of.
pub(super) const RULES: &str = "1705227";

/// How times are counted.
pub(super) fn times_of(trace: &Trace) -> &'static str {
    if trace.origin().is_some() { "exact" } else { "devtools" }
}

/// For how long a sample counts.
pub(super) fn self_of(weights: Weights) -> &'static str {
    match weights {
        Weights::Next => "until the next sample",
        Weights::Delta => "since the sample before",
        Weights::Hits => "all samples alike",
    }
}

/// Which rows of a table are shown.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    /// As many as were asked for.
    pub(super) rows: Option<usize>,
    /// As many if nobody asked.
    pub(super) default_rows: Option<usize>,
}

impl Shown {
    pub(super) fn most(&self) -> usize {
        self.rows.or(self.default_rows).unwrap_or(usize::MAX)
    }

    /// The rows of a table that are shown.
    pub(super) fn of<'p>(
        &self,
        part: &'p Part,
    ) -> impl ExactSizeIterator<Item = Cow<'p, TreeRow>> + use<'p> {
        part.table.rows.iter().take(self.most())
    }

    /// How many rows of a table are not shown.
    pub(super) fn more(&self, part: &Part) -> u64 {
        part.table.more + part.table.rows.len().saturating_sub(self.most()) as u64
    }
}
