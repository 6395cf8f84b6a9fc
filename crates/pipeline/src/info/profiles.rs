//! CPU profiles, as far as the envelopes of their events tell.

use super::lanes::as_written;
use super::report::ProfileCount;
use crate::profile::{Role, StreamKey, stream_key};
use std::collections::HashMap;
use tracemill_tokenizer::{Event, Field};

/// CPU profiles in order of their first events, and their numbers by key.
#[derive(Default)]
pub(super) struct Profiles {
    counts: Vec<(StreamKey, ProfileCount)>,
    numbers: HashMap<StreamKey, usize>,
}

impl Profiles {
    #[cold]
    pub(super) fn note(&mut self, event: &Event<'_>, role: Role) {
        let tid = event.field(Field::Tid).unwrap_or_default();
        let mut key = stream_key(event);
        if role == Role::Whole {
            // each is a profile of its own, as far as the thread tells
            key.extend_from_slice(tid);
        }
        let field = |field| event.field(field).map_or(String::new(), as_written);
        let own = self.profile(key, || ProfileCount {
            pid: field(Field::Pid),
            id: event
                .field(Field::Id)
                .or(event.field(Field::Id2))
                .map_or(String::new(), as_written),
            ..ProfileCount::default()
        });
        own.chunks += u64::from(role != Role::Head);
        own.bytes += event.bytes.len() as u64;
        if role != Role::Chunk {
            own.tid = as_written(tid);
        }
    }

    fn profile(&mut self, key: StreamKey, new: impl FnOnce() -> ProfileCount) -> &mut ProfileCount {
        let number = match self.numbers.get(&key) {
            Some(&number) => number,
            None => {
                self.numbers.insert(key.clone(), self.counts.len());
                self.counts.push((key, new()));
                self.counts.len() - 1
            }
        };
        &mut self.counts[number].1
    }

    /// Adds what comes later.
    pub(super) fn append(&mut self, later: Profiles) {
        for (key, count) in later.counts {
            let ProfileCount { pid, tid, id, chunks, bytes } = count;
            let own = self.profile(key, || ProfileCount { pid, id, ..ProfileCount::default() });
            own.chunks += chunks;
            own.bytes += bytes;
            if !tid.is_empty() {
                own.tid = tid;
            }
        }
    }

    pub(super) fn finish(self) -> Vec<ProfileCount> {
        self.counts.into_iter().map(|(_, count)| count).collect()
    }
}
