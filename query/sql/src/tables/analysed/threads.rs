//! The numbers of threads in tables, by pid and tid.

use crate::traces::Traces;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::Int64Type;
use std::collections::HashMap;
use std::ops::ControlFlow;
use tracemill_analysis::Thread;
use tracemill_arrow::{EventColumn, EventScan, IDS_PER_INPUT};
use tracemill_trace::Error;

/// Column `utid` by input, pid and tid.
#[derive(Default)]
pub(super) struct UniqueThreads(HashMap<(usize, String, String), i64>);

impl UniqueThreads {
    /// Returns the number of a thread. Returns `None` for a thread without events.
    pub(super) fn of(&self, thread: &Thread) -> Option<i64> {
        let key = (thread.input_number, thread.pid_text(), thread.tid_text());
        self.0.get(&key).copied()
    }
}

/// Reads the numbers of all threads. Cost: one scan.
///
/// # Errors
/// Returns an error if a trace cannot be read.
pub(super) fn unique_threads(traces: &Traces) -> Result<UniqueThreads, Error> {
    let columns = [EventColumn::UniqueThread, EventColumn::PidText, EventColumn::TidText];
    let scan = EventScan::new(columns).at_places(traces.places.clone());
    let mut found = HashMap::new();
    let mut greatest = HashMap::new();
    scan.run(&traces.sources, &traces.config, |batch| {
        let utids = batch.column(0).as_primitive::<Int64Type>();
        let [pids, tids] = [1, 2].map(|column| batch.column(column).as_string_view());
        for (row, utid) in utids.iter().enumerate() {
            let Some(utid) = utid else { continue };
            let input = (utid / IDS_PER_INPUT) as usize;
            // numbers come in order of first use
            let last: &mut i64 = greatest.entry(input).or_insert(-1);
            if utid <= *last {
                continue;
            }
            *last = utid;
            let [pid, tid] = [pids, tids].map(|texts| match texts.is_null(row) {
                true => String::new(),
                false => texts.value(row).to_owned(),
            });
            found.insert((input, pid, tid), utid);
        }
        ControlFlow::Continue(())
    })?;
    Ok(UniqueThreads(found))
}
