//! Finds the recordings that an input may belong to, by shared features. Comparing all pairs would
//! be too slow: thousands of inputs may share only a pid (1 in every container).
//!
//! A candidate shares a CPU profile stream with the input, or has a process with the same pid, name
//! and path without rotation number. Such processes with the same threads at overlapping times are
//! excluded, and so are recordings in which a stream of the input began at another time.

use super::input_unit::InputUnit;
use super::processes::{CanonicalId, InputProcess, TypicalRange, are_apart};
use tracemill_cpuprofile::StreamKey;
use tracemill_trace::spill::hash::HashMap;

/// Recordings by features of their inputs.
#[derive(Default)]
pub(super) struct Candidates<'u> {
    by_log: HashMap<LogProcess<'u>, ByBegin<RecordedProcess>>,
    by_stream: HashMap<&'u StreamKey, ByBegin<usize>>,
    /// The index of each distinct set of threads.
    threads: HashMap<&'u [CanonicalId], usize>,
}

#[derive(PartialEq, Eq, Hash)]
struct LogProcess<'u> {
    rotated_path: &'u [u8],
    pid: &'u CanonicalId,
    name: &'u [u8],
}

fn log_processes(unit: &InputUnit) -> impl Iterator<Item = (LogProcess<'_>, &InputProcess)> {
    unit.processes.by_pid.iter().filter_map(|(pid, process)| {
        let rotated_path = unit.rotated_path.as_deref()?;
        Some((LogProcess { rotated_path, pid, name: process.name.as_deref()? }, process))
    })
}

/// A stream of a recording and its start: the first stream with a known start.
pub(super) type StreamBegin = (StreamKey, i64);

/// Members of recordings, by the start of the recording's stream.
struct ByBegin<T> {
    unknown: Vec<T>,
    begun: HashMap<StreamKey, HashMap<i64, Vec<T>>>,
}

impl<T> Default for ByBegin<T> {
    fn default() -> Self {
        // most lists have one member
        ByBegin { unknown: Vec::with_capacity(1), begun: HashMap::default() }
    }
}

impl<T: PartialEq> ByBegin<T> {
    fn push(&mut self, begin: Option<&StreamBegin>, member: T) {
        let list = match begin {
            None => &mut self.unknown,
            Some((stream, begin)) => {
                self.begun.entry(stream.clone()).or_default().entry(*begin).or_default()
            }
        };
        push(list, member);
    }

    /// Returns members of recordings in which no stream of the input starts at another time.
    fn of(&self, unit: &InputUnit) -> impl Iterator<Item = &T> {
        let begun = self.begun.iter().flat_map(|(stream, lists)| {
            let begin = unit.streams.get(stream).copied().flatten();
            let one = begin.and_then(|begin| lists.get(&begin));
            let all = begin.is_none().then(|| lists.values());
            one.into_iter().chain(all.into_iter().flatten()).flatten()
        });
        self.unknown.iter().chain(begun)
    }
}

#[derive(PartialEq)]
struct RecordedProcess {
    recording: usize,
    /// Index of the set of threads. `None` if the process has no threads and so matches no other
    /// process.
    threads: Option<usize>,
    times: TypicalRange,
}

impl RecordedProcess {
    /// Returns whether a process of the same pid and name must be another process.
    fn is_other(&self, threads: Option<usize>, times: TypicalRange) -> bool {
        threads.is_some() && threads == self.threads && !are_apart(self.times, times)
    }
}

impl<'u> Candidates<'u> {
    /// Adds an input to a recording, whose first known stream start is `begin`.
    pub(super) fn admit(
        &mut self,
        unit: &'u InputUnit,
        recording: usize,
        begin: Option<&StreamBegin>,
    ) {
        for (log, process) in log_processes(unit) {
            let threads = self.number_of(process);
            let member = RecordedProcess { recording, threads, times: process.times.bulk() };
            self.by_log.entry(log).or_default().push(begin, member);
        }
        #[expect(clippy::iter_over_hash_type, reason = "each stream has a list of its own")]
        for stream in unit.streams.keys() {
            self.by_stream.entry(stream).or_default().push(begin, recording);
        }
    }

    /// Returns the recordings that an input may belong to, ascending.
    pub(super) fn of(&mut self, unit: &'u InputUnit) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for (log, process) in log_processes(unit) {
            let (threads, times) = (self.number_of(process), process.times.bulk());
            let members = self.by_log.get(&log).into_iter().flat_map(|members| members.of(unit));
            let others = members.filter(|member| !member.is_other(threads, times));
            found.extend(others.map(|member| member.recording));
        }
        let of_streams = unit.streams.keys().filter_map(|key| self.by_stream.get(key));
        found.extend(of_streams.flat_map(|members| members.of(unit)));
        found.sort_unstable();
        found.dedup();
        found
    }

    fn number_of(&mut self, process: &'u InputProcess) -> Option<usize> {
        let next = self.threads.len();
        let threads = Some(&*process.threads).filter(|threads| !threads.is_empty())?;
        Some(*self.threads.entry(threads).or_insert(next))
    }
}

fn push<T: PartialEq>(list: &mut Vec<T>, member: T) {
    if list.last() != Some(&member) {
        list.push(member);
    }
}
