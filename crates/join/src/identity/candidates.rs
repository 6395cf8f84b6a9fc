//! Which recordings an input may be a part of: found by what it must share with one, since thousands of inputs may have
//! one pid (1 in every container) and nothing else in common.
//!
//! They share a CPU profile stream, or a process of one pid and name and a path without its rotation number. Of the latter,
//! those with the same threads at the same time are left out here: looking at each of 20,000 such inputs for each took a
//! minute. So are those in which a CPU profile stream of the input began at another time: 20,000 sessions of one program
//! have as many.

use super::input_unit::InputUnit;
use super::processes::{CanonicalId, InputProcess, TypicalRange, are_apart};
use tracemill_cpuprofile::StreamKey;
use tracemill_trace::spill::hash::HashMap;

/// Recordings by what their inputs have.
#[derive(Default)]
pub(super) struct Candidates<'u> {
    by_log: HashMap<LogProcess<'u>, ByBegin<RecordedProcess>>,
    by_stream: HashMap<&'u StreamKey, ByBegin<usize>>,
    /// Numbers of sets of threads.
    threads: HashMap<&'u [CanonicalId], usize>,
}

/// A named process of rotated logs.
#[derive(PartialEq, Eq, Hash)]
struct LogProcess<'u> {
    rotated_path: &'u [u8],
    pid: &'u CanonicalId,
    name: &'u [u8],
}

/// Returns the named processes of an input that may be one of rotated logs.
fn log_processes(unit: &InputUnit) -> impl Iterator<Item = (LogProcess<'_>, &InputProcess)> {
    unit.processes.by_pid.iter().filter_map(|(pid, process)| {
        let rotated_path = unit.rotated_path.as_deref()?;
        Some((LogProcess { rotated_path, pid, name: process.name.as_deref()? }, process))
    })
}

/// When a stream of a recording began: the first of which it is known.
pub(super) type StreamBegin = (StreamKey, i64);

/// Members of recordings, by what is known of when streams of these began.
struct ByBegin<T> {
    unknown: Vec<T>,
    begun: HashMap<StreamKey, HashMap<i64, Vec<T>>>,
}

impl<T> Default for ByBegin<T> {
    fn default() -> Self {
        // most lists are of one
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

    /// Those in which no stream of a unit began at another time, as far as they say, in no order.
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

/// A process of an input in a recording.
#[derive(PartialEq)]
struct RecordedProcess {
    recording: usize,
    /// The number of its set of threads; `None` if it has none, and so none in common with anyone.
    threads: Option<usize>,
    times: TypicalRange,
}

impl RecordedProcess {
    /// Whether a process of the same pid and name must be another one.
    fn is_other(&self, threads: Option<usize>, times: TypicalRange) -> bool {
        threads.is_some() && threads == self.threads && !are_apart(self.times, times)
    }
}

impl<'u> Candidates<'u> {
    /// Adds an input of a recording, the first known stream of which began at `begin`.
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

    /// Recordings that an input may be a part of, ascending.
    pub(super) fn of(&mut self, unit: &'u InputUnit) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for (log, process) in log_processes(unit) {
            let (threads, times) = (self.number_of(process), process.times.bulk());
            let members = self.by_log.get(&log).into_iter().flat_map(|members| members.of(unit));
            let others = members.filter(|member| !member.is_other(threads, times));
            found.extend(others.map(|member| member.recording));
        }
        let of_streams = unit.streams.keys().filter_map(|key| self.by_stream.get(key));
        found.extend(of_streams.flat_map(|own| own.of(unit)));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The number of a process's set of threads.
    fn number_of(&mut self, process: &'u InputProcess) -> Option<usize> {
        let next = self.threads.len();
        let threads = Some(&*process.threads).filter(|threads| !threads.is_empty())?;
        Some(*self.threads.entry(threads).or_insert(next))
    }
}

/// Adds what is not the last one already.
fn push<T: PartialEq>(list: &mut Vec<T>, member: T) {
    if list.last() != Some(&member) {
        list.push(member);
    }
}
