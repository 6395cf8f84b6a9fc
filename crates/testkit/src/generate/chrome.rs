//! Generates a large Chrome-like trace for benchmarks, at several hundred MB/s.
//!
//! Its shape follows real Chrome recordings: about 260 bytes per event, one event per line, keys in
//! alphabetical order. Threads flush their buffers in batches, so times rise within a batch and
//! jump between batches; about 19 % of the events precede an event with an earlier time. The trace
//! contains complete, duration, async, flow, instant, counter and metadata events, and one CPU
//! profile stream per process, with chunks from a sampler thread.
//!
//! In eight recordings of Chrome 65 to 156, 66 to 99 % of samples equal the previous sample; all
//! other samples push one to four frames. Half of the nodes have the previous node as parent, and
//! 90 % have one of the previous 23 nodes.
//!
//! In generated traces, 85 % of samples equal the previous sample; all other samples push one or
//! two frames. Half of the nodes have the previous node as parent, and 70 % have a near node. The
//! tree needs more nodes at the top, so that it can grow for gigabytes without becoming deep.

use std::io::{self, Write};

use super::chrome_text::{CATEGORIES, NAMES, THREADS, TextBuilder};
use crate::Rng;

const FRAME: &str = "4A0C7E21D95B38F6107ACE5B2D84F093";
const FLUSH_BYTES: usize = 1 << 20;

/// Writes a trace of at least `size_bytes` bytes (plus less than one batch) determined by `seed`,
/// and returns the number of its events. Different seeds give different processes.
///
/// # Errors
///
/// Returns the errors of `out`.
pub fn chrome_like(seed: u64, size_bytes: u64, out: &mut impl Write) -> io::Result<u64> {
    let mut chrome = Chrome::new(seed);
    chrome.head();
    let mut written = 0;
    while written + (chrome.text.0.len() as u64) < size_bytes {
        chrome.batch();
        if chrome.text.0.len() >= FLUSH_BYTES {
            out.write_all(&chrome.text.0)?;
            written += chrome.text.0.len() as u64;
            chrome.text.0.clear();
        }
    }
    chrome.text.str("],\n\"metadata\":{\"dataOrigin\":\"TraceEvents\",\"hardwareConcurrency\":8,");
    chrome.text.str("\"source\":\"DevTools\",\"startTime\":\"2026-01-01T00:00:00.000Z\"}}\n");
    out.write_all(&chrome.text.0)?;
    Ok(chrome.events)
}

struct ChromeThread {
    pid: u64,
    tid: u64,
    process: usize,
    clock: u64,
}

struct ChromeProcess {
    pid: u64,
    sampler: u64,
    /// Parent of each profile node; 0 for the first node, which has number 1.
    above: Vec<u32>,
    sampled: u64,
    sampled_until: u64,
}

impl ChromeProcess {
    fn nodes(&self) -> u64 {
        self.above.len() as u64
    }

    fn sample(&mut self, rng: &mut Rng) -> u64 {
        if !rng.chance(85) {
            let above = u64::from(self.above[self.sampled as usize - 1]);
            self.sampled = match rng.below(10) {
                // return to an earlier node
                0 => rng.range(1, self.nodes()),
                1..=4 if above > 0 => above,
                _ => self.nodes().min(self.sampled + rng.range(1, 8)),
            };
        }
        self.sampled
    }

    fn grow(&mut self, rng: &mut Rng) {
        let before = self.nodes();
        let above = match rng.below(10) {
            _ if before == 0 => 0,
            0..=4 => before,
            5 | 6 => rng.range(before.saturating_sub(22).max(1), before),
            _ => 1,
        };
        self.above.push(above as u32);
    }
}

struct Chrome {
    text: TextBuilder,
    rng: Rng,
    events: u64,
    profile_id: u64,
    async_id: u64,
    threads: Vec<ChromeThread>,
    processes: Vec<ChromeProcess>,
    urls: Vec<String>,
    functions: Vec<String>,
}

impl Chrome {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        // far from overflow for any seed, and apart from each other for small seeds
        let number = seed % 1_000_000;
        let start = 522_975_000_000 + number * 137;
        let urls = (0..40)
            .map(|_| format!("https://example.com/assets/app.{:08x}.js", rng.bits() >> 32))
            .collect();
        let functions = (0..400).map(|_| function_name(&mut rng)).collect();
        let (mut threads, mut processes) = (Vec::new(), Vec::new());
        for process in 0..3_usize {
            let pid = 3415 + number * 1000 + process as u64;
            let first = 17_000 + number * 100 + process as u64 * 10;
            for i in 0..THREADS.len() as u64 {
                threads.push(ChromeThread { pid, tid: first + i, process, clock: start });
            }
            let (sampler, sampled_until) = (first + 4, start);
            processes.push(ChromeProcess {
                pid,
                sampler,
                above: Vec::new(),
                sampled: 1,
                sampled_until,
            });
        }
        Self {
            text: TextBuilder(Vec::with_capacity(FLUSH_BYTES + (1 << 19))),
            rng,
            events: 0,
            profile_id: number + 1,
            async_id: 0,
            threads,
            processes,
            urls,
            functions,
        }
    }

    /// Begins an event. All events except the first follow a comma and a line break.
    fn open(&mut self) {
        self.text.str(if self.events == 0 { "{" } else { ",\n{" });
        self.events += 1;
    }

    fn head(&mut self) {
        self.text.str("{\"traceEvents\":[");
        for process in 0..self.processes.len() {
            self.open();
            self.text.str(
                "\"args\":{\"name\":\"Renderer\"},\"cat\":\"__metadata\",\"name\":\"process_name\"",
            );
            self.text.str(",\"ph\":\"M\",\"pid\":").num(self.processes[process].pid);
            self.text.str(",\"tid\":0,\"ts\":0}");
        }
        for thread in 0..self.threads.len() {
            self.open();
            self.text.str("\"args\":{\"name\":\"").str(THREADS[thread % THREADS.len()]);
            self.text
                .str("\"},\"cat\":\"__metadata\",\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":");
            let thread = &self.threads[thread];
            self.text.num(thread.pid).str(",\"tid\":").num(thread.tid).str(",\"ts\":0}");
        }
        self.open();
        let main = &self.threads[0];
        let (pid, tid, ts) = (main.pid, main.tid, main.clock);
        self.text
            .str("\"args\":{\"data\":{\"frameTreeNodeId\":6804,\"frames\":[{\"frame\":\"")
            .str(FRAME);
        self.text
            .str("\",\"isInPrimaryMainFrame\":true,\"isOutermostMainFrame\":true,\"name\":\"\",");
        self.text.str("\"processId\":").num(pid).str(",\"url\":\"https://example.com/\"}],");
        self.text
            .str("\"persistentIds\":true}},\"cat\":\"disabled-by-default-devtools.timeline\",");
        self.text.str("\"name\":\"TracingStartedInBrowser\",\"ph\":\"I\",\"pid\":").num(pid);
        self.text.str(",\"s\":\"t\",\"tid\":").num(tid).str(",\"ts\":").num(ts).str("}");
        for process in 0..self.processes.len() {
            self.open();
            let main = &self.threads[process * THREADS.len()];
            self.text.str("\"args\":{\"data\":{\"startTime\":").num(main.clock).str("}},\"cat\":");
            self.text
                .str("\"disabled-by-default-v8.cpu_profiler\",\"id\":\"0x")
                .hex(self.profile_id);
            self.text
                .str("\",\"name\":\"Profile\",\"ph\":\"P\",\"pid\":")
                .num(main.pid)
                .str(",\"tid\":");
            self.text.num(main.tid).str(",\"ts\":").num(main.clock).str(",\"tts\":1000}");
        }
    }

    /// Writes one buffer of a thread: 10 to 120 steps of its clock.
    fn batch(&mut self) {
        let thread = self.rng.index(self.threads.len());
        let mut ts = self.threads[thread].clock;
        for _ in 0..self.rng.range(10, 120) {
            ts += self.rng.below(41);
            let dur = self.rng.range(1, 200);
            match self.rng.below(100) {
                0..=61 => self.complete(thread, ts, dur),
                62..=69 => self.duration(thread, ts, dur),
                70..=77 => self.asynchronous(thread, ts, dur),
                78..=83 => self.flow(thread, ts, dur),
                84..=89 => self.instant(thread, ts),
                90..=95 => self.counter(thread, ts),
                _ => self.profile_chunk(self.threads[thread].process),
            }
        }
        self.threads[thread].clock = ts;
    }

    fn category(&mut self) -> &mut TextBuilder {
        let category = self.rng.pick(CATEGORIES);
        self.text.str("\"cat\":\"").str(category).str("\",")
    }

    fn tail(&mut self, name: &str, ph: &str, thread: usize, ts: u64) {
        let thread = &self.threads[thread];
        self.text.str("\"name\":\"").str(name).str("\",\"ph\":\"").str(ph).str("\",\"pid\":");
        self.text.num(thread.pid);
        match ph {
            "b" | "e" => self.text.str(",\"scope\":\"s\""),
            "I" => self.text.str(",\"s\":\"t\""),
            _ => &mut self.text,
        };
        self.text.str(",\"tid\":").num(thread.tid).str(",\"ts\":").num(ts).str("}");
    }

    fn complete(&mut self, thread: usize, ts: u64, dur: u64) {
        self.open();
        match self.rng.below(20) {
            0..=6 => {
                self.text.str("\"args\":{},");
            }
            7..=13 => {
                let (file, function) = (self.function(), self.function());
                self.text.str("\"args\":{\"src_file\":\"../../third_party/blink/renderer/core/");
                self.text.str(&self.functions[file]).str(".cc\",\"src_func\":\"");
                self.text.str(&self.functions[function]).str("\"},");
            }
            _ => self.call_args(),
        }
        let name = self.rng.pick(NAMES);
        self.category()
            .str("\"dur\":")
            .num(dur)
            .str(",\"name\":\"")
            .str(name)
            .str("\",\"ph\":\"X\",\"pid\":");
        let thread = &self.threads[thread];
        self.text.num(thread.pid).str(",\"tdur\":").num(dur).str(",\"tid\":").num(thread.tid);
        self.text.str(",\"ts\":").num(ts).str(",\"tts\":").num(ts / 11).str("}");
    }

    fn call_args(&mut self) {
        let isolate = self.rng.bits() >> 14;
        self.text.str("\"args\":{\"data\":{");
        self.position("\"", |text| {
            text.str("\"frame\":\"").str(FRAME).str("\",");
        });
        self.text.str(",\"isolate\":\"").num(isolate).str("\",\"stackTrace\":[{");
        self.position("\"", |_| {});
        self.text.str("}]}},");
    }

    /// Writes a script location; `between` writes the keys after the first key. Profiles have
    /// numeric script ids, events have strings.
    fn position(&mut self, quote: &str, between: impl FnOnce(&mut TextBuilder)) {
        let (function, url) = (self.function(), self.rng.index(self.urls.len()));
        let (column, line) = (self.rng.range(1, 200), self.rng.range(1, 9999));
        let script = self.rng.range(1, 99);
        self.text.str("\"columnNumber\":").num(column).str(",");
        between(&mut self.text);
        self.text
            .str("\"functionName\":\"")
            .str(&self.functions[function])
            .str("\",\"lineNumber\":");
        self.text
            .num(line)
            .str(",\"scriptId\":")
            .str(quote)
            .num(script)
            .str(quote)
            .str(",\"url\":\"");
        self.text.str(&self.urls[url]).str("\"");
    }

    fn function(&mut self) -> usize {
        self.rng.index(self.functions.len())
    }

    fn duration(&mut self, thread: usize, ts: u64, dur: u64) {
        let name = self.rng.pick(NAMES);
        // as in recordings, an E has the categories of its B: DevTools pairs by them too
        let category = self.rng.pick(CATEGORIES);
        for (ph, ts) in [("B", ts), ("E", ts + dur)] {
            self.open();
            self.text.str("\"args\":{},\"cat\":\"").str(category).str("\",");
            self.tail(name, ph, thread, ts);
        }
    }

    fn asynchronous(&mut self, thread: usize, ts: u64, dur: u64) {
        self.async_id += 1;
        let name = self.rng.pick(NAMES);
        let category = self.rng.pick(CATEGORIES);
        for (ph, ts) in [("b", ts), ("e", ts + dur)] {
            self.open();
            if ph == "b" {
                let hash = self.rng.bits() >> 33;
                self.text.str("\"args\":{\"chrome_task_annotator\":{\"ipc_hash\":").num(hash);
                self.text.str(",\"task_delay_policy\":\"PRECISE\"}},");
            } else {
                self.text.str("\"args\":{},");
            }
            self.text
                .str("\"cat\":\"")
                .str(category)
                .str("\",\"id2\":{\"local\":\"0x")
                .hex(self.async_id);
            self.text.str("\"},");
            self.tail(name, ph, thread, ts);
        }
    }

    fn flow(&mut self, thread: usize, ts: u64, dur: u64) {
        self.async_id += 1;
        let id = self.async_id;
        let name = self.rng.pick(NAMES);
        self.open();
        self.text.str("\"args\":{},\"bind_id\":\"0x").hex(id).str("\",");
        self.category().str("\"flow_out\":true,\"id\":\"0x").hex(id).str("\",");
        self.tail(name, "s", thread, ts);
        self.open();
        self.text.str("\"args\":{},\"bp\":\"e\",");
        self.category().str("\"id\":\"0x").hex(id).str("\",");
        self.tail(name, "f", thread, ts + dur);
    }

    fn instant(&mut self, thread: usize, ts: u64) {
        self.open();
        let (documents, listeners) = (self.rng.range(1, 9), self.rng.range(1, 999));
        let (heap, nodes) = (self.rng.bits() >> 38, self.rng.range(1, 9999));
        self.text.str("\"args\":{\"data\":{\"documents\":").num(documents);
        self.text
            .str(",\"jsEventListeners\":")
            .num(listeners)
            .str(",\"jsHeapSizeUsed\":")
            .num(heap);
        self.text.str(",\"nodes\":").num(nodes).str("}},");
        self.category();
        self.tail("UpdateCounters", "I", thread, ts);
    }

    fn counter(&mut self, thread: usize, ts: u64) {
        self.open();
        let (value, id) = (self.rng.bits() >> 38, self.rng.below(16));
        self.text.str("\"args\":{\"value\":").num(value).str("},");
        self.category().str("\"id\":\"0x").hex(id).str("\",");
        self.tail("jsHeap", "C", thread, ts);
    }

    fn profile_chunk(&mut self, process: usize) {
        self.open();
        self.text.str("\"args\":{\"data\":{\"cpuProfile\":{");
        let known = self.processes[process].nodes();
        let new = if known == 0 { 3 } else { self.rng.below(7) };
        for node in known + 1..=known + new {
            self.text.str(if node == known + 1 { "\"nodes\":[{" } else { ",{" });
            self.text.str("\"callFrame\":{\"codeType\":\"JS\",");
            self.position("", |_| {});
            self.text.str("},\"id\":").num(node);
            self.processes[process].grow(&mut self.rng);
            if let Some(parent @ 1..) = self.processes[process].above.last() {
                self.text.str(",\"parent\":").num(u64::from(*parent));
            }
            self.text.str("}");
        }
        self.text.str(if new > 0 { "],\"samples\":[" } else { "\"samples\":[" });
        let samples = self.rng.range(5, 60);
        self.numbers(samples, |chrome| chrome.processes[process].sample(&mut chrome.rng));
        self.text.str("]},\"lines\":[");
        self.numbers(samples, |chrome| chrome.rng.range(0, 999));
        self.text.str("],\"timeDeltas\":[");
        let elapsed = self.numbers(samples, |chrome| chrome.rng.range(80, 220));
        let process = &mut self.processes[process];
        process.sampled_until += elapsed;
        let ts = process.sampled_until;
        self.text
            .str("]}},\"cat\":\"disabled-by-default-v8.cpu_profiler\",\"id\":\"0x")
            .hex(self.profile_id);
        self.text.str("\",\"name\":\"ProfileChunk\",\"ph\":\"P\",\"pid\":").num(process.pid);
        self.text.str(",\"tid\":").num(process.sampler).str(",\"ts\":").num(ts);
        self.text.str(",\"tts\":").num(ts / 13).str("}");
    }

    /// Writes `count` numbers separated by commas, and returns their sum.
    fn numbers(&mut self, count: u64, mut next: impl FnMut(&mut Self) -> u64) -> u64 {
        let mut sum = 0;
        for i in 0..count {
            if i > 0 {
                self.text.0.push(b',');
            }
            let value = next(self);
            self.text.num(value);
            sum += value;
        }
        sum
    }
}

fn function_name(rng: &mut Rng) -> String {
    let length = rng.range(3, 14);
    let letters = (0..length).map(|_| char::from(b'a' + rng.below(26) as u8));
    "fn_".chars().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{self, Decimal};

    #[test]
    fn chrome_like_trace_parses_and_resembles_a_recording() {
        let mut bytes = Vec::new();
        let count = chrome_like(1, 2 << 20, &mut bytes).unwrap();
        assert!(bytes.len() >= 2 << 20 && bytes.len() < (2 << 20) + 200_000, "{}", bytes.len());
        let events = reference::events(&bytes).unwrap();
        assert_eq!(events.len() as u64, count);
        let mean = bytes.len() as u64 / count;
        assert!((240..290).contains(&mean), "{mean} bytes an event");

        let ts: Vec<Decimal> =
            events.iter().map(|e| reference::time(e.ts.as_deref().unwrap()).unwrap()).collect();
        let falls = ts.windows(2).filter(|pair| pair[1] < pair[0]).count() * 100 / ts.len();
        assert!((16..=22).contains(&falls), "{falls} % out of order");

        for event in &events {
            let keys: Vec<_> = event.members.iter().map(|(key, _)| key).collect();
            assert!(keys.is_sorted(), "{keys:?}");
        }
        let (_, notes) = reference::merge_with_notes(&[&bytes], None).unwrap();
        assert_eq!(notes.inconsistent_profiles, 0);
        assert!(events.iter().any(|e| e.name.as_deref() == Some("\"ProfileChunk\"")));
    }

    #[test]
    fn trace_is_determined_by_the_seed() {
        let write = |seed| {
            let mut bytes = Vec::new();
            chrome_like(seed, 50_000, &mut bytes).unwrap();
            bytes
        };
        assert_eq!(write(1), write(1));
        assert_ne!(write(1), write(2));
    }
}
