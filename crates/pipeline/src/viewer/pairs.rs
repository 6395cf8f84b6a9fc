//! B and E events of each thread, paired in the order of the output.
//!
//! Which B an E ends is [`DevtoolsBegins`]'s to say: so a lost E costs its own B its duration and no other.

use super::changes::{Change, Changes};
use super::complete::complete;
use crate::config::OPEN;
use crate::identity::key_of;
use crate::key_hash::hash_value;
use tracemill_core::entry::Entry;
use tracemill_core::error::Error;
use tracemill_core::hash::HashMap;
use tracemill_core::limits::Quota;
use tracemill_core::pairing::DevtoolsBegins;
use tracemill_tokenizer::{Event, Field, fields_of};

/// What is open on each thread.
pub(super) struct Pairs {
    threads: HashMap<Vec<u8>, DevtoolsBegins<Entry>>,
    /// Bytes of heap of all of them.
    heap: u64,
    quota: Quota,
}

impl Pairs {
    pub(super) fn new(quota: Quota) -> Self {
        Pairs { threads: HashMap::default(), heap: 0, quota }
    }

    /// Takes a B or E event; calls `made` with the X event that an E makes of its B. `read` gives an event as it will be
    /// written.
    pub(super) fn take(
        &mut self,
        entry: Entry,
        bytes: &[u8],
        changes: &mut Changes,
        read: impl FnOnce(Entry) -> Vec<u8>,
        made: impl FnOnce(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let spans = fields_of(bytes);
        let event = spans.of(bytes);
        let thread = self.threads.entry(thread_of(&event)).or_default();
        let [name, cat] = [Field::Name, Field::Cat].map(|field| event.field(field));
        if event.phase() != b'E' {
            let before = thread.heap();
            thread.begin(hash_value(name), hash_value(cat), entry);
            self.heap += thread.heap() - before;
            return self.quota.check(self.heap, OPEN);
        }
        let [name, cat] = [name, cat].map(|value| value.map(|value| hash_value(Some(value))));
        let Some(begin) = thread.end(name, cat) else {
            changes.one(Change::LoneEnds);
            return Ok(());
        };
        let begin = read(begin);
        let (event, lost) = complete(&begin, Some(bytes));
        changes.one(Change::Pairs);
        changes.add(Change::EndKeys, lost);
        made(&event)
    }

    /// What was never ended, in the order of the output.
    pub(super) fn finish(self) -> Vec<Entry> {
        let mut open: Vec<Entry> = self.threads.values().flat_map(DevtoolsBegins::values).collect();
        open.sort_unstable();
        open
    }
}

/// pid and tid, whatever their spelling.
fn thread_of(event: &Event<'_>) -> Vec<u8> {
    let mut key = key_of(event.field(Field::Pid));
    key.extend(key_of(event.field(Field::Tid)));
    key
}
