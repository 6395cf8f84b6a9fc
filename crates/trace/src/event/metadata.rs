//! What metadata events say of processes and threads: what they are called, and where they stand among others.
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

/// What a metadata event tells of a process or a thread, by its `name`. Source: the section on metadata of the *Trace Event Format* document. Others
/// (`process_uptime_seconds`, `num_cpus` …) tell nothing of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataKind {
    /// `process_name`
    ProcessName,
    /// `process_labels`: what tells processes of one name apart, such as `GPU 0`.
    ProcessLabels,
    /// `process_sort_index`
    ProcessSortIndex,
    /// `thread_name`
    ThreadName,
    /// `thread_sort_index`
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

    /// Whether it is said of a process, not of a thread.
    pub fn is_of_process(self) -> bool {
        !matches!(self, MetadataKind::ThreadName | MetadataKind::ThreadSortIndex)
    }

    /// The member of `args` that says it.
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
    /// Of what.
    pub kind: MetadataKind,
    /// The value, as written; `None` if `args` do not have it.
    pub value: Option<&'e [u8]>,
}

impl<'e> MetadataEvent<'e> {
    /// What an event says, by its name; `None` for all other names. Its phase is not looked at.
    pub fn of(event: &Event<'e>) -> Option<Self> {
        let is_named = |name: &[u8]| event.is_string(Field::Name, name);
        let (_, kind) = MetadataKind::ALL.into_iter().find(|(name, _)| is_named(name))?;
        let value = event.field(Field::Args).and_then(|args| member(args, kind.key()));
        Some(MetadataEvent { kind, value })
    }
}

/// An id or a name, as written unless it says otherwise.
type Written = Box<[u8]>;

/// Bytes of an entry of a table beside its texts: what stands in the table, which is half full where it has just doubled, and
/// what the allocator keeps for three texts.
const ENTRY: usize = 240;

/// The name that Node gives its main thread. A trace for DevTools has another name for it behind this one, by which DevTools finds
/// the main thread of a page.
pub const NODE_MAIN: &[u8] = b"JavaScriptMainThread";

/// Puts a name in the place of the one there was, and counts the bytes of the texts. [`NODE_MAIN`] stays.
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

/// What has so many bytes.
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

/// What processes and threads are called, by their ids; of two names the later one counts, but [`NODE_MAIN`] stays.
///
/// Ids are compared as bytes: `1` and `"1"` are two processes. Names are kept as written, and decoded when they are asked for. Heap: see [`MetadataNames::heap`].
#[derive(Clone, Debug, Default)]
pub struct MetadataNames {
    /// Names by pid.
    processes: HashMap<Written, Written>,
    /// Names by pid and tid.
    threads: HashMap<(Written, Written), Written>,
    /// `process_labels` by pid.
    labels: HashMap<Written, Written>,
    /// Bytes of the ids and names.
    text: usize,
}

impl MetadataNames {
    /// Takes what a metadata event says; ids are kept as they are written.
    pub fn note(&mut self, event: &Event<'_>) {
        self.note_by(event, |id| id.into());
    }

    /// As [`MetadataNames::note`], with ids as `id` makes them of those that are written.
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

    /// Returns the same names with other pids.
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

    /// Bytes of heap, about: more than there are, since tables that double have room for more.
    pub fn heap(&self) -> u64 {
        let count = self.processes.len() + self.threads.len() + self.labels.len();
        (self.text + count * ENTRY) as u64
    }

    /// The name of a process.
    pub fn process(&self, pid: &[u8]) -> Option<String> {
        self.processes.get(pid).map(|name| printable(name))
    }

    /// What `process_labels` say of a process; `None` for empty ones.
    pub fn labels(&self, pid: &[u8]) -> Option<String> {
        self.labels.get(pid).map(|labels| printable(labels)).filter(|labels| !labels.is_empty())
    }

    /// The name of a thread.
    pub fn thread(&self, pid: &[u8], tid: &[u8]) -> Option<String> {
        self.thread_value(pid, tid).map(printable)
    }

    /// The name of a process, as written.
    pub fn process_value(&self, pid: &[u8]) -> Option<&[u8]> {
        self.processes.get(pid).map(|name| &**name)
    }

    /// The name of a thread, as written.
    pub fn thread_value(&self, pid: &[u8], tid: &[u8]) -> Option<&[u8]> {
        self.threads.get(&(pid.into(), tid.into())).map(|name| &**name)
    }

    /// The names of all processes, as written, in any order.
    pub fn process_values(&self) -> impl Iterator<Item = &[u8]> {
        self.processes.values().map(|name| &**name)
    }

    /// The names of all threads, as written, in any order.
    pub fn thread_values(&self) -> impl Iterator<Item = &[u8]> {
        self.threads.values().map(|name| &**name)
    }

    /// Takes over what later events say.
    pub fn append(&mut self, later: MetadataNames) {
        for (own, more) in
            [(&mut self.processes, later.processes), (&mut self.labels, later.labels)]
        {
            more.into_iter().for_each(|(id, name)| insert(own, id, name, &mut self.text));
        }
        let more = later.threads.into_iter();
        more.for_each(|(ids, name)| insert(&mut self.threads, ids, name, &mut self.text));
    }
}
