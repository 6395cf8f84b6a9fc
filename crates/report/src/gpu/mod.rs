//! Reports GPU activity from PyTorch's profiler in the four tables of HTA (HolisticTraceAnalysis), and
//! compares the ranks of a job.

pub(crate) mod causes;
mod class;
mod kernels;
mod launched;
mod ranks;
mod running;
mod streams;

use crate::found::ranks::Ranks;
use crate::found::{Device, DeviceRules, Devices, KindTime, ReportRules};
use class::{Class, Classes, Mask};
use kernels::Kernels;
use launched::{OnDevice, launched, millis};
use ranks::Comparing;
use running::Running;
use streams::Streams;
use tracemill_analysis::Trace;
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;

/// State of a device during a walk over the events.
struct Walked {
    thread: usize,
    kernels: u64,
    launched: u64,
    running: Running,
    streams: Streams,
}

/// Reports on the devices used by the threads with the given numbers, from events that begin within
/// the window, and on the ranks. Returns `None` if there are no devices, or if there is one rank.
///
/// Cost: sorts the GPU events (80 bytes each), their launches (60 bytes) and, of several ranks, the
/// collectives (36 bytes). Heap: about 200 bytes per stream and kernel name, 64 bytes per step, and
/// 96 bytes per pair of ranks that wait for each other.
pub(crate) fn on_devices(
    trace: &Trace,
    threads: &[usize],
    rules: &ReportRules,
    room: &Quota,
) -> Result<(Option<Devices>, Option<Ranks>), Error> {
    let mut ranks = Comparing::of(trace, rules, room)?;
    let compared =
        |ranks: Option<Comparing<'_>>| ranks.map(|ranks| ranks.finish(trace)).transpose();
    if !trace.device_events().any(|event| event.role.is_of_device()) {
        return Ok((None, compared(ranks)?));
    }
    let ReportRules { rows, window, devices: rules, .. } = *rules;
    let (events, incomplete) = launched(trace, threads, rules, window)?;
    let mut classes = Classes::default();
    let mut kernels = Kernels::default();
    let mut all: Vec<Walked> = Vec::new();
    let mut device = None;
    for event in events.iter() {
        if device.replace(event.device) != Some(event.device) {
            room.take(2 * size_of::<Walked>() as u64, "devices")?;
            all.push(Walked::new(event.thread as usize, event.ts));
        }
        let class = classes.of(event.role, event.name, trace.names());
        kernels.add(&event, class, room)?;
        if let Some(ranks) = ranks.as_mut().filter(|_| class == Class::Communication) {
            ranks.add(&event, trace)?;
        }
        if let Some(walked) = all.last_mut() {
            walked.add(&event, class.mask(), rules, room)?;
        }
    }
    let ranks = compared(ranks)?;
    if all.is_empty() && incomplete == 0 {
        return Ok((None, ranks));
    }
    let mut devices = Devices { incomplete, ..Devices::default() };
    let mut by_mask = [0; Mask::COUNT];
    for walked in all {
        let Walked { thread, kernels, launched, running, streams } = walked;
        let time = running.finish();
        (0..Mask::COUNT).for_each(|at| by_mask[at] += i128::from(time.by_mask[at]));
        devices.all.push(Device::of(thread, kernels, launched, &time));
        devices.overlong += millis(streams.overlong());
        devices.idle.extend(streams.finish());
    }
    let time_of = |entry: &Device| entry.time;
    devices.kernel_time = devices.all.iter().map(time_of).sum();
    devices.durations = millis(kernels.durations());
    devices.all_kernels = kernels.len();
    devices.kernels = kernels.best(rows, trace.names());
    devices.kinds = kinds(&by_mask);
    devices.idle.sort_by(|a, b| b.idle.total_cmp(&a.idle));
    Ok((Some(devices), ranks))
}

impl Walked {
    fn new(thread: usize, ts: i64) -> Self {
        let (running, streams) = (Running::from(ts), Streams::of(thread));
        Walked { thread, kernels: 0, launched: 0, running, streams }
    }

    fn add(
        &mut self,
        device: &OnDevice,
        mask: Mask,
        rules: DeviceRules,
        room: &Quota,
    ) -> Result<(), Error> {
        self.kernels += 1;
        self.launched += u64::from(device.launch.is_some());
        self.running.add(device.ts, device.ts.saturating_add(device.dur), mask);
        self.streams.add(device, rules.kernel_gap, room)
    }
}

impl Device {
    fn of(thread: usize, kernels: u64, launched: u64, time: &running::Times) -> Self {
        let sum = |has: &dyn Fn(usize) -> bool| {
            let masks = (0..Mask::COUNT).filter(|&mask| has(mask));
            millis(masks.map(|mask| i128::from(time.by_mask[mask])).sum())
        };
        let [compute, communication, memory] =
            [Mask::COMPUTE, Mask::COMMUNICATION, Mask::MEMORY].map(|mask| mask.bits());
        Device {
            thread,
            kernels,
            launched,
            time: sum(&|_| true),
            idle: sum(&|mask| mask == 0),
            compute: sum(&|mask| mask & compute != 0),
            communication: sum(&|mask| mask & communication != 0),
            memory: sum(&|mask| mask & memory != 0),
            overlap: sum(&|mask| mask & compute != 0 && mask & communication != 0),
            exposed_communication: sum(&|mask| mask & compute == 0 && mask & communication != 0),
            exposed_memory: sum(&|mask| {
                mask & (compute | communication) == 0 && mask & memory != 0
            }),
        }
    }
}

/// Sums the times of all devices by set of classes. Sets without a name are left out, as in HTA.
fn kinds(by_mask: &[i128; Mask::COUNT]) -> Vec<KindTime> {
    let named = Mask::NAMED.iter().fold(0, |all, (mask, _)| all | mask.bits());
    let mut time = [0; Mask::COUNT];
    for (mask, nanos) in by_mask.iter().enumerate() {
        time[mask & named] += nanos;
    }
    let name = |bits: usize| {
        let names = Mask::NAMED.iter().filter(|(mask, _)| bits & mask.bits() != 0);
        names.map(|(_, name)| *name).collect::<Vec<_>>().join(" overlapping ")
    };
    let all = (1..Mask::COUNT).filter(|&bits| time[bits] > 0);
    let mut all: Vec<KindTime> =
        all.map(|bits| KindTime { name: name(bits), time: millis(time[bits]) }).collect();
    all.sort_by(|a, b| b.time.total_cmp(&a.time));
    all
}
