//! Long tasks (DevTools: `LONG_TASK` of `WarningsHandler`).

use crate::found::{LONG, Stretch, Tasks, keep_longest};
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
        let key = (record.phase() == b'X').then(|| format!("r-{}", record.number()));
        let window = Window { from: starts, to: clock.ms_of(record.ts + record.dur) };
        let name = trace.names().text(trace.kinds()[record.kind as usize].name);
        let [ts, dur, until] =
            [record.ts, record.dur, record.ts + record.dur].map(|tick| clock.micros(tick));
        tasks.longest.push(Stretch {
            name,
            thread: at,
            window,
            ts,
            dur,
            until,
            key,
            paths: Vec::new(),
            started_by: None,
        });
        if tasks.longest.len() >= 2 * rows + 64 {
            keep_longest(&mut tasks.longest, rows);
        }
    }
    keep_longest(&mut tasks.longest, rows);
    tasks
}
