//! Long tasks (DevTools: `LONG_TASK` of `WarningsHandler`).

use crate::found::{LONG, Stretch, Tasks};
use crate::spread::{keep_longest, push_longest};
use tracemill_analysis::events::kinds::flag;
use tracemill_analysis::{Thread, Trace, Window};

pub(crate) fn has_tasks(trace: &Trace) -> bool {
    trace.flags().iter().any(|flags| flags & flag::RUN_TASK != 0)
}

/// Returns the tasks of a thread that take more than 50 ms and begin within the window. Does not
/// compute their paths. Returns nothing for workers, because they do not block the page.
pub(crate) fn tasks(
    trace: &Trace,
    at: usize,
    thread: &Thread,
    rows: usize,
    window: Window,
) -> Tasks {
    let mut tasks = Tasks::default();
    if trace.meta().workers.contains(&(thread.pid.clone(), thread.tid.clone())) {
        return tasks;
    }
    let clock = trace.clock();
    let is_task = |kind: u32| trace.flags()[kind as usize] & flag::RUN_TASK != 0;
    for record in trace.records(thread) {
        let starts = clock.ms_of(record.ts);
        if record.dur <= clock.ticks_of(LONG) || !is_task(record.kind) {
            continue;
        }
        if starts < window.from || starts > window.to {
            continue;
        }
        tasks.count += 1;
        tasks.blocking += clock.ms_of(record.dur) - LONG;
        push_longest(&mut tasks.longest, Stretch::of_record(trace, at, &record), rows);
    }
    keep_longest(&mut tasks.longest, rows);
    tasks
}
