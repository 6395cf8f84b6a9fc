//! Reads metadata events: names, labels and sort positions of processes and threads.
//!
//! ```
//! use tracemill_trace::event::metadata::{MetadataNames, MetadataEvent, MetadataKind};
//! use tracemill_tokenizer::fields_of;
//!
//! let event = br#"{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"Compositor"}}"#;
//! let fields = fields_of(event);
//! let said = MetadataEvent::of(&fields.of(event)).expect("it names a thread");
//! assert_eq!((said.kind, said.value), (MetadataKind::ThreadName, Some(&b"\"Compositor\""[..])));
//!
//! let mut names = MetadataNames::default();
//! names.note(&fields.of(event));
//! assert_eq!(names.thread(b"1", b"2").as_deref(), Some("Compositor"));
//! assert_eq!(names.process(b"1"), None);
//! ```

use crate::json::{member, printable};
use crate::spill::hash::HashMap;
use tracemill_tokenizer::{Event, Field, string_is};

/// The fact that a metadata event states about a process or thread, by its `name`. Source: the
/// section on metadata of the *Trace Event Format* document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataKind {
    /// Name of a process: `process_name`.
    ProcessName,
    /// Text that distinguishes processes of one name, such as `GPU 0`: `process_labels`.
    ProcessLabels,
    /// Sort position of a process among all processes: `process_sort_index`.
    ProcessSortIndex,
    /// Name of a thread: `thread_name`.
    ThreadName,
    /// Sort position of a thread among the threads of its process: `thread_sort_index`.
    ThreadSortIndex,
}

impl MetadataKind {
    const ALL: [(&[u8], MetadataKind); 5] = [
        (b"process_name", MetadataKind::ProcessName),
        (b"process_labels", MetadataKind::ProcessLabels),
        (b"process_sort_index", MetadataKind::ProcessSortIndex),
        (b"thread_name", MetadataKind::ThreadName),
        (b"thread_sort_index", MetadataKind::ThreadSortIndex),
    ];

    /// Returns whether the event is about a process, not a thread.
    pub fn is_of_process(self) -> bool {
        !matches!(self, MetadataKind::ThreadName | MetadataKind::ThreadSortIndex)
    }

    /// Returns the name of the member of `args` that has the value.
    fn key(self) -> &'static [u8] {
        match self {
            MetadataKind::ProcessName | MetadataKind::ThreadName => b"name",
            MetadataKind::ProcessLabels => b"labels",
            MetadataKind::ProcessSortIndex | MetadataKind::ThreadSortIndex => b"sort_index",
        }
    }
}

/// A metadata event about a process or a thread.
#[derive(Clone, Copy, Debug)]
pub struct MetadataEvent<'e> {
    /// Kind of the event.
    pub kind: MetadataKind,
    /// Value as written; `None` if `args` lacks it.
    pub value: Option<&'e [u8]>,
}

impl<'e> MetadataEvent<'e> {
    /// Parses an event by its name, regardless of phase. Returns `None` for other names.
    pub fn of(event: &Event<'e>) -> Option<Self> {
        let is_named = |name: &[u8]| event.is_string(Field::Name, name);
        let (_, kind) = MetadataKind::ALL.into_iter().find(|(name, _)| is_named(name))?;
        let value = event.field(Field::Args).and_then(|args| member(args, kind.key()));
        Some(MetadataEvent { kind, value })
    }
}

/// An id or a name, normally as written.
type Written = Box<[u8]>;

/// Bytes of heap per table entry without its texts, including free slots and allocator overhead.
const ENTRY: usize = 240;

/// Node's name for its main thread. In traces for DevTools a second name follows, by which DevTools
/// finds the main thread of a page.
pub const NODE_MAIN: &[u8] = b"JavaScriptMainThread";

/// Sets a name and updates the byte count of texts. [`NODE_MAIN`] is never replaced.
fn insert<K: IdBytes>(all: &mut HashMap<K, Written>, id: K, name: Written, text: &mut usize) {
    if all.get(&id).is_some_and(|known| string_is(known, NODE_MAIN)) {
        return;
    }
    let of_id = id.bytes();
    *text += name.len();
    match all.insert(id, name) {
        Some(before) => *text -= before.len(),
        None => *text += of_id,
    }
}

/// A map key that counts the bytes of its text, for the memory budget.
trait IdBytes: Eq + std::hash::Hash {
    fn bytes(&self) -> usize;
}

impl IdBytes for Written {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl IdBytes for (Written, Written) {
    fn bytes(&self) -> usize {
        self.0.len() + self.1.len()
    }
}

/// Names of processes and threads by their ids. The later of two names counts, but [`NODE_MAIN`]
/// stays.
///
/// Ids are compared as bytes: `1` and `"1"` are two processes. Names are kept as written, and
/// decoded on request. Heap: see [`MetadataNames::heap`].
#[derive(Clone, Debug, Default)]
pub struct MetadataNames {
    processes: HashMap<Written, Written>,
    threads: HashMap<(Written, Written), Written>,
    labels: HashMap<Written, Written>,
    /// Total bytes of ids and names.
    text: usize,
}

impl MetadataNames {
    /// Records the fact that a metadata event states.
    pub fn note(&mut self, event: &Event<'_>) {
        self.note_by(event, |id| id.into());
    }

    /// Records the fact that a metadata event states. `id` converts the written pid and tid.
    pub fn note_by(&mut self, event: &Event<'_>, id: impl Fn(&[u8]) -> Box<[u8]>) {
        let Some(MetadataEvent { kind, value: Some(value) }) = MetadataEvent::of(event) else {
            return;
        };
        let id_of = |field| id(event.field(field).unwrap_or_default());
        match kind {
            MetadataKind::ProcessName => {
                insert(&mut self.processes, id_of(Field::Pid), value.into(), &mut self.text);
            }
            MetadataKind::ProcessLabels => {
                insert(&mut self.labels, id_of(Field::Pid), value.into(), &mut self.text);
            }
            MetadataKind::ThreadName => {
                let ids = (id_of(Field::Pid), id_of(Field::Tid));
                insert(&mut self.threads, ids, value.into(), &mut self.text);
            }
            MetadataKind::ProcessSortIndex | MetadataKind::ThreadSortIndex => {}
        }
    }

    /// Returns the names with each pid replaced by the result of `new`.
    pub fn with_pids(self, new: impl Fn(&[u8]) -> Box<[u8]>) -> Self {
        let by_pid = |names: HashMap<Written, Written>| {
            names.into_iter().map(|(pid, name)| (new(&pid), name)).collect()
        };
        let threads = self.threads.into_iter().map(|((pid, tid), name)| ((new(&pid), tid), name));
        MetadataNames {
            threads: threads.collect(),
            processes: by_pid(self.processes),
            labels: by_pid(self.labels),
            ..self
        }
    }

    /// Returns the approximate heap use in bytes, an upper bound.
    pub fn heap(&self) -> u64 {
        let count = self.processes.len() + self.threads.len() + self.labels.len();
        (self.text + count * ENTRY) as u64
    }

    /// Returns the name of a process.
    pub fn process(&self, pid: &[u8]) -> Option<String> {
        self.processes.get(pid).map(|name| printable(name))
    }

    /// Returns the `process_labels` of a process. Returns `None` if they are empty or missing.
    pub fn labels(&self, pid: &[u8]) -> Option<String> {
        self.labels.get(pid).map(|labels| printable(labels)).filter(|labels| !labels.is_empty())
    }

    /// Returns the name of a thread.
    pub fn thread(&self, pid: &[u8], tid: &[u8]) -> Option<String> {
        self.thread_value(pid, tid).map(printable)
    }

    /// Returns the name of a process, as written.
    pub fn process_value(&self, pid: &[u8]) -> Option<&[u8]> {
        self.processes.get(pid).map(|name| &**name)
    }

    /// Returns the name of a thread, as written.
    pub fn thread_value(&self, pid: &[u8], tid: &[u8]) -> Option<&[u8]> {
        self.threads.get(&(pid.into(), tid.into())).map(|name| &**name)
    }

    /// Returns the names of all processes as written, in any order.
    pub fn process_values(&self) -> impl Iterator<Item = &[u8]> {
        self.processes.values().map(|name| &**name)
    }

    /// Returns the names of all threads as written, in any order.
    pub fn thread_values(&self) -> impl Iterator<Item = &[u8]> {
        self.threads.values().map(|name| &**name)
    }

    /// Adds the names of later events.
    pub fn append(&mut self, later: MetadataNames) {
        for (names, more) in
            [(&mut self.processes, later.processes), (&mut self.labels, later.labels)]
        {
            more.into_iter().for_each(|(id, name)| insert(names, id, name, &mut self.text));
        }
        let more = later.threads.into_iter();
        more.for_each(|(ids, name)| insert(&mut self.threads, ids, name, &mut self.text));
    }
}
