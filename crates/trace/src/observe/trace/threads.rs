//! The threads of a trace, and what they are called.
//!
//! A thread is a pid and a tid as they are written: `7` and `"7"` are two, and so are `7` and `7.0`. Names come from metadata events wherever those
//! stand, so threads get theirs when all is read.

use crate::event::metadata::MetadataNames;
use crate::event::thread_table::ThreadTable;
use crate::observe::{EventRef, Look, Observer, SealedChunk, Starter};
use crate::run::error::Error;
use tracemill_tokenizer::{Event, Field};

/// A thread that has events other than metadata.
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

/// Threads in the order of their first events.
#[derive(Default)]
pub(super) struct ThreadList {
    all: Vec<Thread>,
    table: ThreadTable,
    names: MetadataNames,
}

impl ThreadList {
    /// All of them.
    pub(super) fn all(&self) -> &[Thread] {
        &self.all
    }

    #[inline]
    fn number(&mut self, pid: &[u8], tid: &[u8]) -> usize {
        let number = self.table.number(pid, tid);
        if number == self.all.len() {
            let (pid, tid) = (pid.into(), tid.into());
            self.all.push(Thread { pid, tid, process_name: None, name: None, events: 0 });
        }
        number
    }

    /// The number of a thread, by its ids as written.
    pub(super) fn find(&self, pid: &[u8], tid: &[u8]) -> Option<usize> {
        self.table.find(pid, tid)
    }

    /// Gives every thread its name.
    pub(super) fn finish(&mut self) {
        for thread in &mut self.all {
            thread.process_name = self.names.process(&thread.pid);
            thread.name = self.names.thread(&thread.pid, &thread.tid);
        }
    }
}

impl Look for ThreadList {
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        if at.is_metadata {
            self.names.note(event);
            return true;
        }
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default());
        let number = self.number(pid, tid);
        self.all[number].events += 1;
        true
    }
}

impl Observer for ThreadList {
    type Chunk = ThreadList;

    fn starter(&self) -> Starter<ThreadList> {
        Box::new(|_| ThreadList::default())
    }

    fn merge(&mut self, found: ThreadList, _: &SealedChunk<'_>) -> Result<(), Error> {
        for thread in found.all {
            let number = self.number(&thread.pid, &thread.tid);
            self.all[number].events += thread.events;
        }
        self.names.append(found.names);
        Ok(())
    }
}
