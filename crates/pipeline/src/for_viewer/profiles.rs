//! Collects threads and times of CPU profiles while scanning for a viewer.

use memchr::memmem;
use std::collections::BTreeMap;
use tracemill_cpuprofile::{Role, StreamKey, stream_key};
use tracemill_tokenizer::{Event, Field, Nanos, nanos, number_text};
use tracemill_trace::json::member;
use tracemill_viewers::required_args::page_data;

/// The time range of a profile, in nanoseconds.
#[derive(Clone, Debug, Default)]
struct ProfileTimes {
    /// The pid, tid and start of its `Profile` event.
    head: Option<(Vec<u8>, Vec<u8>, i64)>,
    /// Start and end by the clock of the profile data.
    bounds: [Option<i64>; 2],
    /// The latest time of a chunk.
    last: Option<i64>,
}

#[derive(Debug, Default)]
pub(super) struct InputProfiles(BTreeMap<StreamKey, ProfileTimes>);

impl InputProfiles {
    /// Records an event, if it belongs to a profile.
    pub(super) fn note(&mut self, event: &Event<'_>, ts: Nanos) {
        let Some(role) = Role::of(event) else { return };
        let number = |name: &[u8]| {
            let mut scratch = Vec::new();
            let value = member(page_data(event)?, name)?;
            Some(nanos(number_text(value, &mut scratch)?)?.floor)
        };
        match role {
            Role::Head => {
                let [pid, tid] =
                    [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default().to_vec());
                let times = self.0.entry(stream_key(event)).or_default();
                times.head = Some((pid, tid, ts.floor));
                times.bounds[0] = number(b"startTime").or(times.bounds[0]);
            }
            Role::Chunk => {
                let times = self.0.entry(stream_key(event)).or_default();
                times.last = times.last.max(Some(ts.floor));
                // chunks are long, and only one of a stream has the end
                if memmem::find(event.bytes, b"\"endTime\"").is_some() {
                    times.bounds[1] = number(b"endTime").or(times.bounds[1]);
                }
            }
            Role::Whole => {}
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn append(&mut self, later: InputProfiles) {
        for (key, span) in later.0 {
            let times = self.0.entry(key).or_default();
            times.head = span.head.or(times.head.take());
            times.last = times.last.max(span.last);
            for (bound, later) in times.bounds.iter_mut().zip(span.bounds) {
                *bound = later.or(*bound);
            }
        }
    }

    pub(super) fn shift(&mut self, moved: impl Fn(i64) -> i64) {
        for span in self.0.values_mut() {
            span.last = span.last.map(&moved);
            if let Some((_, _, start)) = &mut span.head {
                *start = moved(*start);
            }
        }
    }

    /// Returns the threads with start and end of their profiles.
    pub(super) fn threads(&self) -> impl Iterator<Item = (&Vec<u8>, &Vec<u8>, (i64, i64))> {
        self.0.values().filter_map(|span| {
            let (pid, tid, start) = span.head.as_ref()?;
            let lasts =
                span.bounds[1].zip(span.bounds[0]).map_or(0, |(to, from)| to.saturating_sub(from));
            let end = start.saturating_add(lasts.max(0)).max(span.last.unwrap_or(*start));
            Some((pid, tid, (*start, end)))
        })
    }
}
