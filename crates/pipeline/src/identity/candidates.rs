//! Which recordings an input may be a part of: found by what it must share with one, since thousands of inputs may have
//! one pid (1 in every container) and nothing else in common.
//!
//! A part of a recording shares a process of one pid and name with it, or a CPU profile stream; of what `split` made a pid
//! is enough. Of those that share a name, the ones with the same threads at the same time are left out here: looking at each
//! of 20,000 such inputs for each took a minute.

use super::input_unit::InputUnit;
use super::processes::{Key, Process, TypicalRange, are_apart};
use tracemill_core::hash::{HashMap, HashSet};
use tracemill_profile::StreamKey;

/// Recordings by what their inputs have.
#[derive(Default)]
pub(super) struct Candidates<'u> {
    by_name: HashMap<(&'u Key, &'u [u8]), Vec<Member>>,
    by_stream: HashMap<&'u StreamKey, Vec<usize>>,
    by_pid: HashMap<&'u Key, Vec<usize>>,
    /// With inputs that are parts of something larger.
    with_parts: HashSet<usize>,
    /// Numbers of sets of threads.
    threads: HashMap<&'u [Key], usize>,
}

/// A process of an input in a recording.
struct Member {
    recording: usize,
    /// The number of its set of threads; `None` if it has none, and so none in common with anyone.
    threads: Option<usize>,
    times: TypicalRange,
}

impl Member {
    /// Whether a process of the same pid and name must be another one.
    fn is_other(&self, threads: Option<usize>, times: TypicalRange) -> bool {
        threads.is_some() && threads == self.threads && !are_apart(self.times, times)
    }
}

impl<'u> Candidates<'u> {
    /// An input has become a part of a recording, which `has_parts` of something larger or not.
    pub(super) fn admit(&mut self, unit: &'u InputUnit, recording: usize, has_parts: bool) {
        for (pid, process) in &unit.processes.by_pid {
            push(self.by_pid.entry(pid).or_default(), recording);
            if let Some(name) = &process.name {
                let threads = self.number_of(process);
                let member = Member { recording, threads, times: process.times.bulk() };
                // most lists are of one
                let list = self.by_name.entry((pid, name)).or_insert_with(|| Vec::with_capacity(1));
                list.push(member);
            }
        }
        #[expect(clippy::iter_over_hash_type, reason = "each stream has a list of its own")]
        for stream in unit.streams.keys() {
            push(self.by_stream.entry(stream).or_default(), recording);
        }
        if has_parts {
            self.with_parts.insert(recording);
        }
    }

    /// Recordings that an input may be a part of, ascending.
    pub(super) fn of(&mut self, unit: &'u InputUnit) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for (pid, process) in &unit.processes.by_pid {
            if unit.is_part || !self.with_parts.is_empty() {
                let sharing = self.by_pid.get(pid).into_iter().flatten();
                found.extend(sharing.filter(|&n| unit.is_part || self.with_parts.contains(n)));
            }
            if let Some(name) = &process.name {
                let (threads, times) = (self.number_of(process), process.times.bulk());
                let members = self.by_name.get(&(pid, &**name)).into_iter().flatten();
                let others = members.filter(|member| !member.is_other(threads, times));
                found.extend(others.map(|member| member.recording));
            }
        }
        found.extend(unit.streams.keys().filter_map(|key| self.by_stream.get(key)).flatten());
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The number of a process's set of threads.
    fn number_of(&mut self, process: &'u Process) -> Option<usize> {
        let next = self.threads.len();
        let threads = Some(&*process.threads).filter(|threads| !threads.is_empty())?;
        Some(*self.threads.entry(threads).or_insert(next))
    }
}

fn push(list: &mut Vec<usize>, recording: usize) {
    if list.last() != Some(&recording) {
        list.push(recording);
    }
}
