//! The sections of devices of PyTorch.

use super::super::data::percent_of;
use super::super::unit::time_text;
use super::section::{Cell, Columns, Section};
use super::sections::{ReportInputs, escaped};
use tracemill_analysis::{Device, Devices, Kernel, KindTime, StreamIdle};
use tracemill_trace::run::words::{grouped, plural};

impl ReportInputs<'_> {
    /// What devices did, why they are idle, and what takes their time.
    pub(super) fn devices(&self) -> Vec<Section> {
        let Some(own) = &self.report.devices else { return Vec::new() };
        let all = [self.each_device(own), self.kinds(own), self.idle(own), self.kernels(own)];
        all.into_iter().filter(|own| own.id == "gpu" || !own.rows.is_empty()).collect()
    }

    fn each_device(&self, own: &Devices) -> Section {
        let share = |ms: fn(&Device) -> f64| move |own: &&Device| percent_of(ms(own), own.time);
        let thread = |own: &&Device| &self.trace.threads[own.thread];
        let columns = Columns::<&Device>::new()
            .ms("kernel_ms", "kernel ms", |own| own.time)
            .percent("compute_pct", "compute %", share(|own| own.compute))
            .percent("exposed_communication_pct", "comm %", share(|own| own.exposed_communication))
            .percent("exposed_memory_pct", "memory %", share(|own| own.exposed_memory))
            .percent("idle_pct", "idle %", share(|own| own.idle))
            .figure("overlap_pct", "overlap %", |own| match own.communication {
                0.0 => Cell::None,
                all => Cell::Percent(percent_of(own.overlap, all)),
            })
            .count("kernels", "kernels", |own| own.kernels)
            .spare()
            .words("device", "device", |own| Cell::text(self.device(own.thread)))
            .ms("compute_ms", "", |own| own.compute)
            .ms("communication_ms", "", |own| own.communication)
            .ms("memory_ms", "", |own| own.memory)
            .ms("overlap_ms", "", |own| own.overlap)
            .ms("exposed_communication_ms", "", |own| own.exposed_communication)
            .ms("exposed_memory_ms", "", |own| own.exposed_memory)
            .ms("idle_ms", "", |own| own.idle)
            .count("launched", "", |own| own.launched)
            .words("pid", "", |own| Cell::id(&thread(own).pid))
            .words("input", "", |own| self.input(own.thread));
        // in the order of the trace: ranks are compared with each other
        let rows = own.all.iter().take(self.rows);
        let next = |own: &&Device| self.next.of_process(&["top"], thread(own));
        let mut section = Section::new("gpu", columns, rows, next).of(own.all.len() as u64);
        let kernels: u64 = own.all.iter().map(|own| own.kernels).sum();
        let left_out = (own.incomplete > 0)
            .then(|| format!("; {} left out with the last step", grouped(own.incomplete)));
        let overlong = percent_of(own.overlong, own.durations);
        section.why = (overlong > 1.0).then(|| format!(
            "{overlong:.1} % of the durations of kernels overlap the one before on their stream, where one runs at a time: \
             they are longer than the kernels ran"
        ));
        let sum = |of: fn(&Device) -> f64| Cell::Ms(own.all.iter().map(of).sum());
        let head = format!(
            "{} on {}; comm: while nothing computes, memory: while neither, overlap: of communication while something computes{}",
            plural(kernels, "kernel"),
            plural(own.all.len() as u64, "device"),
            left_out.unwrap_or_default(),
        );
        let figures = vec![
            ("devices", Cell::Count(own.all.len() as u64)),
            ("kernels", Cell::Count(kernels)),
            ("kernel_ms", Cell::Ms(own.kernel_time)),
            ("idle_ms", sum(|own| own.idle)),
            ("communication_ms", sum(|own| own.communication)),
            ("overlap_ms", sum(|own| own.overlap)),
            ("overlong_ms", Cell::Ms(own.overlong)),
            ("incomplete", Cell::Count(own.incomplete)),
        ];
        section.with(head, figures)
    }

    fn kinds(&self, own: &Devices) -> Section {
        let all: f64 = own.kinds.iter().map(|own| own.time).sum();
        let columns = Columns::<&KindTime>::new()
            .ms("total_ms", "ms", |own| own.time)
            .percent("total_pct", "%", |own| percent_of(own.time, all))
            .words("name", "what runs", |own| Cell::text(&own.name));
        let next = |kind: &&KindTime| {
            let names = match kind.name.rsplit(' ').next() {
                Some("communication") => "^(nccl.*Kernel|gloo:)",
                Some("memory") => "^(Mem(cpy|set)|dma)",
                _ => ".",
            };
            self.next.of_all(&["top", "--per", "all", "--focus", names])
        };
        let kinds = own.kinds.len() as u64;
        Section::new("gpu-types", columns, own.kinds.iter().take(self.rows), next).of(kinds).with(
            "what kernels do, all devices together; each moment counts once",
            vec![("total_ms", Cell::Ms(all))],
        )
    }

    fn idle(&self, own: &Devices) -> Section {
        let share =
            |ms: fn(&StreamIdle) -> f64| move |own: &&StreamIdle| percent_of(ms(own), own.idle);
        let thread = |own: &&StreamIdle| &self.trace.threads[own.thread];
        let launched = |own: &&StreamIdle| percent_of(own.launched as f64, own.kernels as f64);
        let columns = Columns::<&StreamIdle>::new()
            .ms("idle_ms", "idle ms", |own| own.idle)
            .percent("host_wait_pct", "host wait %", share(|own| own.host_wait))
            .percent("kernel_wait_pct", "kernel wait %", share(|own| own.kernel_wait))
            .percent("other_pct", "other %", share(|own| own.other))
            .count("kernels", "kernels", |own| own.kernels)
            .spare()
            .percent("launched_pct", "launch known %", launched)
            .spare()
            .count("stream", "stream", |own| u64::from(own.stream))
            .words("device", "device", |own| Cell::text(self.device(own.device)))
            .ms("host_wait_ms", "", |own| own.host_wait)
            .ms("kernel_wait_ms", "", |own| own.kernel_wait)
            .ms("other_ms", "", |own| own.other)
            .words("pid", "", |own| Cell::id(&thread(own).pid))
            .words("tid", "", |own| Cell::id(&thread(own).tid))
            .words("input", "", |own| self.input(own.thread));
        let rows = own.idle.iter().take(self.rows);
        let next = |own: &&StreamIdle| self.next.of_thread(&["tree", "--log"], thread(own));
        let (all, streams) =
            (own.idle.iter().map(|own| own.idle).sum::<f64>(), own.idle.len() as u64);
        Section::new("gpu-idle", columns, rows, next).of(streams).with(
            format!(
                "{} between kernels of {}: the host launched late, kernels followed soon, or neither",
                time_text(all),
                plural(streams, "stream")
            ),
            vec![("streams", Cell::Count(streams)), ("idle_ms", Cell::Ms(all))],
        )
    }

    fn kernels(&self, own: &Devices) -> Section {
        let columns = Columns::<&Kernel>::new()
            .ms("total_ms", "ms", |own| own.total)
            .percent("total_pct", "%", |kernel| percent_of(kernel.total, own.kernel_time))
            .count("count", "count", |own| own.count)
            .ms("avg_ms", "avg ms", |own| own.mean)
            .ms("std_ms", "std ms", |own| own.deviation)
            .spare()
            .ms("max_ms", "max ms", |own| own.most)
            .words("type", "type", |own| Cell::text(own.class))
            .words("name", "kernel", |own| Cell::text(&own.name))
            .ms("min_ms", "", |own| own.least);
        let next = |own: &&Kernel| {
            let whole = format!("^{}$", escaped(&own.name));
            self.next.of_all(&["tree", "--log", "--per", "all", "--focus", &whole, "-n", "20"])
        };
        Section::new("kernels", columns, &own.kernels, next).of(own.all_kernels).with(
            format!(
                "{}, {} together; percent of the time from the first kernel of each device to its last",
                plural(own.all_kernels, "name"),
                time_text(own.durations)
            ),
            vec![("count", Cell::Count(own.all_kernels)), ("total_ms", Cell::Ms(own.durations))],
        )
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
