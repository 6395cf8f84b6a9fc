//! What threads and processes are called.

use super::key::{Written, printable};
use tracemill_core::hash::HashMap;
use tracemill_tokenizer::{Event, Field, string_is};

/// Names of threads and processes, by (pid, tid) as written.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By pid, all as written.
    pub processes: HashMap<Written, Written>,
    /// By pid and tid, all as written.
    pub threads: HashMap<(Written, Written), Written>,
    /// What tells processes of one name apart, such as `GPU 0` (`process_labels`).
    labels: HashMap<Written, Written>,
}

impl Names {
    /// Looks at a metadata event; of two names the later one counts.
    pub fn note(&mut self, event: &Event<'_>) {
        let process = event.is_string(Field::Name, b"process_name");
        let labels = !process && event.is_string(Field::Name, b"process_labels");
        if !process && !labels && !event.is_string(Field::Name, b"thread_name") {
            return;
        }
        let Some(args) = event.field(Field::Args) else { return };
        let mut members = tracemill_tokenizer::members(args);
        let wanted: &[u8] = if labels { b"labels" } else { b"name" };
        let Some((_, name)) = members.find(|(key, _)| string_is(key, wanted)) else { return };
        let field = |field| Box::<[u8]>::from(event.field(field).unwrap_or_default());
        if labels {
            self.labels.insert(field(Field::Pid), name.into());
        } else if process {
            self.processes.insert(field(Field::Pid), name.into());
        } else {
            self.threads.insert((field(Field::Pid), field(Field::Tid)), name.into());
        }
    }

    /// The name of a process, given its pid as written.
    pub fn process(&self, pid: &[u8]) -> Option<String> {
        self.processes.get(pid).map(|name| printable(name))
    }

    /// What its process_labels say of a process, given its pid as written; `None` for empty ones.
    pub fn labels(&self, pid: &[u8]) -> Option<String> {
        self.labels.get(pid).map(|labels| printable(labels)).filter(|labels| !labels.is_empty())
    }

    /// The name of a thread, given its pid and tid as written.
    pub fn thread(&self, pid: &[u8], tid: &[u8]) -> Option<String> {
        self.threads.get(&(pid.into(), tid.into())).map(|name| printable(name))
    }

    /// Takes over what later events say: the last name counts.
    pub fn append(&mut self, later: Names) {
        self.processes.extend(later.processes);
        self.threads.extend(later.threads);
        self.labels.extend(later.labels);
    }
}
