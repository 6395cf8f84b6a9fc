//! Callers across asynchronous tasks.
//!
//! ```text
//!   entry ─ around it ─ … ─ outermost ┐
//!     └ or an entry around it is the start of a task, scheduled by
//!   node ─ around it ─ … ─ outermost ┐
//!     └ …                             └─> next callers
//! ```

use crate::entries::Entry;
use tracemill_trace::spill::hash::HashMap;

/// Identifies an entry of a flame chart: thread, start, kind, details and number.
type EntryKey = (u32, u64, u32, u32, u64);

fn key(thread: u32, entry: &Entry) -> EntryKey {
    (thread, entry.ts.to_bits(), entry.kind, entry.details, entry.number())
}

/// An entry that scheduled a task, or an entry around one.
#[derive(Clone, Copy, Debug)]
struct Node {
    entry: Entry,
    thread: u32,
    /// Number of the entry around it.
    parent: Option<u32>,
}

/// The schedulers of asynchronous tasks.
#[derive(Clone, Debug, Default)]
pub struct AsyncCallers {
    nodes: Vec<Node>,
    /// The scheduler of each entry that begins a task.
    schedulers: HashMap<EntryKey, u32>,
}

impl AsyncCallers {
    /// Adds an entry that scheduled a task, or an entry around one. Returns its number. `parent` is
    /// the number of the entry around it.
    pub fn add(&mut self, thread: usize, entry: Entry, parent: Option<u32>) -> u32 {
        self.nodes.push(Node { entry, thread: thread as u32, parent });
        self.nodes.len() as u32 - 1
    }

    /// Adds the scheduler of an entry. The scheduler begins before the entry.
    pub fn link(&mut self, thread: usize, entry: &Entry, scheduler: u32) {
        self.schedulers.insert(key(thread as u32, entry), scheduler);
    }

    /// Returns the heap use in bytes.
    pub fn heap(&self) -> u64 {
        let schedulers = self.schedulers.capacity() * (size_of::<(EntryKey, u32)>() + 1);
        (self.nodes.capacity() * size_of::<Node>() + schedulers) as u64
    }

    /// Returns the entries that scheduled an entry, innermost first. `around` iterates over the
    /// entry and the entries around it, innermost first. The callers end at a call on another
    /// thread, whose functions differ.
    pub(crate) fn callers<'c>(
        &'c self,
        thread: u32,
        mut around: impl Iterator<Item = &'c Entry>,
    ) -> impl Iterator<Item = Entry> + 'c {
        let scheduler = |thread, entry: &Entry| self.schedulers.get(&key(thread, entry)).copied();
        let mut next = around.find_map(|entry| scheduler(thread, entry));
        // The scheduler of the current chain, of the innermost entry that has one.
        let mut beyond = None;
        std::iter::from_fn(move || {
            let node = &self.nodes[next.take()? as usize];
            if node.entry.is_call() && node.thread != thread {
                return None;
            }
            beyond = beyond.or_else(|| scheduler(node.thread, &node.entry));
            next = node.parent.or_else(|| beyond.take());
            Some(node.entry)
        })
    }
}
