//! Blocks of the event loop: time in which a CPU profile has no idle sample, so that requests to a
//! server wait.

use crate::found::{Blocks, LONG, Stretch, keep_longest};
use tracemill_analysis::profile::model::Model;
use tracemill_analysis::{Trace, Window};

/// Finds the blocks of at least 50 ms in a CPU profile, within the window. Does not compute their
/// paths.
///
/// Cost: visits each sample. Heap: `rows` blocks.
pub(crate) fn blocks(
    trace: &Trace,
    at: usize,
    model: &Model,
    rows: usize,
    window: Window,
) -> Blocks {
    let mut blocks = Blocks::default();
    let Some(idle) = model.idle else {
        blocks.without_idle = 1;
        return blocks;
    };
    let mut since: Option<f64> = None;
    let mut finish = |from: f64, to: f64| {
        let (from, to) = (from.max(window.from), to.min(window.to));
        if to - from < LONG {
            return;
        }
        blocks.count += 1;
        blocks.total += to - from;
        let (ts, dur, until) = (from * 1000.0, (to - from) * 1000.0, to * 1000.0);
        let (key, paths) = (None, Vec::new());
        let window = Window { from, to };
        blocks.longest.push(Stretch {
            name: String::new(),
            thread: at,
            window,
            ts,
            dur,
            until,
            key,
            paths,
            started_by: None,
        });
        if blocks.longest.len() >= 2 * rows + 64 {
            keep_longest(&mut blocks.longest, rows);
        }
    };
    let (mut last, in_ms) = (0.0, |sum| trace.clock().ms(sum));
    for sample in trace.samples(model) {
        last = in_ms(sample.ms);
        if sample.node != idle {
            since = since.or(Some(last));
        } else if let Some(from) = since.take() {
            finish(from, last);
        }
    }
    if let Some(from) = since {
        let end = model.span.end.filter(|end| end.is_finite()).map_or(last, in_ms);
        finish(from, end);
    }
    keep_longest(&mut blocks.longest, rows);
    blocks
}
