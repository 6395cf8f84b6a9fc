//! Blocks of the event loop: time in which a CPU profile has no idle sample, so that requests to a
//! server wait.

use crate::found::{Blocks, LONG, Stretch};
use crate::spread::{keep_longest, push_longest};
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
        let block = Stretch {
            name: String::new(),
            thread: at,
            window: Window { from, to },
            ts: from * 1000.0,
            dur: (to - from) * 1000.0,
            until: to * 1000.0,
            key: None,
            paths: Vec::new(),
            started_by: None,
        };
        push_longest(&mut blocks.longest, block, rows);
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
