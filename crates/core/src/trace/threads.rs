//! The threads of a trace, and what they are called.

use crate::hash::HashMap;
use crate::json::member;
use tracemill_tokenizer::{Event, Field, to_text, unescape};

/// A thread that has events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its process, as written: a number or a string in quotes; empty if its events have none.
    pub pid: Box<[u8]>,
    /// The thread, as written; empty if its events have none.
    pub tid: Box<[u8]>,
    /// What its process is called, if that is said: the last name counts.
    pub process_name: Option<String>,
    /// What it is called, if that is said: the last name counts.
    pub name: Option<String>,
    /// Its events, less metadata.
    pub events: u64,
}

/// The content of a string; anything else as it is written.
fn plain(value: &[u8]) -> String {
    match value {
        [b'"', content @ .., b'"'] => {
            let mut text = Vec::new();
            unescape(content, &mut text);
            to_text(&text)
        }
        _ => to_text(value),
    }
}

/// pid and tid, as written.
type Ids = (Box<[u8]>, Box<[u8]>);

/// Threads in the order of their first events.
#[derive(Default)]
pub(super) struct Threads {
    all: Vec<Thread>,
    numbers: HashMap<Ids, usize>,
    /// The thread of the event before: most often that of the next.
    last: usize,
    processes: HashMap<Box<[u8]>, String>,
    names: HashMap<Ids, String>,
}

impl Threads {
    /// All of them.
    pub(super) fn all(&self) -> &[Thread] {
        &self.all
    }

    #[inline]
    pub(super) fn note(&mut self, event: &Event<'_>) {
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default());
        if event.is_metadata() {
            return self.note_name(event, pid, tid);
        }
        if let Some(last) = self.all.get_mut(self.last)
            && *last.pid == *pid
            && *last.tid == *tid
        {
            last.events += 1;
            return;
        }
        self.last = self.number(pid.into(), tid.into());
        self.all[self.last].events += 1;
    }

    fn number(&mut self, pid: Box<[u8]>, tid: Box<[u8]>) -> usize {
        let ids = (pid, tid);
        if let Some(&number) = self.numbers.get(&ids) {
            return number;
        }
        let number = self.all.len();
        let (pid, tid) = ids.clone();
        self.all.push(Thread { pid, tid, process_name: None, name: None, events: 0 });
        self.numbers.insert(ids, number);
        number
    }

    fn note_name(&mut self, event: &Event<'_>, pid: &[u8], tid: &[u8]) {
        let of_process = event.is_string(Field::Name, b"process_name");
        if !of_process && !event.is_string(Field::Name, b"thread_name") {
            return;
        }
        let args = event.field(Field::Args).unwrap_or_default();
        let Some(name) = member(args, b"name").map(plain) else { return };
        if of_process {
            self.processes.insert(pid.into(), name);
        } else {
            self.names.insert((pid.into(), tid.into()), name);
        }
    }

    /// Takes over what a later part has.
    pub(super) fn append(&mut self, later: Threads) {
        for thread in later.all {
            let number = self.number(thread.pid, thread.tid);
            self.all[number].events += thread.events;
        }
        #[expect(clippy::iter_over_hash_type, reason = "each name is of a process of its own")]
        for (pid, name) in later.processes {
            self.processes.insert(pid, name);
        }
        #[expect(clippy::iter_over_hash_type, reason = "each name is of a thread of its own")]
        for (ids, name) in later.names {
            self.names.insert(ids, name);
        }
    }

    /// Gives every thread its name.
    pub(super) fn finish(&mut self) {
        for thread in &mut self.all {
            thread.process_name = self.processes.get(&thread.pid).cloned();
            let ids = (thread.pid.clone(), thread.tid.clone());
            thread.name = self.names.get(&ids).cloned();
        }
    }
}
