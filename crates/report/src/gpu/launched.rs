//! Matches GPU events with the host calls that launched them, by correlation id.

use crate::found::DeviceRules;
use tracemill_analysis::events::devices::{Correlated, DeviceEvent, Launches, Role};
use tracemill_analysis::{Trace, Window};
use tracemill_trace::order::{Keyed, SortedByKey};
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::{Error, record};

pub(super) fn millis(nanos: i128) -> f64 {
    nanos as f64 / 1e6
}

record! {
    /// The call that launched a kernel or memory copy.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Launch {
        /// Start in nanoseconds.
        pub(super) ts: i64,
        /// Number among all events.
        pub(super) number: u64,
        pub(super) kind: u32,
    }
}

record! {
    /// A kernel or memory copy on a device.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct OnDevice {
        pub(super) device: u32,
        /// Index of the event's thread.
        pub(super) thread: u32,
        pub(super) stream: u32,
        pub(super) name: u32,
        pub(super) recording: u32,
        /// Hash of the name of the process group.
        pub(super) group: u64,
        pub(super) role: Role,
        /// Start in nanoseconds.
        pub(super) ts: i64,
        pub(super) dur: i64,
        /// The call that launched the event, if known.
        pub(super) launch: Option<Launch>,
        number: u64,
    }
}

impl Keyed for OnDevice {
    type Key = (u32, i64, u64);

    fn key(&self) -> Self::Key {
        (self.device, self.ts, self.number)
    }
}

/// Returns the GPU events, sorted by device and time. Also returns the number of kernels that are
/// left out with the last step.
pub(super) fn launched(
    trace: &Trace,
    threads: &[usize],
    rules: DeviceRules,
    window: Option<Window>,
) -> Result<(SortedByKey<OnDevice>, u64), Error> {
    let events = trace.correlated(&trace.space())?;
    let steps = if rules.drop_last_step { steps(trace) } else { Steps::default() };
    let places = places_of(trace, threads);
    let mut on_devices = trace.space().sorter(2);
    let (mut incomplete, origin) = (0, i128::from(trace.clock().origin().unwrap_or(0)));
    let mut launches = Launches::default();
    for Correlated(event) in events.iter() {
        if launches.take(&event) {
            continue;
        }
        let Some(&(device, thread)) = places.get(&event.lane) else { continue };
        let starts = millis(i128::from(event.ts) - origin);
        if window.is_some_and(|range| starts < range.from || starts > range.to) {
            continue;
        }
        let launch = launches.of(&event);
        if let Some(last) = steps.last_of(&event)
            && launch.is_none_or(|launch| launch.first.ts >= last)
        {
            incomplete += 1;
            continue;
        }
        let DeviceEvent { stream, kind, role, recording, group, ts, dur, number, .. } = event;
        let name = trace.kinds()[kind as usize].name;
        let launch = launch.filter(|launch| launch.count == 1).map(|launch| {
            let DeviceEvent { ts, number, kind, .. } = launch.first;
            Launch { ts, number, kind }
        });
        on_devices.push(OnDevice {
            device,
            thread,
            stream,
            name,
            recording,
            group,
            role,
            ts,
            dur,
            launch,
            number,
        })?;
    }
    Ok((on_devices.finish()?, incomplete))
}

fn steps(trace: &Trace) -> Steps {
    let mut steps = Steps::default();
    for step in trace.device_events().filter(|device| device.role == Role::Step) {
        for id in [(step.recording, Some(step.input)), (step.recording, None)] {
            let (first, last) = steps.all.entry(id).or_insert((step.ts, step.ts));
            (*first, *last) = ((*first).min(step.ts), (*last).max(step.ts));
        }
    }
    steps
}

/// Returns the device number and thread number of each track. A device is a process.
fn places_of(trace: &Trace, threads: &[usize]) -> HashMap<u32, (u32, u32)> {
    let mut devices: HashMap<&[u8], u32> = HashMap::default();
    let mut places = HashMap::default();
    for &at in threads {
        let thread = &trace.threads[at];
        let Some(lane) = thread.lane() else { continue };
        let next = devices.len() as u32;
        let device = *devices.entry(&thread.pid).or_insert(next);
        places.insert(lane, (device, at as u32));
    }
    places
}

/// Start of the first and the last step, for each input and for each recording.
#[derive(Default)]
struct Steps {
    all: HashMap<(u32, Option<u32>), (i64, i64)>,
}

impl Steps {
    /// Returns the start of the last step in the kernel's input. If the input has no steps, uses
    /// its recording. Returns `None` if there is only one step.
    fn last_of(&self, kernel: &DeviceEvent) -> Option<i64> {
        let of = |input| self.all.get(&(kernel.recording, input));
        let (first, last) = of(Some(kernel.input)).or_else(|| of(None))?;
        (first < last).then_some(*last)
    }
}
