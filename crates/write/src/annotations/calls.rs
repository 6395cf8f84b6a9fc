//! Checks that DevTools finds the same call under a key (`p-PID-TID-SAMPLE-NODE`) as before.
//!
//! DevTools derives the calls of a thread from its samples and the events drawn on it. Other
//! threads matter only for B and E, which DevTools pairs over the whole file. So a key is kept if
//! the output and the document have, on the thread of the key:
//!
//! * the same number of X and I events, and no B or E events if the output has other events than
//!   the document;
//! * the same CPU profiles, with the same numbers of samples and nodes;
//! * the sample and the node of the key.
//!
//! This drops keys of threads that are not written completely.

use super::key::CallKey;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use tracemill_cpuprofile::{Chunk, Role, StreamKey, decode_into, stream_key};
use tracemill_tokenizer::{Event, Field, parse};
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// The pid and tid of a thread in a key.
pub(super) type ThreadIds = (u64, u64);

/// The threads that keys name, and their processes.
#[derive(Debug, Default)]
pub(super) struct RequestedThreads {
    threads: BTreeSet<ThreadIds>,
    pids: BTreeSet<u64>,
}

impl RequestedThreads {
    pub(super) fn new(threads: BTreeSet<ThreadIds>) -> Self {
        let pids = threads.iter().map(|ids| ids.0).collect();
        RequestedThreads { threads, pids }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }
}

/// Counts that decide whether keys of calls remain valid.
#[derive(Debug, Default)]
pub(super) struct ThreadCalls {
    wanted: Arc<RequestedThreads>,
    drawn: BTreeMap<ThreadIds, EntryCounts>,
    /// Threads of the `Profile` events, by pid and stream.
    heads: BTreeMap<(u64, StreamKey), ThreadIds>,
    /// Samples and nodes by pid and stream. The pid is that of the output; the stream key may have
    /// the old pid.
    streams: BTreeMap<(u64, StreamKey), StreamSize>,
    /// Pids in the output, by input and old pid. `None` if the new pid is not a number.
    names: HashMap<(usize, u64), Option<u64>>,
    chunk: Chunk,
    /// The profiles of each thread, computed after the last event.
    profiles: OnceLock<HashMap<ThreadIds, ThreadProfiles>>,
}

/// Summary of the CPU profiles of a thread.
#[derive(Debug)]
struct ThreadProfiles {
    /// Numbers of samples and nodes of each profile, sorted.
    sizes: Vec<(u64, usize)>,
    /// Number of samples of the shortest profile.
    samples: u64,
    /// Node ids that all profiles have.
    nodes: HashSet<u64>,
}

/// Number of events drawn on a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct EntryCounts {
    entries: u64,
    /// Number of B and E events among the entries.
    halves: u64,
}

#[derive(Debug, Default)]
struct StreamSize {
    samples: u64,
    nodes: HashSet<u64>,
}

impl ThreadCalls {
    pub(super) fn new(wanted: Arc<RequestedThreads>) -> Self {
        ThreadCalls { wanted, ..ThreadCalls::default() }
    }

    /// Counts an event of input `unit`. `renamed` returns the pid of a process in the output.
    pub(super) fn note(
        &mut self,
        event: &Event<'_>,
        unit: usize,
        renamed: impl FnOnce(u64) -> Option<u64>,
    ) {
        if self.wanted.is_empty() {
            return;
        }
        let id = |field| parse::<u64>(event.field(field)?);
        let Some(pid) = id(Field::Pid) else { return };
        let pid = *self.names.entry((unit, pid)).or_insert_with(|| renamed(pid));
        let Some(pid) = pid.filter(|pid| self.wanted.pids.contains(pid)) else { return };
        let ids =
            id(Field::Tid).map(|tid| (pid, tid)).filter(|ids| self.wanted.threads.contains(ids));
        if let Some(ids) = ids {
            let halves = match event.phase() {
                b'X' | b'I' => Some(0),
                b'B' | b'E' => Some(1),
                _ => None,
            };
            if let Some(halves) = halves {
                let drawn = self.drawn.entry(ids).or_default();
                drawn.entries += 1;
                drawn.halves += halves;
            }
        }
        let Some(role) = Role::of(event) else { return };
        let key = (pid, stream_key(event));
        if let (Role::Head | Role::Whole, Some(ids)) = (role, ids) {
            self.heads.insert(key.clone(), ids);
        }
        if role != Role::Head {
            decode_into(event, 0, &mut self.chunk);
            let stream = self.streams.entry(key).or_default();
            stream.samples += self.chunk.samples.len() as u64;
            stream.nodes.extend(self.chunk.nodes.iter().map(|node| node.id));
        }
    }

    pub(super) fn append(&mut self, other: ThreadCalls) {
        for (ids, drawn) in other.drawn {
            let counts = self.drawn.entry(ids).or_default();
            counts.entries += drawn.entries;
            counts.halves += drawn.halves;
        }
        self.heads.extend(other.heads);
        for (key, stream) in other.streams {
            let known = self.streams.entry(key).or_default();
            known.samples += stream.samples;
            known.nodes.extend(stream.nodes);
        }
    }

    /// Returns the summary of a thread's profiles, or `None` if the thread has no profile. Valid
    /// only after the last event.
    fn profiles_of(&self, ids: ThreadIds) -> Option<&ThreadProfiles> {
        let all = self.profiles.get_or_init(|| {
            let mut all: HashMap<ThreadIds, ThreadProfiles> = HashMap::default();
            for (key, &ids) in &self.heads {
                let Some(stream) = self.streams.get(key) else { continue };
                let profiles = all.entry(ids).or_insert_with(|| ThreadProfiles {
                    sizes: Vec::new(),
                    samples: u64::MAX,
                    nodes: stream.nodes.clone(),
                });
                profiles.sizes.push((stream.samples, stream.nodes.len()));
                profiles.samples = profiles.samples.min(stream.samples);
                profiles.nodes.retain(|node| stream.nodes.contains(node));
            }
            #[expect(clippy::iter_over_hash_type, reason = "each is sorted by itself")]
            for profiles in all.values_mut() {
                profiles.sizes.sort_unstable();
            }
            all
        });
        all.get(&ids)
    }

    /// Returns whether every profile of the thread has the sample and the node of a call.
    pub(super) fn have(&self, call: CallKey) -> bool {
        let profiles = self.profiles_of((call.pid, call.tid));
        profiles.is_some_and(|profile| {
            call.sample < profile.samples && profile.nodes.contains(&call.node)
        })
    }

    /// Returns whether two threads have the same counts and profiles, and no B or E events.
    pub(super) fn is_same(&self, ids: ThreadIds, there: &ThreadCalls, other: ThreadIds) -> bool {
        let drawn = self.drawn.get(&ids).copied().unwrap_or_default();
        drawn.halves == 0
            && drawn == there.drawn.get(&other).copied().unwrap_or_default()
            && self.profiles_of(ids).map(|ids| &ids.sizes)
                == there.profiles_of(other).map(|other| &other.sizes)
    }
}
