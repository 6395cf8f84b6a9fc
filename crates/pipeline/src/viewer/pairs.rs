//! B and E events of each thread, paired in the order of the output.
//!
//! An E ends the innermost B that is open on its thread and has its name and category; one without a name or category
//! ends whatever is open. So a lost E costs its own B its duration and no other. (DevTools itself has one stack for all
//! threads, and an E that does not fit costs the innermost B its duration, whatever that is.) Of more than [`SOUGHT`] that
//! are open the innermost are looked at, so that no trace takes quadratic time.

use super::changes::{Change, Changes};
use super::complete::complete;
use crate::check::hash_value;
use crate::identity::key_of;
use crate::order::Entry;
use std::collections::HashMap;
use tracemill_tokenizer::{Event, Field, fields_of};

/// Open events of a thread among which that of an E is sought.
const SOUGHT: usize = 4096;

/// A B event that waits for its end.
struct Open {
    entry: Entry,
    name: u64,
    cat: u64,
}

/// What is open on each thread.
#[derive(Default)]
pub(super) struct Pairs {
    threads: HashMap<Vec<u8>, Vec<Open>>,
}

impl Pairs {
    /// Takes a B or E event; calls `made` with the X event that an E makes of its B. `read` gives an event as it will be
    /// written.
    pub(super) fn take<E>(
        &mut self,
        entry: Entry,
        bytes: &[u8],
        changes: &mut Changes,
        read: impl FnOnce(Entry) -> Vec<u8>,
        made: impl FnOnce(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let spans = fields_of(bytes);
        let event = spans.of(bytes);
        let thread = self.threads.entry(thread_of(&event)).or_default();
        let [name, cat] = [Field::Name, Field::Cat].map(|field| event.field(field));
        if !event.is_string(Field::Ph, b"E") {
            let [name, cat] = [name, cat].map(hash_value);
            thread.push(Open { entry, name, cat });
            return Ok(());
        }
        let is =
            |value: Option<&[u8]>, open: u64| value.is_none_or(|v| hash_value(Some(v)) == open);
        let outer = thread.len().saturating_sub(SOUGHT);
        let fits = |open: &Open| is(name, open.name) && is(cat, open.cat);
        let Some(at) = thread[outer..].iter().rposition(fits) else {
            changes.one(Change::LoneEnds);
            return Ok(());
        };
        let begin = read(thread.remove(outer + at).entry);
        let (event, lost) = complete(&begin, Some(bytes));
        changes.one(Change::Pairs);
        changes.add(Change::EndKeys, lost);
        made(&event)
    }

    /// What was never ended, in the order of the output.
    pub(super) fn finish(self) -> Vec<Entry> {
        let mut open: Vec<Entry> =
            self.threads.into_values().flatten().map(|open| open.entry).collect();
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
