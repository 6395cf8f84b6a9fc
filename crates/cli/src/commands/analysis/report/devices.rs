//! Sections about PyTorch devices.

use super::super::data::percent_of;
use super::super::unit::time_text;
use super::ranks::RANKS;
use super::section::{Cell, Columns, Section};
use super::sections::{ReportInputs, escaped};
use tracemill_report::Device;
use tracemill_report::Devices;
use tracemill_report::Kernel;
use tracemill_report::KindTime;
use tracemill_report::StreamIdle;
use tracemill_trace::run::words::{grouped, plural};

impl ReportInputs<'_> {
    /// Returns the sections: device usage, kinds of kernels, reasons of idle time, and kernels.
    pub(super) fn devices(&self) -> Vec<Section> {
        let Some(devices) = &self.report.devices else { return Vec::new() };
        let all = [
            self.each_device(devices),
            self.kinds(devices),
            self.idle(devices),
            self.kernels(devices),
        ];
        all.into_iter().filter(|section| section.id == "gpu" || !section.rows.is_empty()).collect()
    }

    fn each_device(&self, devices: &Devices) -> Section {
        let share =
            |ms: fn(&Device) -> f64| move |devices: &&Device| percent_of(ms(devices), devices.time);
        let thread = |devices: &&Device| &self.trace.threads[devices.thread];
        let columns = Columns::<&Device>::new()
            .ms("kernel_ms", "kernel ms", |devices| devices.time)
            .percent("compute_pct", "compute %", share(|devices| devices.compute))
            .percent(
                "exposed_communication_pct",
                "comm %",
                share(|devices| devices.exposed_communication),
            )
            .percent("exposed_memory_pct", "memory %", share(|devices| devices.exposed_memory))
            .percent("idle_pct", "idle %", share(|devices| devices.idle))
            .figure("overlap_pct", "overlap %", |devices| match devices.communication {
                0.0 => Cell::None,
                all => Cell::Percent(percent_of(devices.overlap, all)),
            })
            .count("kernels", "kernels", |devices| devices.kernels)
            .spare()
            .words("device", "device", |devices| Cell::text(self.device(devices.thread)))
            .ms("compute_ms", "", |devices| devices.compute)
            .ms("communication_ms", "", |devices| devices.communication)
            .ms("memory_ms", "", |devices| devices.memory)
            .ms("overlap_ms", "", |devices| devices.overlap)
            .ms("exposed_communication_ms", "", |devices| devices.exposed_communication)
            .ms("exposed_memory_ms", "", |devices| devices.exposed_memory)
            .ms("idle_ms", "", |devices| devices.idle)
            .count("launched", "", |devices| devices.launched)
            .words("pid", "", |devices| Cell::id(&thread(devices).pid))
            .words("input", "", |word| self.input(word.thread));
        // devices keep the order of the trace, so that ranks can be compared
        let rows = devices.all.iter().take(self.rows.max(RANKS));
        let next = |device: &&Device| self.next.of_process(&["top"], thread(device));
        let mut section = Section::new("gpu", columns, rows, next).of(devices.all.len() as u64);
        let kernels: u64 = devices.all.iter().map(|devices| devices.kernels).sum();
        let left_out = (devices.incomplete > 0)
            .then(|| format!("; {} left out with the last step", grouped(devices.incomplete)));
        let overlong = percent_of(devices.overlong, devices.durations);
        section.why = (overlong > 1.0).then(|| format!(
            "{overlong:.1} % of the durations of kernels overlap the one before on their stream, where one runs at a time: \
             they are longer than the kernels ran"
        ));
        let sum = |of: fn(&Device) -> f64| Cell::Ms(devices.all.iter().map(of).sum());
        let head = format!(
            "{} on {}; comm: while nothing computes, memory: while neither, overlap: of communication while something computes{}",
            plural(kernels, "kernel"),
            plural(devices.all.len() as u64, "device"),
            left_out.unwrap_or_default(),
        );
        let figures = vec![
            ("devices", Cell::Count(devices.all.len() as u64)),
            ("kernels", Cell::Count(kernels)),
            ("kernel_ms", Cell::Ms(devices.kernel_time)),
            ("idle_ms", sum(|devices| devices.idle)),
            ("communication_ms", sum(|devices| devices.communication)),
            ("overlap_ms", sum(|devices| devices.overlap)),
            ("overlong_ms", Cell::Ms(devices.overlong)),
            ("incomplete", Cell::Count(devices.incomplete)),
        ];
        section.with(head, figures)
    }

    fn kinds(&self, devices: &Devices) -> Section {
        let all: f64 = devices.kinds.iter().map(|devices| devices.time).sum();
        let columns = Columns::<&KindTime>::new()
            .ms("total_ms", "ms", |devices| devices.time)
            .percent("total_pct", "%", |devices| percent_of(devices.time, all))
            .words("name", "what runs", |devices| Cell::text(&devices.name));
        let next = |kind: &&KindTime| {
            let names = match kind.name.rsplit(' ').next() {
                Some("communication") => "^(nccl.*Kernel|gloo:)",
                Some("memory") => "^(Mem(cpy|set)|dma)",
                _ => ".",
            };
            self.next.of_all(&["top", "--per", "all", "--focus", names])
        };
        let kinds = devices.kinds.len() as u64;
        Section::new("gpu-types", columns, devices.kinds.iter().take(self.rows), next)
            .of(kinds)
            .with(
                "what kernels do, all devices together; each moment counts once",
                vec![("total_ms", Cell::Ms(all))],
            )
    }

    fn idle(&self, devices: &Devices) -> Section {
        let share = |ms: fn(&StreamIdle) -> f64| {
            move |devices: &&StreamIdle| percent_of(ms(devices), devices.idle)
        };
        let thread = |devices: &&StreamIdle| &self.trace.threads[devices.thread];
        let launched =
            |stream: &&StreamIdle| percent_of(stream.launched as f64, stream.kernels as f64);
        let columns = Columns::<&StreamIdle>::new()
            .ms("idle_ms", "idle ms", |devices| devices.idle)
            .percent("host_wait_pct", "host wait %", share(|devices| devices.host_wait))
            .percent("kernel_wait_pct", "kernel wait %", share(|devices| devices.kernel_wait))
            .percent("other_pct", "other %", share(|devices| devices.other))
            .count("kernels", "kernels", |devices| devices.kernels)
            .spare()
            .percent("launched_pct", "launch known %", launched)
            .spare()
            .count("stream", "stream", |devices| u64::from(devices.stream))
            .words("device", "device", |devices| Cell::text(self.device(devices.device)))
            .ms("host_wait_ms", "", |devices| devices.host_wait)
            .ms("kernel_wait_ms", "", |devices| devices.kernel_wait)
            .ms("other_ms", "", |devices| devices.other)
            .words("pid", "", |devices| Cell::id(&thread(devices).pid))
            .words("tid", "", |devices| Cell::id(&thread(devices).tid))
            .words("input", "", |word| self.input(word.thread));
        let rows = devices.idle.iter().take(self.rows);
        let next = |stream_idle: &&StreamIdle| {
            self.next.of_thread(&["tree", "--log"], thread(stream_idle))
        };
        let (all, streams) = (
            devices.idle.iter().map(|devices| devices.idle).sum::<f64>(),
            devices.idle.len() as u64,
        );
        Section::new("gpu-idle", columns, rows, next).of(streams).with(
            format!(
                "{} between kernels of {}: the host launched late, kernels followed soon, or neither",
                time_text(all),
                plural(streams, "stream")
            ),
            vec![("streams", Cell::Count(streams)), ("idle_ms", Cell::Ms(all))],
        )
    }

    fn kernels(&self, devices: &Devices) -> Section {
        let columns = Columns::<&Kernel>::new()
            .ms("total_ms", "ms", |devices| devices.total)
            .percent("total_pct", "%", |kernel| percent_of(kernel.total, devices.kernel_time))
            .count("count", "count", |devices| devices.count)
            .ms("avg_ms", "avg ms", |devices| devices.mean)
            .ms("std_ms", "std ms", |devices| devices.deviation)
            .spare()
            .ms("max_ms", "max ms", |devices| devices.most)
            .words("type", "type", |devices| Cell::text(devices.class))
            .words("name", "kernel", |devices| Cell::text(&devices.name))
            .cause("launched_by", "launched by", |kernel| kernel.launched_by.as_ref())
            .ms("min_ms", "", |word| word.least);
        let next = |devices: &&Kernel| {
            let whole = format!("^{}$", escaped(&devices.name));
            self.next.of_all(&["tree", "--log", "--per", "all", "--focus", &whole, "-n", "20"])
        };
        Section::new("kernels", columns, &devices.kernels, next).of(devices.all_kernels).with(
            format!(
                "{}, {} together; percent of the time from the first kernel of each device to its last",
                plural(devices.all_kernels, "name"),
                time_text(devices.durations)
            ),
            vec![("count", Cell::Count(devices.all_kernels)), ("total_ms", Cell::Ms(devices.durations))],
        )
    }

    /// Returns the name of a thread's device: its pid. If there are several inputs, the name also
    /// has the input.
    fn device(&self, thread: usize) -> String {
        let thread = &self.trace.threads[thread];
        match &self.trace.inputs[..] {
            [_] => thread.pid_text(),
            all => format!("{} of {}", thread.pid_text(), all[thread.input_number].name),
        }
    }

    fn input(&self, thread: usize) -> Cell {
        Cell::text(&*self.trace.inputs[self.trace.threads[thread].input_number].name)
    }
}
