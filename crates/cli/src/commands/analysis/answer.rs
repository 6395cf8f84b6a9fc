//! What is answered: tables, and which of their rows are shown.

use crate::args::RowThreshold;
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
    pub(super) depth: usize,
    pub(super) least: RowThreshold,
}

/// Rows that are shown, and what is left out.
pub(super) struct ShownRows<'p> {
    pub(super) rows: Vec<&'p TreeRow>,
    /// Rows that take too little, and their self times.
    pub(super) small: (u64, f64),
    /// Rows beyond the number asked for.
    pub(super) more: u64,
}

impl Shown {
    /// The rows of a table that are shown: what is below a row that is not shown is not shown either.
    pub(super) fn keep<'p>(&self, part: &'p Part) -> ShownRows<'p> {
        let least = match self.least {
            RowThreshold::Percent(percent) => part.busy() * percent / 100.0,
            RowThreshold::Time(ms) => ms,
        };
        let most = self.rows.or(self.default_rows).unwrap_or(usize::MAX);
        let mut kept = ShownRows { rows: Vec::new(), small: (0, 0.0), more: 0 };
        let mut hidden: Option<u32> = None;
        for row in &part.table.rows {
            if hidden.is_some_and(|depth| row.depth > depth) {
                continue;
            }
            hidden = None;
            if row.depth as usize >= self.depth {
                continue;
            }
            if least > 0.0 && row.total.max(row.own) < least {
                hidden = Some(row.depth);
                kept.small.0 += 1;
                kept.small.1 += row.total.max(row.own);
            } else if kept.rows.len() == most {
                kept.more += 1;
            } else {
                kept.rows.push(row);
            }
        }
        kept
    }
}
