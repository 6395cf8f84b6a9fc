//! Values of the figures to which limits refer.

use crate::args::{Figure, GateRow};
use tracemill_report::Device;
use tracemill_report::Devices;
use tracemill_report::Report;
use tracemill_report::Stretch;
use tracemill_report::Visit;

/// Returns the rows of functions and events to which limits apply.
pub(super) fn gate_rows(report: &Report) -> impl Iterator<Item = GateRow> {
    let rows = report.hot.iter().flat_map(|part| &part.table.rows);
    rows.map(|row| GateRow {
        name: row.name().to_owned(),
        trace_name: row.trace_name().unwrap_or_default().to_owned(),
        self_ms: row.own,
        total: row.total,
        count: row.count,
    })
}

/// Returns the busy time of all threads in milliseconds.
pub(super) fn busy(report: &Report) -> f64 {
    report.threads.iter().map(|thread| thread.busy).sum()
}

/// Returns the value of a figure, or the reason why it is missing.
pub(in super::super) fn value(report: &Report, figure: Figure) -> Result<f64, String> {
    let longest =
        |intervals: &[Stretch]| intervals.first().map_or(0.0, |interval| interval.dur / 1000.0);
    let tasks = report.tasks.as_ref().ok_or("the trace has no tasks (RunTask)");
    let blocks = report.blocks.as_ref().ok_or("no input is a CPU profile on its own");
    let blocks = blocks.and_then(|blocks| match blocks.without_idle {
        0 => Ok(blocks),
        _ => Err("a CPU profile has no (idle) samples"),
    });
    let value = match figure {
        Figure::Busy => Ok(busy(report)),
        Figure::Gc => Ok(report.gc),
        Figure::Tasks => tasks.map(|tasks| tasks.count as f64),
        Figure::Blocking => tasks.map(|tasks| tasks.blocking),
        Figure::LongestTask => tasks.map(|task| longest(&task.longest)),
        Figure::Blocks => blocks.map(|blocks| blocks.count as f64),
        Figure::LongestBlock => blocks.map(|block| longest(&block.longest)),
        Figure::Fcp | Figure::Lcp | Figure::Inp | Figure::Cls => worst(report, figure),
        Figure::Requests => Ok(report.requests.len() as f64),
        Figure::GpuIdle => {
            devices(report).map(|device| device.all.iter().map(|device| device.idle).sum())
        }
        Figure::GpuOverlap => devices(report).and_then(overlap),
        Figure::Own | Figure::Total | Figure::Count => Err("it is of rows"),
    };
    value.map_err(str::to_owned)
}

fn devices(report: &Report) -> Result<&Devices, &'static str> {
    report.devices.as_ref().ok_or("the trace has no kernels of PyTorch's profiler")
}

/// Returns the part of all communication that overlaps computation, in percent.
fn overlap(devices: &Devices) -> Result<f64, &'static str> {
    let sum = |of: fn(&Device) -> f64| devices.all.iter().map(of).sum::<f64>();
    match sum(|device| device.communication) {
        0.0 => Err("no kernel communicates"),
        all => Ok(100.0 * sum(|device| device.overlap) / all),
    }
}

/// Returns the worst value of a figure in all navigations, or the reason why it is missing.
fn worst(report: &Report, figure: Figure) -> Result<f64, &'static str> {
    let visits =
        report.visits.as_ref().ok_or("Chrome did not record it")?.as_ref().map_err(|why| *why)?;
    let value = |visit: &Visit| match figure {
        Figure::Fcp => visit.fcp.map(|us| us / 1000.0),
        Figure::Lcp => visit.lcp.as_ref().map(|paint| paint.time / 1000.0).map_err(|why| *why),
        Figure::Inp => visit.inp.as_ref().map(|slowest| slowest.0.dur / 1000.0).map_err(|why| *why),
        _ => Ok(visit.cls()),
    };
    let mut worst = Err("navigationStart is missing");
    for visit in visits {
        match (value(visit), worst) {
            (Ok(value), Ok(known)) => worst = Ok(value.max(known)),
            (Ok(value), Err(_)) => worst = Ok(value),
            (Err(why), Err(_)) => worst = Err(why),
            (Err(_), Ok(_)) => {}
        }
    }
    worst
}
