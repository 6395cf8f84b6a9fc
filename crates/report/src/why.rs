//! Causes of the events that a report lists.

use crate::found::{Report, ReportRules, Stretch};
use crate::gpu::causes::add_launches;
use crate::web::initiated::add_initiators;
use tracemill_analysis::Trace;
use tracemill_causes::{Cause, Causes, EventId};
use tracemill_trace::{Error, ErrorKind};

impl Report {
    /// Adds the causes of the listed tasks, layouts, requests and kernels. `trace` must be read with
    /// [`Wanted::causes`](tracemill_analysis::Wanted), and `threads` and `rules` be those of the
    /// report. If the causes need too much memory, sets [`Report::no_causes`] in their place.
    ///
    /// Cost: [`Causes::find`] if anything is listed that may have a cause, a pass over the events of
    /// threads with long tasks, and the flame charts of all threads if kernels are listed.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails.
    pub fn add_causes(
        &mut self,
        trace: &Trace,
        threads: &[usize],
        rules: &ReportRules,
    ) -> Result<(), Error> {
        let tasks = self.tasks.iter().any(|tasks| !tasks.longest.is_empty());
        let layouts = self.reflows.iter().any(|reflows| !reflows.functions.is_empty());
        let kernels = self.devices.iter().any(|devices| !devices.kernels.is_empty());
        if !(tasks || layouts || kernels) && self.requests.is_empty() {
            return Ok(());
        }
        let added = Causes::find(trace, rules.tables.as_devtools).and_then(|causes| {
            self.add_starts(trace, &causes);
            if let Some(devices) = self.devices.as_mut().filter(|_| kernels) {
                add_launches(trace, threads, rules, &causes, &mut devices.kernels)?;
            }
            add_initiators(trace, &causes, &mut self.requests);
            Ok(())
        });
        match added {
            Err(error) if matches!(error.kind(), ErrorKind::Exceeded { .. }) => {
                self.no_causes = Some(error.to_string());
                Ok(())
            }
            added => added,
        }
    }

    /// Adds the causes of tasks, and the events that invalidated layouts.
    fn add_starts(&mut self, trace: &Trace, causes: &Causes) {
        let mut starts: Vec<(&mut Stretch, EventId)> = Vec::new();
        if let Some(tasks) = &mut self.tasks {
            let found = starters(trace, causes, &tasks.longest);
            let all = tasks.longest.iter_mut().zip(found);
            starts.extend(all.filter_map(|(task, found)| Some((task, found?))));
        }
        for reflow in self.reflows.iter_mut().flat_map(|reflows| &mut reflows.functions) {
            let key = reflow.longest.key.as_deref();
            let layout = key.and_then(|key| EventId::of_key(trace, key));
            let found = layout.and_then(|layout| causes.initiators.of(layout));
            starts.extend(found.map(|found| (&mut reflow.longest, found)));
        }
        let events: Vec<EventId> = starts.iter().map(|(_, event)| *event).collect();
        let stacks = causes.stacks.of_all(&events);
        for ((listed, event), stack) in starts.into_iter().zip(stacks) {
            listed.started_by = Some(Cause {
                name: Some(event.name(trace)),
                key: event.key(trace).text(),
                site: causes.stacks.innermost_site(stack),
            });
        }
    }
}

/// An open task, and the longest event in it that an event before the task started.
struct Open {
    /// Number of the task in the list.
    task: usize,
    /// Duration of the longest event in ticks.
    longest: Option<f64>,
}

/// Returns the cause of each task: the initiator of the longest event in the task, the task
/// included, whose initiator began before the task.
///
/// Cost: the events of the threads, and a search for the initiators of those in the tasks.
fn starters(trace: &Trace, causes: &Causes, tasks: &[Stretch]) -> Vec<Option<EventId>> {
    let mut found: Vec<Option<EventId>> = vec![None; tasks.len()];
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by(|&a, &b| {
        let threads = tasks[a].thread.cmp(&tasks[b].thread);
        threads.then(tasks[a].ts.total_cmp(&tasks[b].ts))
    });
    for of_thread in order.chunk_by(|&a, &b| tasks[a].thread == tasks[b].thread) {
        let thread = tasks[of_thread[0]].thread;
        let mut waiting = of_thread.iter().peekable();
        let mut open: Vec<Open> = Vec::new();
        for record in trace.records(&trace.threads[thread]) {
            let end = record.ts + record.dur;
            let [from, until] = [record.ts, end].map(|tick| trace.clock().micros(tick));
            while let Some(&task) = waiting.next_if(|task| tasks[**task].ts <= from) {
                open.push(Open { task, longest: None });
            }
            open.retain(|open| from < tasks[open.task].until);
            if open.is_empty() && waiting.peek().is_none() {
                break;
            }
            for Open { task, longest } in &mut open {
                let is_longest = longest.is_none_or(|longest| record.dur > longest);
                if !is_longest || until > tasks[*task].until {
                    continue;
                }
                let initiator = causes.initiators.of(EventId::of_record(&record, thread));
                let before = |event: &EventId| {
                    let start = event.start(trace);
                    start.is_some_and(|start| start < tasks[*task].window.from)
                };
                if let Some(initiator) = initiator.filter(before) {
                    (*longest, found[*task]) = (Some(record.dur), Some(initiator));
                }
            }
        }
    }
    found
}
