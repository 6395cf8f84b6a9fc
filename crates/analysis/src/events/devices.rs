//! What PyTorch's profiler (Kineto) tells of devices: kernels and copies of memory on streams, the calls that launched these, and steps.
//! Times are whole nanoseconds: microseconds since 1970 are more than a double holds to the nanosecond.

use crate::value::named;
use crate::value::record::ChunkPosition;
use std::collections::BTreeMap;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field, nanos, number_text, parse};
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{SpillVec, SpilledVec};

/// What an event is to a device. What launches something sorts before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A step of a training loop, as its host or, later, a device sees it.
    Step,
    /// A call of the host that launches what has its correlation.
    Launch,
    /// A kernel runs.
    Kernel,
    /// Memory is copied or set.
    Memory,
}

record! { enum Role { Step, Launch, Kernel, Memory } }

impl Role {
    /// Of an event of this category and name.
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

    /// Whether it takes time of a device.
    pub fn is_of_device(self) -> bool {
        matches!(self, Role::Kernel | Role::Memory)
    }
}

/// No event has this correlation: it launches nothing, or is not launched.
pub const NO_CORRELATION: u64 = u64::MAX;

record! {
    /// An event of a device, or one that matters to it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DeviceEvent {
        /// What it is to a device.
        pub role: Role,
        /// The number of its thread.
        pub lane: u32,
        /// The text of its name.
        pub name: u32,
        /// Of the device; 0 for events of the host.
        pub stream: u32,
        /// That it stands in: correlations are those of one.
        pub input: u32,
        /// Of the input; parts of one recording may stand in several.
        pub recording: u32,
        /// Nanoseconds.
        pub ts: i64,
        /// Nanoseconds.
        pub dur: i64,
        /// What a launch and the kernel that it launches share; [`NO_CORRELATION`] for none.
        pub correlation: u64,
        /// Among all events.
        pub number: u64,
    }
}

impl DeviceEvent {
    /// Of a complete event of this role, if it says what it is of.
    pub(crate) fn of(
        event: &Event<'_>,
        role: Role,
        lane: u32,
        name: u32,
        number_in: u64,
    ) -> Option<Self> {
        let time = |field| {
            let mut scratch = Vec::new();
            Some(nanos(number_text(event.field(field)?, &mut scratch)?)?.floor)
        };
        let args = event.field(Field::Args).unwrap_or_default();
        let [stream, correlation] = match role {
            Role::Step => [None; 2],
            _ => named(args, [b"stream", b"correlation"]),
        };
        let stream = stream.and_then(integer).and_then(|own| u32::try_from(own).ok());
        if role.is_of_device() && stream.is_none() {
            return None;
        }
        let correlation = correlation.and_then(integer).map_or(NO_CORRELATION, |own| own as u64);
        if role == Role::Launch && correlation == NO_CORRELATION {
            return None;
        }
        Some(DeviceEvent {
            role,
            lane,
            name,
            stream: stream.unwrap_or(0),
            input: 0,
            recording: 0,
            ts: time(Field::Ts)?,
            dur: time(Field::Dur).unwrap_or(0).max(0),
            correlation,
            number: number_in,
        })
    }

    /// Renumbers an event of a chunk: its event, its lane and its name.
    pub(crate) fn behind(self, chunk: ChunkPosition, lanes: &[u32], texts: &[u32]) -> Self {
        DeviceEvent {
            lane: lanes[self.lane as usize],
            name: texts[self.name as usize],
            input: chunk.input as u32,
            number: self.number + chunk.first,
            ..self
        }
    }
}

/// A whole number, or a string that holds one.
fn integer(value: &[u8]) -> Option<i64> {
    parse(number_text(value, &mut Vec::new())?)
}

/// All of them where the inputs stand beside each other. `moved` has of each lane the one that it became, and its input.
pub(crate) fn aligned<'p>(
    mut events: SpillVec<DeviceEvent>,
    moved: &[(u32, usize)],
    place: impl Fn(usize) -> &'p InputPlace,
    mut to: SpillVec<DeviceEvent>,
) -> Result<SpilledVec<DeviceEvent>, Error> {
    let mut recordings: BTreeMap<usize, u32> = BTreeMap::new();
    events.drain(|own| {
        let (lane, input) = moved[own.lane as usize];
        let place = place(input);
        let next = recordings.len() as u32;
        let recording = *recordings.entry(place.recording()).or_insert(next);
        let ts = own.ts.saturating_add(place.offset());
        to.push(DeviceEvent { lane, recording, ts, ..own })
    })?;
    to.finish()
}
