//! Figures that limits are of.

use crate::args::{Figure, GateRow};
use tracemill_analysis::{Report, Stretch, TreeRow};

/// Rows of the table of functions and events.
pub(super) fn gate_rows(report: &Report) -> impl Iterator<Item = GateRow<'_>> {
    let rows = report.hot.iter().flat_map(|part| &part.table.rows);
    rows.map(|row| GateRow { name: label(row), own: row.own, total: row.total, count: row.count })
}

/// Milliseconds in which anything went on, of all threads.
pub(super) fn busy(report: &Report) -> f64 {
    report.threads.iter().map(|own| own.busy).sum()
}

/// A figure of the report, or why it cannot be told.
pub(super) fn value(report: &Report, figure: Figure) -> Result<f64, String> {
    let longest = |own: &[Stretch]| own.first().map_or(0.0, |own| own.dur / 1000.0);
    let tasks = report.tasks.as_ref().ok_or("the trace has no tasks (RunTask)");
    let blocks = report.blocks.as_ref().ok_or("no input is a CPU profile that stands alone");
    let blocks = blocks.and_then(|own| match own.without_idle {
        0 => Ok(own),
        _ => Err("of a CPU profile no sample is (idle)"),
    });
    let value = match figure {
        Figure::Busy => Ok(busy(report)),
        Figure::Gc => Ok(report.gc),
        Figure::Tasks => tasks.map(|own| own.count as f64),
        Figure::Blocking => tasks.map(|own| own.blocking),
        Figure::LongestTask => tasks.map(|own| longest(&own.longest)),
        Figure::Blocks => blocks.map(|own| own.count as f64),
        Figure::LongestBlock => blocks.map(|own| longest(&own.longest)),
        Figure::Own | Figure::Total | Figure::Count => Err("it is of rows"),
    };
    value.map_err(str::to_owned)
}

/// What a row is called.
pub(super) fn label(row: &TreeRow) -> &str {
    row.label.as_deref().filter(|label| !label.is_empty()).unwrap_or(&row.id)
}
