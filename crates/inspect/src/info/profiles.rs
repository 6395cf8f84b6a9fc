//! Counts the chunks and bytes of CPU profiles, without reading samples.

use super::report::ProfileCount;
use super::threads::as_written;
use tracemill_cpuprofile::{Role, StreamKey, StreamNumbers, stream_key};
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};

/// CPU profiles in order of their first events.
#[derive(Default)]
pub(super) struct ProfileCounts {
    counts: Vec<(StreamKey, ProfileCount)>,
    numbers: StreamNumbers,
}

impl ProfileCount {
    fn of(event: &Event<'_>) -> Self {
        let field = |field| event.field(field).map(as_written);
        let id = field(Field::Id).or_else(|| field(Field::Id2));
        ProfileCount {
            pid: field(Field::Pid).unwrap_or_default(),
            id: id.unwrap_or_default(),
            ..ProfileCount::default()
        }
    }
}

impl ProfileCounts {
    #[cold]
    pub(super) fn note(&mut self, event: &Event<'_>, role: Role) {
        let tid = event.field(Field::Tid).unwrap_or_default();
        let ProfileCounts { counts, numbers } = self;
        let new = |key| counts.push((key, ProfileCount::of(event)));
        let number = if role == Role::Whole {
            // each `CpuProfile` event is a separate profile, distinguished only by its thread
            let mut key = stream_key(event);
            key.extend_from_slice(tid);
            numbers.of_key(key, new)
        } else {
            numbers.of_event(event, new)
        };
        let count = &mut self.counts[number].1;
        count.chunks += u64::from(role != Role::Head);
        count.bytes += event.bytes.len() as u64;
        // a missing tid never replaces a known tid, so chunk boundaries do not matter
        if role != Role::Chunk && !tid.is_empty() {
            count.tid = as_written(tid);
        }
    }

    pub(super) fn placed(self, place: &InputPlace) -> Self {
        if place.is_as_written() {
            return self;
        }
        let counts = self.counts.into_iter().map(|(key, count)| {
            let pid = as_written(place.pid(count.pid.as_bytes()));
            (place.stream_key(key), ProfileCount { pid, ..count })
        });
        ProfileCounts { counts: counts.collect(), numbers: StreamNumbers::default() }
    }

    pub(super) fn append(&mut self, later: ProfileCounts) {
        for (key, count) in later.counts {
            let ProfileCount { pid, tid, id, chunks, bytes } = count;
            let ProfileCounts { counts, numbers } = &mut *self;
            let new = |key| counts.push((key, ProfileCount { pid, id, ..Default::default() }));
            let number = numbers.of_key(key, new);
            let profile = &mut self.counts[number].1;
            profile.chunks += chunks;
            profile.bytes += bytes;
            if !tid.is_empty() {
                profile.tid = tid;
            }
        }
    }

    pub(super) fn heap(&self) -> u64 {
        // short ids, each stored twice, and allocator overhead
        self.counts.len() as u64 * 300
    }

    pub(super) fn finish(self) -> Vec<ProfileCount> {
        self.counts.into_iter().map(|(_, count)| count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    /// Regression test, found by the soak test.
    #[test]
    fn last_tid_does_not_depend_on_chunk_boundaries() {
        let events: Vec<String> = [",\"tid\":2", ",\"tid\":3", "", ",\"tid\":null", ""]
            .map(|tid| format!(r#"{{"name":"Profile","ph":"P","pid":1{tid}}}"#))
            .to_vec();
        for cut in 0..=events.len() {
            let (first, second) = events.split_at(cut);
            let mut all = ProfileCounts::default();
            for part in [first, second] {
                let mut profiles = ProfileCounts::default();
                for event in part {
                    let spans = fields_of(event.as_bytes());
                    profiles.note(&spans.of(event.as_bytes()), Role::Head);
                }
                all.append(profiles);
            }
            assert_eq!(all.finish()[0].tid, "null", "{cut}");
        }
    }
}
