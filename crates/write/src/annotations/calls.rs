//! Calls in CPU profiles: whether DevTools will find by a key (`p-PID-TID-SAMPLE-NODE`) what it found before.
//!
//! DevTools makes the calls of a thread of its samples and of the entries that are drawn on it, so a key holds as long as
//! both are the same; what other threads do does not matter, but for B and E, which it pairs over the whole file
//! (devtools-semantics §6, §8). So a thread is counted as its document has it and as the output has it:
//!
//! * as many X, I, B and E, and no B or E at all where the file has other events than before;
//! * the same CPU profiles, with as many samples and nodes;
//! * among them the sample and the node.
//!
//! That keeps calls where a thread is kept whole, sorted or merged with others, and drops them where anything of it went:
//! then they may begin at other samples.

use super::key::CallKey;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use tracemill_cpuprofile::{Chunk, Role, StreamKey, decode_into, stream_key};
use tracemill_tokenizer::{Event, Field, parse};
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// A process and a thread, as DevTools has them in keys.
pub(super) type ThreadIds = (u64, u64);

/// Threads that are asked for, and their processes.
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

/// What decides about the calls of some threads.
#[derive(Debug, Default)]
pub(super) struct ThreadCalls {
    wanted: Arc<RequestedThreads>,
    drawn: BTreeMap<ThreadIds, EntryCounts>,
    /// By the `Profile` events of streams, their threads.
    heads: BTreeMap<(u64, StreamKey), ThreadIds>,
    /// With the process, which may have a new name that the key does not show.
    streams: BTreeMap<(u64, StreamKey), StreamSize>,
    /// New names of processes, by the number of their unit; `None` for those that have none in keys.
    names: HashMap<(usize, u64), Option<u64>>,
    chunk: Chunk,
    /// The profiles of each thread, once all was seen.
    profiles: OnceLock<HashMap<ThreadIds, ThreadProfiles>>,
}

/// What the CPU profiles of a thread have.
#[derive(Debug)]
struct ThreadProfiles {
    /// Samples and nodes of each, sorted.
    sizes: Vec<(u64, usize)>,
    /// Samples that all have.
    samples: u64,
    /// Nodes that all have.
    nodes: HashSet<u64>,
}

/// Entries on a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct EntryCounts {
    entries: u64,
    /// B and E among them.
    halves: u64,
}

/// A CPU profile.
#[derive(Debug, Default)]
struct StreamSize {
    samples: u64,
    nodes: HashSet<u64>,
}

impl ThreadCalls {
    pub(super) fn new(wanted: Arc<RequestedThreads>) -> Self {
        ThreadCalls { wanted, ..ThreadCalls::default() }
    }

    /// Looks at an event of the unit of that number, in which `renamed` gives the names that processes have in the output.
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

    /// Takes over what others have seen.
    pub(super) fn append(&mut self, other: ThreadCalls) {
        for (ids, drawn) in other.drawn {
            let own = self.drawn.entry(ids).or_default();
            own.entries += drawn.entries;
            own.halves += drawn.halves;
        }
        self.heads.extend(other.heads);
        for (key, stream) in other.streams {
            let known = self.streams.entry(key).or_default();
            known.samples += stream.samples;
            known.nodes.extend(stream.nodes);
        }
    }

    /// The profiles of a thread, if it has any; all was seen.
    fn profiles_of(&self, ids: ThreadIds) -> Option<&ThreadProfiles> {
        let all = self.profiles.get_or_init(|| {
            let mut all: HashMap<ThreadIds, ThreadProfiles> = HashMap::default();
            for (key, &ids) in &self.heads {
                let Some(stream) = self.streams.get(key) else { continue };
                let own = all.entry(ids).or_insert_with(|| ThreadProfiles {
                    sizes: Vec::new(),
                    samples: u64::MAX,
                    nodes: stream.nodes.clone(),
                });
                own.sizes.push((stream.samples, stream.nodes.len()));
                own.samples = own.samples.min(stream.samples);
                own.nodes.retain(|node| stream.nodes.contains(node));
            }
            #[expect(clippy::iter_over_hash_type, reason = "each is sorted by itself")]
            for own in all.values_mut() {
                own.sizes.sort_unstable();
            }
            all
        });
        all.get(&ids)
    }

    /// Whether a thread has the sample and the node of a call, in whichever of its profiles DevTools shows.
    pub(super) fn have(&self, call: CallKey) -> bool {
        let profiles = self.profiles_of((call.pid, call.tid));
        profiles.is_some_and(|profile| {
            call.sample < profile.samples && profile.nodes.contains(&call.node)
        })
    }

    /// Whether nothing that DevTools makes calls of is different between a thread here and one there.
    pub(super) fn is_same(&self, ids: ThreadIds, there: &ThreadCalls, other: ThreadIds) -> bool {
        let drawn = self.drawn.get(&ids).copied().unwrap_or_default();
        drawn.halves == 0
            && drawn == there.drawn.get(&other).copied().unwrap_or_default()
            && self.profiles_of(ids).map(|ids| &ids.sizes)
                == there.profiles_of(other).map(|other| &other.sizes)
    }
}
