//! Threads and processes: ids as written, with their names and what their events come to.

use super::report::{ProcessInfo, ThreadInfo, Usage};
use super::table::{Entry, Table};
use std::cmp::Reverse;
use tracemill_profile::Names;
use tracemill_tokenizer::to_text;

/// Appends the key of a thread in tables: its ids as written, empty where missing.
#[inline]
pub(super) fn thread_key(pid: &[u8], tid: &[u8], key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(&(pid.len() as u32).to_le_bytes());
    key.extend_from_slice(pid);
    key.extend_from_slice(tid);
}

/// The pid and tid of a key.
pub(crate) fn ids(key: &[u8]) -> (&[u8], &[u8]) {
    let (len, ids) = key.split_first_chunk::<4>().unwrap_or((&[0; 4], key));
    ids.split_at(u32::from_le_bytes(*len) as usize)
}

pub(super) fn as_written(value: &[u8]) -> String {
    to_text(value)
}

/// The processes of all threads; `self_ns` has the self times of threads by hash.
/// Numbers come before all other ids, 9 before 10.
fn number(id: &[u8]) -> i128 {
    std::str::from_utf8(id).ok().and_then(|text| text.parse().ok()).unwrap_or(i128::MAX)
}

pub(super) fn processes(
    threads: &Table,
    names: &Names,
    self_ns: impl Fn(u64) -> u64,
) -> Vec<ProcessInfo> {
    let mut threads: Vec<Entry<'_>> = threads.entries().collect();
    threads.sort_by_key(|thread| {
        let (pid, tid) = ids(thread.key);
        (number(pid), pid, number(tid), tid)
    });
    let mut processes: Vec<(&[u8], ProcessInfo)> = Vec::new();
    for thread in threads {
        let (pid, tid) = ids(thread.key);
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
