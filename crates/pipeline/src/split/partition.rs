//! Partitions, to which events are assigned during the scan.
//!
//! | partition | content | key |
//! |---|---|---|
//! | `Thread` | events of a thread (and category) | pid, tid, category |
//! | `Whole` | all events, if the whole trace is cut | |
//! | `Begins`, `Ends` | copies of timed B and E events of a thread, if parts are cut | pid, tid |
//! | `Pages` | copies of events by which DevTools knows pages and workers of a process | pid |
//! | `Chunks` | `ProfileChunk` events of a stream, from any thread | key of the stream |
//! | `ThreadMetadata`, `ProcessMetadata` | metadata events (`thread_…`; all others) | pid, tid; pid |
//!
//! Ids are equal if their types and values are equal: 1 equals 1.0, but not "1". The scan compares
//! ids as written, without decoding. Later the partitions of all chunks are joined by value.

use tracemill_cpuprofile::{StreamKey, push_canonical};
use tracemill_tokenizer::unescape;
use tracemill_trace::json::printable;
use tracemill_trace::spill::hash::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum PartitionKind {
    Thread,
    Whole,
    Begins,
    Ends,
    Pages,
    Chunks,
    ThreadMetadata,
    ProcessMetadata,
}

/// The ids of a thread as written; empty if missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RawThread<'e> {
    pub(super) pid: &'e [u8],
    pub(super) tid: &'e [u8],
    /// The category up to the first comma, with its opening quote; empty if partitions ignore
    /// categories.
    pub(super) cat: &'e [u8],
}

/// A partition and its statistics.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    pub(super) kind: PartitionKind,
    pub(super) pid: Box<[u8]>,
    pub(super) tid: Box<[u8]>,
    pub(super) cat: Box<[u8]>,
    /// The key of the stream, for `PartitionKind::Chunks`.
    pub(super) stream: StreamKey,
    pub(super) events: u64,
    pub(super) bytes: u64,
    /// Minimum and maximum time of the thread's events.
    pub(super) span: Option<(i64, i64)>,
    /// Whether the thread has events without a time.
    pub(super) untimed: bool,
}

impl Partition {
    pub(super) fn new(kind: PartitionKind, ids: RawThread<'_>, stream: StreamKey) -> Self {
        Partition {
            kind,
            pid: ids.pid.into(),
            tid: ids.tid.into(),
            cat: ids.cat.into(),
            stream,
            events: 0,
            bytes: 0,
            span: None,
            untimed: false,
        }
    }

    pub(super) fn ids(&self) -> RawThread<'_> {
        RawThread { pid: &self.pid, tid: &self.tid, cat: &self.cat }
    }

    /// Returns the approximate heap bytes, including the key and a share of the plan.
    pub(super) fn heap(&self) -> u64 {
        let text = self.pid.len() + self.tid.len() + self.cat.len() + self.stream.len();
        (2 * size_of::<Partition>() + 2 * text + 160) as u64
    }

    /// Returns a key that is unique to equal partitions.
    pub(super) fn key(&self) -> Vec<u8> {
        let mut key = vec![self.kind as u8];
        match self.kind {
            PartitionKind::Chunks => key.extend_from_slice(&self.stream),
            PartitionKind::Whole => {}
            PartitionKind::ProcessMetadata | PartitionKind::Pages => {
                push_canonical(some(&self.pid), &mut key)
            }
            _ => {
                key.extend(self.thread_key());
                key.extend(self.category_key());
            }
        }
        key
    }

    /// Returns whether the events are in another partition too.
    pub(super) fn is_copy(&self) -> bool {
        matches!(self.kind, PartitionKind::Begins | PartitionKind::Ends | PartitionKind::Pages)
    }

    pub(super) fn process_key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        push_canonical(some(&self.pid), &mut key);
        key
    }

    pub(super) fn thread_key(&self) -> Vec<u8> {
        let mut key = self.process_key();
        push_canonical(some(&self.tid), &mut key);
        key
    }

    pub(super) fn category_key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        match first_category(&self.cat) {
            Some(text) => {
                key.push(b'"');
                key.extend(text);
            }
            None => push_canonical(some(&self.cat), &mut key),
        }
        key
    }

    /// Returns the category for display.
    pub(super) fn category(&self) -> String {
        match first_category(&self.cat) {
            Some(text) => String::from_utf8_lossy(&text).into_owned(),
            None => printable(&self.cat),
        }
    }

    #[inline]
    pub(super) fn count(&mut self, bytes: usize) {
        self.events += 1;
        self.bytes += bytes as u64;
    }

    #[inline]
    pub(super) fn note_time(&mut self, time: Option<i64>) {
        let Some(time) = time else {
            self.untimed = true;
            return;
        };
        let (first, last) = self.span.unwrap_or((time, time));
        self.span = Some((first.min(time), last.max(time)));
    }

    /// Adds the statistics of the partition in a later chunk.
    pub(super) fn append(&mut self, later: &Partition) {
        self.events += later.events;
        self.bytes += later.bytes;
        self.untimed |= later.untimed;
        self.span = match (self.span, later.span) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (a, b) => a.or(b),
        };
    }
}

fn some(value: &[u8]) -> Option<&[u8]> {
    (!value.is_empty()).then_some(value)
}

/// Returns the text of a category list up to the first raw comma, or another value unchanged.
pub(super) fn category_of(value: &[u8]) -> &[u8] {
    match value {
        [b'"', content @ .., b'"'] => {
            let end = content.iter().position(|&b| b == b',').unwrap_or(content.len());
            &value[..end + 1]
        }
        _ => value,
    }
}

/// Returns the first category of a list, decoded, or `None` if the value is not a string.
fn first_category(cat: &[u8]) -> Option<Vec<u8>> {
    let content = cat.strip_prefix(b"\"")?;
    let mut text = Vec::new();
    unescape(content, &mut text);
    // a comma may be escaped
    let end = text.iter().position(|&b| b == b',').unwrap_or(text.len());
    text.truncate(end);
    Some(text)
}

/// Size of the cache of recent partitions. Neighboring events mostly belong to a few threads.
const RECENT: usize = 64;

/// The partitions of a chunk, by ids as written.
pub(super) struct Partitions {
    pub(super) all: Vec<Partition>,
    numbers: HashMap<Vec<u8>, u32>,
    recent: [u32; RECENT],
    scratch: Vec<u8>,
}

impl Default for Partitions {
    fn default() -> Self {
        Partitions {
            all: Vec::new(),
            numbers: HashMap::default(),
            recent: [0; RECENT],
            scratch: Vec::new(),
        }
    }
}

impl Partitions {
    /// Returns the partition of a thread. Costs one comparison of ids on a cache hit.
    #[inline]
    pub(super) fn thread(&mut self, ids: RawThread<'_>) -> u32 {
        let slot = slot_of(ids);
        let recent = self.recent[slot];
        if let Some(partition) = self.all.get(recent as usize)
            && partition.kind == PartitionKind::Thread
            && same(&partition.pid, ids.pid)
            && same(&partition.tid, ids.tid)
            && same(&partition.cat, ids.cat)
        {
            return recent;
        }
        let partition = self.partition(PartitionKind::Thread, ids);
        self.recent[slot] = partition;
        partition
    }

    /// Returns the partition of any kind except `Chunks`.
    pub(super) fn partition(&mut self, kind: PartitionKind, ids: RawThread<'_>) -> u32 {
        self.scratch.clear();
        self.scratch.push(kind as u8);
        for id in [ids.pid, ids.tid, ids.cat] {
            self.scratch.extend_from_slice(&(id.len() as u32).to_le_bytes());
            self.scratch.extend_from_slice(id);
        }
        match self.numbers.get(&self.scratch) {
            Some(&number) => number,
            None => self.add(Partition::new(kind, ids, Vec::new())),
        }
    }

    /// Returns the partition of a stream; `ids` are those of one of its chunks.
    pub(super) fn chunks(&mut self, stream: StreamKey, ids: RawThread<'_>) -> u32 {
        self.scratch.clear();
        self.scratch.push(PartitionKind::Chunks as u8);
        self.scratch.extend_from_slice(&stream);
        match self.numbers.get(&self.scratch) {
            Some(&number) => number,
            None => self.add(Partition::new(PartitionKind::Chunks, ids, stream)),
        }
    }

    fn add(&mut self, partition: Partition) -> u32 {
        let number = self.all.len() as u32;
        self.numbers.insert(self.scratch.clone(), number);
        self.all.push(partition);
        number
    }
}

/// Compares two short values without a function call.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// Returns the cache slot of a thread. The slot depends on the last bytes of each id, because these
/// differ most.
#[inline]
fn slot_of(ids: RawThread<'_>) -> usize {
    let tail = |id: &[u8]| {
        let from = id.len().saturating_sub(4);
        id[from..].iter().fold(id.len() as u32, |hash, &byte| hash << 8 ^ u32::from(byte))
    };
    let hash = (tail(ids.pid).wrapping_mul(31) ^ tail(ids.tid)).wrapping_mul(31) ^ tail(ids.cat);
    (hash.wrapping_mul(0x9E37_79B1) >> 26) as usize % RECENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_identify_threads() {
        let mut partitions = Partitions::default();
        let ids = |pid: &'static str, tid: &'static str| RawThread {
            pid: pid.as_bytes(),
            tid: tid.as_bytes(),
            cat: b"",
        };
        let all: Vec<RawThread<'_>> = (0..3)
            .flat_map(|_| [ids("1", "12"), ids("11", "2"), ids("", "1"), ids("1", "")])
            .collect();
        let numbers: Vec<u32> = all.iter().map(|&ids| partitions.thread(ids)).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
    }

    #[test]
    fn ids_are_equal_by_value_and_type() {
        let key = |pid: &str| {
            let ids = RawThread { pid: pid.as_bytes(), ..RawThread::default() };
            Partition::new(PartitionKind::Thread, ids, Vec::new()).key()
        };
        assert_eq!(key("1"), key("1.0"));
        assert_eq!(key("\"a\""), key("\"\\u0061\""));
        assert_ne!(key("1"), key("\"1\""));
        assert_ne!(key(""), key("\"\""));
    }

    #[test]
    fn category_of_a_list_is_its_first_one() {
        let category = |cat: &str| {
            let ids = RawThread { cat: category_of(cat.as_bytes()), ..RawThread::default() };
            Partition::new(PartitionKind::Thread, ids, Vec::new()).category()
        };
        for (cat, first) in
            [("\"a,b\"", "a"), ("\"a\\u002cb\"", "a"), ("\"\"", ""), ("\",a\"", ""), ("5", "5")]
        {
            assert_eq!(category(cat), first, "{cat}");
        }
    }
}
