//! Collects the threads of a trace and their names.
//!
//! A thread is a pid and a tid as written: `7`, `"7"` and `7.0` are three different ids. Names are
//! assigned after the scan, because metadata events may be anywhere.

use crate::event::metadata::MetadataNames;
use crate::event::thread_table::ThreadTable;
use crate::observe::{EventRef, Look, Observer, SealedChunk, Starter};
use crate::run::error::Error;
use tracemill_tokenizer::{Event, Field};

/// A thread that has events other than metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Pid as written: a number or a quoted string; empty if the events have no pid.
    pub pid: Box<[u8]>,
    /// Tid as written; empty if the events have no tid.
    pub tid: Box<[u8]>,
    /// Name of the process; the last metadata event with a name counts.
    pub process_name: Option<String>,
    /// Name of the thread; the last metadata event with a name counts.
    pub name: Option<String>,
    /// Number of events of the thread, without metadata.
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
    /// Returns all threads.
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

    /// Returns the index of the thread with these ids, as written.
    pub(super) fn find(&self, pid: &[u8], tid: &[u8]) -> Option<usize> {
        self.table.find(pid, tid)
    }

    /// Sets the names of all threads.
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
