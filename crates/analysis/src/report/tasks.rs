//! Long tasks: `LONG_TASK` of DevTools' `WarningsHandler`.

use super::found::{LONG, Stretch, Tasks, keep_longest};
use crate::events::kinds::flag;
use crate::trace::{Thread, Trace};
use crate::value::clock::Window;

impl Trace {
    /// Whether any event is a task.
    pub(super) fn has_tasks(&self) -> bool {
        self.flags.iter().any(|flags| flags & flag::RUN_TASK != 0)
    }

    /// The tasks of a thread of more than 50 ms that begin within the window, still without their paths. Workers have none: nobody waits
    /// for them. Cost: a look at each event of the thread; heap: that of `rows` tasks.
    pub(super) fn tasks(&self, at: usize, thread: &Thread, rows: usize, window: Window) -> Tasks {
        let mut tasks = Tasks::default();
        if self.meta.workers.contains(&(thread.pid.clone(), thread.tid.clone())) {
            return tasks;
        }
        let clock = self.clock;
        let is_task = |kind: u32| self.flags[kind as usize] & flag::RUN_TASK != 0;
        for record in self.records.range(thread.records.clone()) {
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
            let name = self.names.text(self.kinds.all[record.kind as usize].name);
            let [ts, dur, until] =
                [record.ts, record.dur, record.ts + record.dur].map(|tick| clock.micros(tick));
            let paths = Vec::new();
            tasks.longest.push(Stretch { name, thread: at, window, ts, dur, until, key, paths });
            if tasks.longest.len() >= 2 * rows + 64 {
                keep_longest(&mut tasks.longest, rows);
            }
        }
        keep_longest(&mut tasks.longest, rows);
        tasks
    }
}
