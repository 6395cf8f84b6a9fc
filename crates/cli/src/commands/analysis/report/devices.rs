//! The sections of devices of PyTorch.

use super::super::data::percent_of;
use super::section::{Cell, Column, Section, figure, words};
use super::sections::{ReportInputs, escaped};
use tracemill_analysis::{Device, Devices, Kernel, StreamIdle};
use tracemill_pipeline::{grouped, plural};

const DEVICES: &[Column] = &[
    figure("kernel_ms", "kernel ms"),
    figure("compute_pct", "compute %"),
    figure("exposed_communication_pct", "comm %"),
    figure("exposed_memory_pct", "memory %"),
    figure("idle_pct", "idle %"),
    figure("overlap_pct", "overlap %"),
    figure("kernels", "kernels").spare(),
    words("device", "device"),
    figure("compute_ms", ""),
    figure("communication_ms", ""),
    figure("memory_ms", ""),
    figure("overlap_ms", ""),
    figure("exposed_communication_ms", ""),
    figure("exposed_memory_ms", ""),
    figure("idle_ms", ""),
    figure("launched", ""),
    words("pid", ""),
    words("input", ""),
];

const IDLE: &[Column] = &[
    figure("idle_ms", "idle ms"),
    figure("host_wait_pct", "host wait %"),
    figure("kernel_wait_pct", "kernel wait %"),
    figure("other_pct", "other %"),
    figure("kernels", "kernels").spare(),
    figure("launched_pct", "launch known %").spare(),
    figure("stream", "stream"),
    words("device", "device"),
    figure("host_wait_ms", ""),
    figure("kernel_wait_ms", ""),
    figure("other_ms", ""),
    words("pid", ""),
    words("tid", ""),
    words("input", ""),
];

const KINDS: &[Column] =
    &[figure("total_ms", "ms"), figure("total_pct", "%"), words("name", "what runs")];

const KERNELS: &[Column] = &[
    figure("total_ms", "ms"),
    figure("total_pct", "%"),
    figure("count", "count"),
    figure("avg_ms", "avg ms"),
    figure("std_ms", "std ms").spare(),
    figure("max_ms", "max ms"),
    words("type", "type"),
    words("name", "kernel"),
    figure("min_ms", ""),
];

impl ReportInputs<'_> {
    /// What devices did, why they are idle, and what takes their time.
    pub(super) fn devices(&self) -> Vec<Section> {
        let Some(own) = &self.report.devices else { return Vec::new() };
        let all = [self.each_device(own), self.kinds(own), self.idle(own), self.kernels(own)];
        all.into_iter().filter(|own| own.id == "gpu" || !own.rows.is_empty()).collect()
    }

    fn each_device(&self, own: &Devices) -> Section {
        let mut section = Section::new("gpu", DEVICES);
        let kernels: u64 = own.all.iter().map(|own| own.kernels).sum();
        let left_out = (own.incomplete > 0)
            .then(|| format!("; {} left out with the last step", grouped(own.incomplete)));
        section.head = format!(
            "{} on {}; comm: while nothing computes, memory: while neither, overlap: of communication while something computes{}",
            plural(kernels, "kernel"),
            plural(own.all.len() as u64, "device"),
            left_out.unwrap_or_default(),
        );
        let overlong = percent_of(own.overlong, own.durations);
        if overlong > 1.0 {
            section.why = Some(format!(
                "{overlong:.1} % of the durations of kernels overlap the one before on their stream, where one runs at a time: \
                 they are longer than the kernels ran"
            ));
        }
        let sum = |of: fn(&Device) -> f64| Cell::Ms(own.all.iter().map(of).sum());
        section.figures = vec![
            ("devices", Cell::Count(own.all.len() as u64)),
            ("kernels", Cell::Count(kernels)),
            ("kernel_ms", Cell::Ms(own.kernel_time)),
            ("idle_ms", sum(|own| own.idle)),
            ("communication_ms", sum(|own| own.communication)),
            ("overlap_ms", sum(|own| own.overlap)),
            ("overlong_ms", Cell::Ms(own.overlong)),
            ("incomplete", Cell::Count(own.incomplete)),
        ];
        // in the order of the trace: ranks are compared with each other
        for device in own.all.iter().take(self.rows) {
            let thread = &self.trace.threads[device.thread];
            let pid = thread.pid_text();
            let share = |ms: f64| Cell::Percent(percent_of(ms, device.time));
            let overlap = match device.communication {
                0.0 => Cell::None,
                all => Cell::Percent(percent_of(device.overlap, all)),
            };
            let cells = vec![
                Cell::Ms(device.time),
                share(device.compute),
                share(device.exposed_communication),
                share(device.exposed_memory),
                share(device.idle),
                overlap,
                Cell::Count(device.kernels),
                Cell::text(self.device(device.thread)),
                Cell::Ms(device.compute),
                Cell::Ms(device.communication),
                Cell::Ms(device.memory),
                Cell::Ms(device.overlap),
                Cell::Ms(device.exposed_communication),
                Cell::Ms(device.exposed_memory),
                Cell::Ms(device.idle),
                Cell::Count(device.launched),
                Cell::text(&pid),
                self.input(device.thread),
            ];
            section.push(cells, self.next.of_process(&["top"], thread));
        }
        section
    }

    fn kinds(&self, own: &Devices) -> Section {
        let mut section = Section::new("gpu-types", KINDS);
        let all: f64 = own.kinds.iter().map(|own| own.time).sum();
        section.head = "what kernels do, all devices together; each moment counts once".to_owned();
        section.figures = vec![("total_ms", Cell::Ms(all))];
        for kind in own.kinds.iter().take(self.rows) {
            let cells = vec![
                Cell::Ms(kind.time),
                Cell::Percent(percent_of(kind.time, all)),
                Cell::text(&kind.name),
            ];
            let (_, last) = kind.name.rsplit_once(' ').unwrap_or(("", &kind.name));
            let names = match last {
                "communication" => "^(nccl.*Kernel|gloo:)",
                "memory" => "^(Mem(cpy|set)|dma)",
                _ => ".",
            };
            section.push(cells, self.next.of_all(&["top", "--per", "all", "--focus", names]));
        }
        section
    }

    fn idle(&self, own: &Devices) -> Section {
        let mut section = Section::new("gpu-idle", IDLE);
        let all: f64 = own.idle.iter().map(|own| own.idle).sum();
        section.head = format!(
            "{all:.2} ms between kernels of {}: the host launched late, kernels followed soon, or neither",
            plural(own.idle.len() as u64, "stream")
        );
        section.figures =
            vec![("streams", Cell::Count(own.idle.len() as u64)), ("idle_ms", Cell::Ms(all))];
        for &one in own.idle.iter().take(self.rows) {
            let StreamIdle { device, thread, stream, kernels, launched, .. } = one;
            let StreamIdle { idle, host_wait, kernel_wait, other, .. } = one;
            let of = &self.trace.threads[thread];
            let share = |ms: f64| Cell::Percent(percent_of(ms, idle));
            let cells = vec![
                Cell::Ms(idle),
                share(host_wait),
                share(kernel_wait),
                share(other),
                Cell::Count(kernels),
                Cell::Percent(percent_of(launched as f64, kernels as f64)),
                Cell::Count(u64::from(stream)),
                Cell::text(self.device(device)),
                Cell::Ms(host_wait),
                Cell::Ms(kernel_wait),
                Cell::Ms(other),
                Cell::text(of.pid_text()),
                Cell::text(of.tid_text()),
                self.input(thread),
            ];
            section.push(cells, self.next.of_thread(&["tree", "--log"], of));
        }
        section
    }

    fn kernels(&self, own: &Devices) -> Section {
        let mut section = Section::new("kernels", KERNELS);
        section.head = format!(
            "{}, {:.2} ms together; percent of the time from the first kernel of each device to its last",
            plural(own.all_kernels, "name"),
            own.durations
        );
        section.figures =
            vec![("count", Cell::Count(own.all_kernels)), ("total_ms", Cell::Ms(own.durations))];
        for Kernel { name, class, count, total, mean, deviation, least, most } in &own.kernels {
            let cells = vec![
                Cell::Ms(*total),
                Cell::Percent(percent_of(*total, own.kernel_time)),
                Cell::Count(*count),
                Cell::Ms(*mean),
                Cell::Ms(*deviation),
                Cell::Ms(*most),
                Cell::text(*class),
                Cell::text(name),
                Cell::Ms(*least),
            ];
            let whole = format!("^{}$", escaped(name));
            let words = ["tree", "--log", "--per", "all", "--focus", &*whole, "-n", "20"];
            section.push(cells, self.next.of_all(&words));
        }
        section
    }

    /// What the device of a thread is called: its process, and of several inputs the one that it is of.
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
