//! GPU events of PyTorch's profiler (Kineto): kernels and memory copies on streams, their launches,
//! and steps. Times are nanoseconds, because microseconds since 1970 exceed the precision of a
//! double.

use crate::value::named;
use crate::value::record::ChunkPosition;
use std::collections::BTreeMap;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field, nanos, number_text, parse};
use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::hash_of;
use tracemill_trace::spill::{SpillVec, SpilledVec};

/// The role of an event for GPUs. Launches sort before launched events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A step of a training loop, on the host or on a device.
    Step,
    /// A host call that launches a GPU event. The call and the event have the same correlation id.
    Launch,
    /// A kernel runs.
    Kernel,
    /// Memory is copied or set.
    Memory,
}

record! { enum Role { Step, Launch, Kernel, Memory } }

impl Role {
    pub(crate) fn of(cat: &[u8], name: &[u8]) -> Option<Self> {
        Some(match cat {
            b"kernel" | b"Kernel" | b"mtia_ccp_events" => Role::Kernel,
            b"gpu_memcpy" | b"gpu_memset" | b"Memcpy" | b"Memset" => Role::Memory,
            b"Runtime" => Role::Launch,
            _ if cat.ends_with(b"_runtime") || cat.ends_with(b"_driver") => Role::Launch,
            _ if name.starts_with(b"ProfilerStep#") => Role::Step,
            _ => return None,
        })
    }

    /// Returns whether the event ran on the device.
    pub fn is_of_device(self) -> bool {
        matches!(self, Role::Kernel | Role::Memory)
    }
}

/// Correlation id of an event that has none.
pub const NO_CORRELATION: u64 = u64::MAX;

record! {
    /// A GPU event, or a step or launch on the host.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DeviceEvent {
        /// Role of the event.
        pub role: Role,
        /// Index of the track of the event's thread.
        pub lane: u32,
        /// Index of the event's kind.
        pub kind: u32,
        /// Stream of the device; 0 for events of the host.
        pub stream: u32,
        /// Index of the input, within which correlation ids are valid.
        pub input: u32,
        /// Number of the recording, which may consist of several inputs.
        pub recording: u32,
        /// Start in nanoseconds.
        pub ts: i64,
        /// Duration in nanoseconds.
        pub dur: i64,
        /// Id that a launch shares with its kernel; [`NO_CORRELATION`] if the event has no such id.
        pub correlation: u64,
        /// Hash of the name of the process group; 0 for events without a group.
        pub group: u64,
        /// Number of the event among all events of the trace.
        pub number: u64,
    }
}

impl DeviceEvent {
    /// Reads a complete event of a role. Returns `None` if the event lacks the stream or
    /// correlation id that its role needs.
    pub(crate) fn of(
        event: &Event<'_>,
        role: Role,
        lane: u32,
        kind: u32,
        number_in: u64,
    ) -> Option<Self> {
        let time = |field| {
            let mut scratch = Vec::new();
            Some(nanos(number_text(event.field(field)?, &mut scratch)?)?.floor)
        };
        let args = event.field(Field::Args).unwrap_or_default();
        let [stream, correlation, group] = match role {
            Role::Step => [None; 3],
            _ => named(args, [b"stream", b"correlation", b"Process Group Name"]),
        };
        let stream = stream.and_then(integer).and_then(|number| u32::try_from(number).ok());
        if role.is_of_device() && stream.is_none() {
            return None;
        }
        let correlation = correlation.and_then(integer).map_or(NO_CORRELATION, |id| id as u64);
        if role == Role::Launch && correlation == NO_CORRELATION {
            return None;
        }
        Some(DeviceEvent {
            role,
            lane,
            kind,
            stream: stream.unwrap_or(0),
            input: 0,
            recording: 0,
            ts: time(Field::Ts)?,
            dur: time(Field::Dur).unwrap_or(0).max(0),
            correlation,
            group: group.map_or(0, hash_of),
            number: number_in,
        })
    }

    /// Converts the numbers of a chunk's event (event, track and kind) to numbers of the trace.
    pub(crate) fn behind(self, chunk: ChunkPosition, lanes: &[u32], kinds: &[u32]) -> Self {
        DeviceEvent {
            lane: lanes[self.lane as usize],
            kind: kinds[self.kind as usize],
            input: chunk.input as u32,
            number: self.number + chunk.first,
            ..self
        }
    }
}

/// A GPU event or launch that sorts by correlation id. Launches come before launched events.
#[derive(Clone, Copy, Debug)]
pub struct Correlated(pub DeviceEvent);

record! { impl Correlated { 0: DeviceEvent } }

impl Keyed for Correlated {
    type Key = (u32, u64, Role, u64);

    fn key(&self) -> Self::Key {
        let DeviceEvent { recording, correlation, role, number, .. } = self.0;
        (recording, correlation, role, number)
    }
}

/// The launches of one correlation id in one input.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// The launch that starts first.
    pub first: DeviceEvent,
    /// Number of launches.
    pub count: u64,
}

/// The launches of one correlation id.
#[derive(Debug, Default)]
pub struct Launches {
    /// Recording and correlation id.
    id: Option<(u32, u64)>,
    by_input: Vec<Launch>,
}

impl Launches {
    /// Takes the next event in the order of [`Correlated`]. Returns whether the event is a launch.
    pub fn take(&mut self, event: &DeviceEvent) -> bool {
        let id = (event.recording, event.correlation);
        if self.id.replace(id) != Some(id) {
            self.by_input.clear();
        }
        if event.role != Role::Launch {
            return false;
        }
        match self.by_input.iter_mut().find(|launch| launch.first.input == event.input) {
            Some(Launch { first, count }) => {
                *count += 1;
                if event.ts < first.ts {
                    *first = *event;
                }
            }
            None => self.by_input.push(Launch { first: *event, count: 1 }),
        }
        true
    }

    /// Returns the launches of the kernel or memory copy that was just taken.
    ///
    /// Launches in the kernel's input count first. Without one, launches in another input count,
    /// if no other input has launches.
    pub fn of(&self, kernel: &DeviceEvent) -> Option<Launch> {
        if kernel.correlation == NO_CORRELATION {
            return None;
        }
        let launch = self.by_input.iter().find(|launch| launch.first.input == kernel.input);
        launch.copied().or(match self.by_input[..] {
            [launch] => Some(launch),
            _ => None,
        })
    }
}

/// Parses an integer, or a string that contains one.
pub(crate) fn integer(value: &[u8]) -> Option<i64> {
    parse(number_text(value, &mut Vec::new())?)
}

/// Aligns the events of all inputs. `moved` holds the new track and the input of each track.
pub(crate) fn aligned<'p>(
    mut events: SpillVec<DeviceEvent>,
    moved: &[(u32, usize)],
    place: impl Fn(usize) -> &'p InputPlace,
    mut to: SpillVec<DeviceEvent>,
) -> Result<SpilledVec<DeviceEvent>, Error> {
    let mut recordings: BTreeMap<usize, u32> = BTreeMap::new();
    events.drain(|event| {
        let (lane, input) = moved[event.lane as usize];
        let place = place(input);
        let next = recordings.len() as u32;
        let recording = *recordings.entry(place.recording()).or_insert(next);
        let ts = event.ts.saturating_add(place.offset());
        to.push(DeviceEvent { lane, recording, ts, ..event })
    })?;
    to.finish()
}
