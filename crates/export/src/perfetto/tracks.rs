//! Writes tracks of processes and threads, and tracks of operations and counters below them.

use super::open::Slices;
use super::packets::{EVENTS, Packets, content, packet, plain};
use crate::proto::Message;
use tracemill_tokenizer::{Event, Field, parse};
use tracemill_trace::event::metadata::{MetadataEvent, MetadataKind};
use tracemill_trace::event::thread_table::ThreadTable;
use tracemill_trace::json::printable;
use tracemill_trace::spill::hash::{HashMap, HashSet};

/// Field numbers of `TrackDescriptor`.
mod track {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PROCESS: u32 = 3;
    pub(super) const THREAD: u32 = 4;
    pub(super) const PARENT: u32 = 5;
    pub(super) const COUNTER: u32 = 8;
}

/// First number given to ids that are not numbers, near the end of 31 bits.
const MADE: i64 = 2_000_000_000;
/// Flag of the ids of tracks for operations and counters, which are hashes.
const HASHED: u64 = 1 << 63;

/// Metadata of a process or thread: its name, labels and sort index.
#[derive(Default)]
struct Said {
    name: Option<String>,
    labels: Option<String>,
    order: Option<i64>,
    /// Whether the metadata has been written.
    is_written: bool,
}

struct Process {
    number: i64,
    metadata: Said,
}

pub(super) struct Thread {
    process: usize,
    pub(super) number: i64,
    metadata: Said,
    pub(super) open: Slices,
}

/// Processes and threads by their ids as written in the trace, and the tracks that have been
/// written.
#[derive(Default)]
pub(super) struct Tracks {
    processes: Vec<Process>,
    process_numbers: HashMap<Box<[u8]>, usize>,
    pub(super) threads: Vec<Thread>,
    thread_numbers: ThreadTable,
    taken: HashSet<(usize, i64)>,
    /// For each process, the next number for an id that is not a number.
    next_numbers: HashMap<usize, i64>,
    /// Ids of the written tracks for operations and counters.
    others: HashSet<u64>,
    key: Vec<u8>,
    message: Message,
    inner: Message,
}

impl Tracks {
    /// Maximum number of ids in `others`. When it is exceeded, tracks are written again.
    const OTHERS: usize = 64 * 1024;

    /// Returns the number of an event's thread, and adds the thread if it is new. If the tid is
    /// missing or 0, the thread has the number of the process, as in Perfetto's JSON reader.
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
        let metadata = Said { name: text_id(tid), ..Said::default() };
        self.threads.push(Thread { process, number, metadata, open: Slices::default() });
        at
    }

    /// Returns the number of an event's process, and adds the process if it is new.
    pub(super) fn process(&mut self, event: &Event<'_>) -> usize {
        let pid = event.field(Field::Pid).unwrap_or_default();
        if let Some(&found) = self.process_numbers.get(pid) {
            return found;
        }
        let number = if pid.is_empty() { 0 } else { self.number_of(usize::MAX, pid) };
        let at = self.processes.len();
        let metadata = Said { name: text_id(pid), ..Said::default() };
        self.processes.push(Process { number, metadata });
        self.process_numbers.insert(pid.into(), at);
        at
    }

    /// Returns the number of an id. If the id is not a number, returns a number that no other id
    /// has.
    fn number_of(&mut self, of: usize, id: &[u8]) -> i64 {
        let number = parse(content(id)).unwrap_or_else(|| {
            let next = self.next_numbers.entry(of).or_insert(MADE);
            while self.taken.contains(&(of, *next)) {
                *next += 1;
            }
            *next
        });
        self.taken.insert((of, number));
        number
    }

    /// Returns the numbers that replace a thread's pid and tid.
    pub(super) fn ids(&self, thread: usize) -> (i64, i64) {
        let thread = &self.threads[thread];
        (self.processes[thread.process].number, thread.number)
    }

    /// Stores the metadata of a process or thread. Returns `false` for metadata of other kinds.
    pub(super) fn note(&mut self, event: &Event<'_>) -> bool {
        let Some(MetadataEvent { kind, value }) = MetadataEvent::of(event) else { return false };
        let text = || value.map(printable);
        let metadata = match kind.is_of_process() {
            true => {
                let at = self.process(event);
                &mut self.processes[at].metadata
            }
            false => {
                let at = self.thread(event);
                &mut self.threads[at].metadata
            }
        };
        match kind {
            MetadataKind::ProcessName | MetadataKind::ThreadName => {
                metadata.name = text().or(metadata.name.take())
            }
            MetadataKind::ProcessLabels => metadata.labels = text().or(metadata.labels.take()),
            MetadataKind::ProcessSortIndex | MetadataKind::ThreadSortIndex => {
                let order = value.and_then(|value| parse::<f64>(content(value)));
                metadata.order = order.map(|order| order as i64).or(metadata.order);
            }
        }
        metadata.is_written = false;
        true
    }

    /// Returns the id of a process's track. Writes the track if it has not been written yet.
    pub(super) fn of_process(&mut self, at: usize, out: &mut Packets<'_>) -> u64 {
        let uuid = 2 * at as u64 + 1;
        let Process { number, metadata } = &mut self.processes[at];
        if !std::mem::replace(&mut metadata.is_written, true) {
            let (message, inner) = (&mut self.message, &mut self.inner);
            inner.clear();
            inner.number(1, *number as i32 as u64);
            metadata.name.iter().for_each(|name| inner.field(6, name.as_bytes()));
            metadata.order.iter().for_each(|&order| inner.number(3, order as i32 as u64));
            metadata.labels.iter().for_each(|labels| inner.field(8, labels.as_bytes()));
            message.clear();
            message.number(track::UUID, uuid);
            message.field(track::PROCESS, inner.bytes());
            push(message, out);
        }
        uuid
    }

    /// Returns the id of a thread's track. Writes the track if it has not been written yet.
    pub(super) fn of_thread(&mut self, at: usize, out: &mut Packets<'_>) -> u64 {
        let uuid = 2 * at as u64 + 2;
        if self.threads[at].metadata.is_written {
            return uuid;
        }
        let process = self.threads[at].process;
        let parent = self.of_process(process, out);
        let pid = self.processes[process].number;
        let Thread { number, metadata, .. } = &mut self.threads[at];
        let (message, inner) = (&mut self.message, &mut self.inner);
        inner.clear();
        inner.number(1, pid as i32 as u64);
        inner.number(2, *number as u64);
        metadata.name.iter().for_each(|name| inner.field(5, name.as_bytes()));
        metadata.order.iter().for_each(|&order| inner.number(3, order as i32 as u64));
        metadata.is_written = true;
        message.clear();
        message.number(track::UUID, uuid);
        message.number(track::PARENT, parent);
        message.field(track::THREAD, inner.bytes());
        push(message, out);
        uuid
    }

    /// Returns the id of a track for an operation or counter, which `key` identifies. Without a
    /// process, the track is at the top level.
    pub(super) fn other(
        &mut self,
        process: Option<usize>,
        key: &[u8],
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

    /// Writes processes and threads that have metadata but no events so far.
    pub(super) fn tell_all(&mut self, out: &mut Packets<'_>) {
        for process in 0..self.processes.len() {
            self.of_process(process, out);
        }
        for thread in 0..self.threads.len() {
            self.of_thread(thread, out);
        }
    }
}

/// Returns a hash that is the same on all machines: FNV-1a with mixed bits.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let add = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325, add);
    (sum ^ (sum >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns the text of an id that is not a number.
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
