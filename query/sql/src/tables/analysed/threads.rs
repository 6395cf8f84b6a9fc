//! The numbers of threads in tables, by pid and tid.

use crate::traces::Traces;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::Int64Type;
use std::collections::HashMap;
use std::ops::ControlFlow;
use tracemill_analysis::Thread;
use tracemill_arrow::{
    IDS_PER_INPUT, PROCESS_COLUMNS, RowScan, THREAD_COLUMNS, ThreadScan, TraceInputs,
};
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
    let all = THREAD_COLUMNS.iter().chain(PROCESS_COLUMNS);
    let columns = ["utid", "pid_text", "tid_text"]
        .map(|name| all.clone().copied().find(|column| column.name == name));
    let scan = ThreadScan::threads(columns.into_iter().flatten().collect());
    let Traces { sources, places, config, .. } = traces;
    let mut found = HashMap::new();
    scan.run(&TraceInputs { sources, places, config }, &mut |batch| {
        let utids = batch.column(0).as_primitive::<Int64Type>();
        let ids = [1, 2].map(|column| batch.column(column).as_string_view());
        for (row, utid) in utids.values().iter().enumerate() {
            let [pid, tid] = ids.map(|texts| match texts.is_null(row) {
                true => String::new(),
                false => texts.value(row).to_owned(),
            });
            found.insert(((utid / IDS_PER_INPUT) as usize, pid, tid), *utid);
        }
        ControlFlow::Continue(())
    })?;
    Ok(UniqueThreads(found))
}
