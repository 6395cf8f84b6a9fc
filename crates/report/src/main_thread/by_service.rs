//! Compares the services of a folder of CPU profiles, such as the pods of a deployment, and finds a
//! slow service.
//!
//! A service is a folder. If all inputs are in one folder, a service is a process:
//!
//! ```text
//!  pods/pod-1/CPU.a.cpuprofile ─┐
//!  pods/pod-1/CPU.b.cpuprofile ─┴─> pod-1      profiles/CPU.7.0.cpuprofile ─┐
//!  pods/pod-2/CPU.a.cpuprofile ───> pod-2      profiles/CPU.7.1.cpuprofile ─┴─> process 7
//! ```

use crate::found::services::{Service, Services, slow};
use crate::found::{Blocks, ThreadSums, is_gc};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tracemill_analysis::{Part, Producer, Thread, Trace};
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;

/// Identifies a service.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Folder(PathBuf),
    Process(Box<[u8]>),
}

/// Services while the threads are surveyed.
pub(crate) struct ByService<'r> {
    room: &'r Quota,
    services: Vec<Service>,
    /// Number of the service of each surveyed thread.
    numbers: Vec<usize>,
    next: usize,
}

impl<'r> ByService<'r> {
    /// Decides which services the threads belong to. Returns `None` if there are fewer than two, or
    /// if no JavaScript engine recorded the trace.
    pub(crate) fn of(
        trace: &Trace,
        threads: &[usize],
        producer: Producer,
        room: &'r Quota,
    ) -> Result<Option<Self>, Error> {
        if !matches!(producer, Producer::CpuProfile | Producer::Node) || trace.inputs.len() < 2 {
            return Ok(None);
        }
        let of_threads = || threads.iter().map(|&at| &trace.threads[at]);
        let path = |thread: &Thread| Path::new(&trace.inputs[thread.input_number].name);
        let above = common(of_threads().map(|thread| folder_of(path(thread))));
        let mut known: BTreeMap<Key, usize> = BTreeMap::new();
        let mut services: Vec<Service> = Vec::new();
        let mut numbers = Vec::with_capacity(threads.len());
        for (thread, &at) in of_threads().zip(threads) {
            let below = folder_of(path(thread)).strip_prefix(&above).unwrap_or(Path::new(""));
            let key = match below.components().next() {
                Some(first) => Key::Folder(above.join(first)),
                None => Key::Process(thread.pid.clone()),
            };
            let number = *known.entry(key.clone()).or_insert(services.len());
            if number == services.len() {
                room.take(2 * size_of::<Service>() as u64 + 256, "services")?;
                services.push(Service::of(trace, &key, at));
            }
            let service = &mut services[number];
            let is_first = trace.threads[service.thread].input_number == thread.input_number;
            if service.folder.is_none() && !is_first {
                service.name = process_name(trace, thread);
            }
            numbers.push(number);
        }
        let is_several = services.len() > 1;
        Ok(is_several.then_some(ByService { room, services, numbers, next: 0 }))
    }

    /// Adds the sums of the next thread.
    pub(crate) fn add(&mut self, sums: &ThreadSums, blocks: Option<&Blocks>) {
        let service = &mut self.services[self.numbers[self.next]];
        self.next += 1;
        service.threads += 1;
        service.busy += sums.busy;
        service.time += sums.time;
        if let Some(blocks) = blocks {
            service.blocks += blocks.count;
            service.blocked += blocks.total;
            let longest = blocks.longest.first().map_or(0.0, |block| block.dur / 1000.0);
            service.longest = service.longest.max(longest);
        }
    }

    /// Finds the hottest functions in the tables of all threads, and the slow service.
    ///
    /// Cost: visits each row. Heap: the names of the functions of a service.
    pub(crate) fn finish(mut self, trace: &Trace, parts: &[Part]) -> Result<Services, Error> {
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|&at| self.numbers[at]);
        let ms = |sum: f64| trace.clock().ms(sum);
        for parts_of in order.chunk_by(|&a, &b| self.numbers[a] == self.numbers[b]) {
            let (mut functions, mut bytes) = (BTreeMap::new(), 0);
            let service = &mut self.services[self.numbers[parts_of[0]]];
            for row in parts_of.iter().flat_map(|&at| parts[at].table.rows.iter()) {
                let self_time = row.own;
                if is_gc(&row) {
                    service.gc += ms(self_time);
                }
                if self_time <= 0.0 || is_native(row.name()) {
                    continue;
                }
                let time = functions.entry(row.name().to_owned()).or_insert_with(|| {
                    bytes += row.name().len() as u64 + 80;
                    0.0
                });
                *time += self_time;
                self.room.check(bytes, "functions of services")?;
            }
            let functions = functions.into_iter();
            let hottest = functions.reduce(|best, next| if next.1 > best.1 { next } else { best });
            service.hottest = hottest.map(|(name, time)| (name, ms(time)));
        }
        let mut all = self.services;
        all.sort_by(|a, b| b.share().total_cmp(&a.share()).then_with(|| a.name.cmp(&b.name)));
        let are_folders = all.iter().any(|service| service.folder.is_some());
        let slow = slow(&all).filter(|_| are_folders || all.len() > 2);
        Ok(Services { all, are_folders, slow })
    }
}

/// Returns whether the name is that of native code or idle time, such as `(program)`.
fn is_native(name: &str) -> bool {
    name.starts_with('(') && name != "(anonymous)" && name != "(garbage collector)"
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Returns the longest path that is a prefix of all paths.
fn common<'p>(mut paths: impl Iterator<Item = &'p Path>) -> PathBuf {
    let first = paths.next().unwrap_or(Path::new("")).to_owned();
    paths.fold(first, |prefix, path| {
        let same = prefix.components().zip(path.components()).take_while(|(a, b)| a == b);
        same.map(|(component, _)| component).collect()
    })
}

/// Returns the name of a thread's process, or its pid.
fn process_name(trace: &Trace, thread: &Thread) -> String {
    let name = trace.process_name(thread).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| format!("process {}", thread.pid_text()))
}

impl Service {
    /// Creates the service of a thread. A process is named after its first file, until it has
    /// another file.
    fn of(trace: &Trace, key: &Key, at: usize) -> Self {
        let input = Path::new(&trace.inputs[trace.threads[at].input_number].name);
        let (path, folder) = match key {
            Key::Folder(folder) => (&**folder, Some(folder.display().to_string())),
            Key::Process(_) => (input, None),
        };
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Service { name, folder, thread: at, ..Service::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_folders_are_whole_components() {
        let of = |paths: &[&str]| common(paths.iter().map(Path::new)).display().to_string();
        assert_eq!(of(&["pods/pod-1", "pods/pod-10", "pods"]), "pods");
        assert_eq!(of(&["pods/pod-1/x", "pods/pod-1/y"]), "pods/pod-1");
        assert_eq!(of(&["/a/b", "c"]), "");
        assert_eq!(of(&[]), "");
    }
}
