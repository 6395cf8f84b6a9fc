//! A thread, and what processes and threads are called.

use super::reason::Reason;
use tracemill_core::hash::HashMap;
use tracemill_tokenizer::{Event, Field, members, string_is, unescape};

/// A thread. `10` and `"10"` are one id, as in [`crate::IdSet`].
pub(super) struct Thread {
    pub(super) pid: Box<[u8]>,
    pub(super) tid: Box<[u8]>,
    /// What its ids are judged.
    pub(super) by_ids: Reason,
}

/// pid and tid.
pub(super) type Ids = (Box<[u8]>, Box<[u8]>);

/// Names of processes and threads, by ids without quotes, escapes resolved; of two the later one counts.
#[derive(Default)]
pub(super) struct Names {
    pub(super) processes: HashMap<Box<[u8]>, Box<[u8]>>,
    pub(super) threads: HashMap<Ids, Box<[u8]>>,
}

impl Names {
    /// Looks at a metadata event.
    pub(super) fn note(&mut self, event: &Event<'_>) {
        let process = event.is_string(Field::Name, b"process_name");
        if !process && !event.is_string(Field::Name, b"thread_name") {
            return;
        }
        let args = event.field(Field::Args).unwrap_or_default();
        let Some((_, name)) = members(args).find(|(key, _)| string_is(key, b"name")) else {
            return;
        };
        let text = |value| Box::<[u8]>::from(plain(value, &mut Vec::new()));
        let pid = text(event.field(Field::Pid).unwrap_or_default());
        let name = text(name);
        if process {
            self.processes.insert(pid, name);
        } else {
            let tid = text(event.field(Field::Tid).unwrap_or_default());
            self.threads.insert((pid, tid), name);
        }
    }

    /// Takes over what a later part has.
    pub(super) fn append(&mut self, later: Names) {
        self.processes.extend(later.processes);
        self.threads.extend(later.threads);
    }
}

/// As `text_of`, for a value.
pub(super) fn plain<'t>(value: &'t [u8], scratch: &'t mut Vec<u8>) -> &'t [u8] {
    match value {
        [b'"', content @ .., b'"'] if content.contains(&b'\\') => {
            scratch.clear();
            unescape(content, scratch);
            scratch
        }
        [b'"', content @ .., b'"'] => content,
        value => value,
    }
}
