//! Builds the rows for processes and threads: ids as written, names, totals.

use super::report::{ProcessInfo, ThreadInfo, Usage};
use super::table::{UsageEntry, UsageTable};
use std::cmp::Reverse;
use tracemill_tokenizer::to_text;
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::event::thread_table::ids_of_key;

pub(super) fn as_written(value: &[u8]) -> String {
    to_text(value)
}

/// Returns the sort key of an id: numbers come first, 9 before 10.
fn number(id: &[u8]) -> i128 {
    std::str::from_utf8(id).ok().and_then(|text| text.parse().ok()).unwrap_or(i128::MAX)
}

/// Groups threads into processes; `self_ns` returns the self time for the hash of a thread.
pub(super) fn processes(
    threads: &UsageTable,
    names: &MetadataNames,
    self_ns: impl Fn(u64) -> u64,
) -> Vec<ProcessInfo> {
    let mut threads: Vec<UsageEntry<'_>> = threads.entries().collect();
    threads.sort_by_key(|thread| {
        let (pid, tid) = ids_of_key(thread.key);
        (number(pid), pid, number(tid), tid)
    });
    let mut processes: Vec<(&[u8], ProcessInfo)> = Vec::new();
    for thread in threads {
        let (pid, tid) = ids_of_key(thread.key);
        if processes.last().is_none_or(|(last, _)| *last != pid) {
            let name = names.process(pid);
            let labels = names.labels(pid);
            let process =
                ProcessInfo { pid: as_written(pid), name, labels, ..ProcessInfo::default() };
            processes.push((pid, process));
        }
        let Some((_, process)) = processes.last_mut() else { continue };
        let usage = Usage { self_ns: self_ns(thread.hash), ..thread.usage };
        process.usage.add(&usage);
        let name = names.thread(pid, tid);
        process.threads.push(ThreadInfo { tid: as_written(tid), name, usage });
    }
    let mut processes: Vec<ProcessInfo> = processes.into_iter().map(|(_, p)| p).collect();
    processes.sort_by_key(|process| Reverse(process.usage.events));
    for process in &mut processes {
        process.threads.sort_by_key(|thread| Reverse(thread.usage.events));
    }
    processes
}
