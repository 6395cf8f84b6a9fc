//! Finds the reason of each idle time of a stream, between the end of a kernel and the start of the
//! next.

use super::launched::{OnDevice, millis};
use crate::found::StreamIdle;
use std::collections::BTreeMap;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;

/// State of a stream during the walk, in nanoseconds.
#[derive(Default)]
struct Stream {
    thread: usize,
    kernels: u64,
    launched: u64,
    /// End of the latest event so far.
    end: i64,
    host_wait: i128,
    kernel_wait: i128,
    other: i128,
    overlong: i128,
}

pub(super) struct Streams {
    device: usize,
    all: BTreeMap<u32, Stream>,
}

impl Streams {
    pub(super) fn of(device: usize) -> Self {
        Streams { device, all: BTreeMap::new() }
    }

    /// Adds the next event of the device, and assigns the gap before it to a reason. If the launch
    /// came after the end of the previous event, the host caused the gap. Otherwise, a gap below
    /// `gap` nanoseconds is launch overhead.
    pub(super) fn add(&mut self, device: &OnDevice, gap: i64, room: &Quota) -> Result<(), Error> {
        if !self.all.contains_key(&device.stream) {
            room.take(2 * size_of::<Stream>() as u64, "streams of devices")?;
        }
        let stream = self.all.entry(device.stream).or_default();
        if stream.kernels == 0 {
            (stream.thread, stream.end) = (device.thread as usize, device.ts);
        }
        let idle = device.ts - stream.end;
        let is_first = stream.kernels == 0;
        match idle {
            _ if is_first => {}
            ..0 => stream.overlong += i128::from(device.dur.min(-idle)),
            _ if device.launch.is_some_and(|launch| launch.ts > stream.end) => {
                stream.host_wait += i128::from(idle);
            }
            _ if idle < gap => stream.kernel_wait += i128::from(idle),
            _ => stream.other += i128::from(idle),
        }
        stream.kernels += 1;
        stream.launched += u64::from(device.launch.is_some());
        stream.end = stream.end.max(device.ts.saturating_add(device.dur));
        Ok(())
    }

    /// Returns the total time by which events overlap the previous event of their stream.
    pub(super) fn overlong(&self) -> i128 {
        self.all.values().map(|stream| stream.overlong).sum()
    }

    pub(super) fn finish(self) -> impl Iterator<Item = StreamIdle> {
        let device = self.device;
        self.all.into_iter().map(move |(number, stream)| StreamIdle {
            device,
            thread: stream.thread,
            stream: number,
            kernels: stream.kernels,
            launched: stream.launched,
            idle: millis(stream.host_wait + stream.kernel_wait + stream.other),
            host_wait: millis(stream.host_wait),
            kernel_wait: millis(stream.kernel_wait),
            other: millis(stream.other),
        })
    }
}
