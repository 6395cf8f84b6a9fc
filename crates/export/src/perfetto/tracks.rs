//! Tracks: processes, threads, and what belongs to these.

use super::open::Slices;
use super::packets::{EVENTS, Packets, content, packet, plain};
use crate::proto::Message;
use tracemill_tokenizer::{Event, Field, parse};
use tracemill_trace::event::metadata::{MetadataEvent, MetadataKind};
use tracemill_trace::event::thread_table::ThreadTable;
use tracemill_trace::json::printable;
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// Fields of `TrackDescriptor`.
mod track {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PROCESS: u32 = 3;
    pub(super) const THREAD: u32 = 4;
    pub(super) const PARENT: u32 = 5;
    pub(super) const COUNTER: u32 = 8;
}

/// Ids that are no numbers count from here, below the end of 31 bits.
const MADE: i64 = 2_000_000_000;
/// Ids of tracks of operations and counters, which are hashes.
const HASHED: u64 = 1 << 63;

/// What is said of a process or thread.
#[derive(Default)]
struct Said {
    name: Option<String>,
    labels: Option<String>,
    order: Option<i64>,
    /// Whether the reader knows all that.
    told: bool,
}

struct Process {
    number: i64,
    said: Said,
}

/// A thread, by its number among them.
pub(super) struct Thread {
    process: usize,
    pub(super) number: i64,
    said: Said,
    /// Events that are open.
    pub(super) open: Slices,
}

/// Processes and threads by their ids as written, and which tracks the reader knows.
#[derive(Default)]
pub(super) struct Tracks {
    processes: Vec<Process>,
    process_numbers: HashMap<Box<[u8]>, usize>,
    pub(super) threads: Vec<Thread>,
    thread_numbers: ThreadTable,
    taken: HashSet<(usize, i64)>,
    /// The made number to try next, by process.
    made: HashMap<usize, i64>,
    /// Tracks of other kinds that were told.
    others: HashSet<u64>,
    key: Vec<u8>,
    message: Message,
    inner: Message,
}

impl Tracks {
    /// Tracks of other kinds that are known at most: then they are told again.
    const OTHERS: usize = 64 * 1024;

    /// The thread of an event, which is made known. One without a thread, and thread 0, is that of its process's number, as Perfetto reads JSON.
    pub(super) fn thread(&mut self, event: &Event<'_>) -> usize {
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default());
        let at = self.thread_numbers.number(pid, tid);
        if at < self.threads.len() {
            return at;
        }
        let process = self.process(event);
        let usual = self.processes[process].number;
        let number = if tid.is_empty() { 0 } else { self.number_of(process, tid) };
        let number = if number == 0 { usual } else { number };
        let said = Said { name: text_id(tid), ..Said::default() };
        self.threads.push(Thread { process, number, said, open: Slices::default() });
        at
    }

    /// The process of an event.
    pub(super) fn process(&mut self, event: &Event<'_>) -> usize {
        let pid = event.field(Field::Pid).unwrap_or_default();
        if let Some(&found) = self.process_numbers.get(pid) {
            return found;
        }
        let number = if pid.is_empty() { 0 } else { self.number_of(usize::MAX, pid) };
        let at = self.processes.len();
        let said = Said { name: text_id(pid), ..Said::default() };
        self.processes.push(Process { number, said });
        self.process_numbers.insert(pid.into(), at);
        at
    }

    /// The number of an id; of a text, one that is free.
    fn number_of(&mut self, of: usize, id: &[u8]) -> i64 {
        let number = parse(content(id)).unwrap_or_else(|| {
            let next = self.made.entry(of).or_insert(MADE);
            while self.taken.contains(&(of, *next)) {
                *next += 1;
            }
            *next
        });
        self.taken.insert((of, number));
        number
    }

    /// Numbers of a thread's process and of itself.
    pub(super) fn ids(&self, thread: usize) -> (i64, i64) {
        let thread = &self.threads[thread];
        (self.processes[thread.process].number, thread.number)
    }

    /// Takes what metadata says of processes and threads; whether it is of that kind.
    pub(super) fn note(&mut self, event: &Event<'_>) -> bool {
        let Some(MetadataEvent { kind, value }) = MetadataEvent::of(event) else { return false };
        let text = || value.map(printable);
        let said = match kind.is_of_process() {
            true => {
                let at = self.process(event);
                &mut self.processes[at].said
            }
            false => {
                let at = self.thread(event);
                &mut self.threads[at].said
            }
        };
        match kind {
            MetadataKind::ProcessName | MetadataKind::ThreadName => {
                said.name = text().or(said.name.take())
            }
            MetadataKind::ProcessLabels => said.labels = text().or(said.labels.take()),
            MetadataKind::ProcessSortIndex | MetadataKind::ThreadSortIndex => {
                let order = value.and_then(|value| parse::<f64>(content(value)));
                said.order = order.map(|order| order as i64).or(said.order);
            }
        }
        said.told = false;
        true
    }

    /// The track of a process.
    pub(super) fn of_process(&mut self, at: usize, out: &mut Packets<'_>) -> u64 {
        let uuid = 2 * at as u64 + 1;
        let Process { number, said } = &mut self.processes[at];
        if !std::mem::replace(&mut said.told, true) {
            let (message, inner) = (&mut self.message, &mut self.inner);
            inner.clear();
            inner.number(1, *number as i32 as u64);
            said.name.iter().for_each(|name| inner.field(6, name.as_bytes()));
            said.order.iter().for_each(|&order| inner.number(3, order as i32 as u64));
            said.labels.iter().for_each(|labels| inner.field(8, labels.as_bytes()));
            message.clear();
            message.number(track::UUID, uuid);
            message.field(track::PROCESS, inner.bytes());
            push(message, out);
        }
        uuid
    }

    /// The track of a thread.
    pub(super) fn of_thread(&mut self, at: usize, out: &mut Packets<'_>) -> u64 {
        let uuid = 2 * at as u64 + 2;
        if self.threads[at].said.told {
            return uuid;
        }
        let process = self.threads[at].process;
        let parent = self.of_process(process, out);
        let pid = self.processes[process].number;
        let Thread { number, said, .. } = &mut self.threads[at];
        let (message, inner) = (&mut self.message, &mut self.inner);
        inner.clear();
        inner.number(1, pid as i32 as u64);
        inner.number(2, *number as u64);
        said.name.iter().for_each(|name| inner.field(5, name.as_bytes()));
        said.order.iter().for_each(|&order| inner.number(3, order as i32 as u64));
        said.told = true;
        message.clear();
        message.number(track::UUID, uuid);
        message.number(track::PARENT, parent);
        message.field(track::THREAD, inner.bytes());
        push(message, out);
        uuid
    }

    /// A track of its own below a process, which `key` tells from all others; without a process, below none.
    pub(super) fn other(
        &mut self,
        (process, key): (Option<usize>, &[u8]),
        name: &str,
        is_counter: bool,
        out: &mut Packets<'_>,
    ) -> u64 {
        let parent = process.map(|at| self.of_process(at, out));
        self.key.clear();
        self.key.extend_from_slice(&parent.unwrap_or(0).to_le_bytes());
        self.key.push(u8::from(is_counter));
        self.key.extend_from_slice(key);
        let uuid = hash(&self.key) | HASHED;
        if self.others.contains(&uuid) {
            return uuid;
        }
        if self.others.len() >= Tracks::OTHERS {
            self.others.clear();
        }
        self.others.insert(uuid);
        let message = &mut self.message;
        message.clear();
        message.number(track::UUID, uuid);
        message.field(track::NAME, name.as_bytes());
        parent.iter().for_each(|&parent| message.number(track::PARENT, parent));
        if is_counter {
            message.field(track::COUNTER, &[]);
        }
        push(message, out);
        uuid
    }

    /// Tells the reader of processes and threads that have a name and, so far, no event.
    pub(super) fn tell_all(&mut self, out: &mut Packets<'_>) {
        for process in 0..self.processes.len() {
            self.of_process(process, out);
        }
        for thread in 0..self.threads.len() {
            self.of_thread(thread, out);
        }
    }
}

/// The same on every machine: FNV-1a, and its bits mixed.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let add = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325, add);
    (sum ^ (sum >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// What an id that is a text says.
fn text_id(id: &[u8]) -> Option<String> {
    let text = content(id);
    (!text.is_empty() && parse::<i64>(text).is_none()).then(|| plain(text))
}

fn push(track: &Message, out: &mut Packets<'_>) {
    out.push(|packet| {
        packet.number(packet::SEQUENCE, EVENTS);
        packet.field(packet::TRACK, track.bytes());
    });
}
