//! Pairs the B and E events of each thread in output order.
//!
//! [`DevtoolsBegins`] decides which B an E ends, so that a missing E affects only its own B. Pairs
//! that end at the same time are returned in the order of their B events. If they also begin
//! together, the pair with the first B is the outer pair.

use super::changes::{Change, Changes};
use super::complete::complete;
use tracemill_join::config::OPEN;
use tracemill_join::identity::key_of;
use tracemill_tokenizer::{Event, Field, fields_of};
use tracemill_trace::event::hash_value;
use tracemill_trace::event::pairing::DevtoolsBegins;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::store::entry::Entry;

type NumberedBegin = (u64, Entry);

/// The X event of a pair, and the number of its B event.
struct EndedPair {
    begin: u64,
    event: Vec<u8>,
}

/// The open B events of all threads.
pub(super) struct ViewerPairs {
    threads: HashMap<Vec<u8>, DevtoolsBegins<NumberedBegin>>,
    /// Heap bytes of the open B events and the ended pairs.
    heap: u64,
    begins: u64,
    /// Pairs that end at `last_end`.
    ended: Vec<EndedPair>,
    last_end: i64,
    quota: Quota,
}

impl ViewerPairs {
    pub(super) fn new(quota: Quota) -> Self {
        let (threads, ended) = (HashMap::default(), Vec::new());
        ViewerPairs { threads, heap: 0, begins: 0, ended, last_end: i64::MIN, quota }
    }

    /// Opens a B event, or closes it with its E. Passes the X events of earlier pairs to `emit`;
    /// `read` returns an event as it will be written.
    pub(super) fn take(
        &mut self,
        entry: Entry,
        bytes: &[u8],
        changes: &mut Changes,
        read: impl FnOnce(Entry) -> Vec<u8>,
        emit: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if entry.time != self.last_end {
            self.give_out(emit)?;
            self.last_end = entry.time;
        }
        let spans = fields_of(bytes);
        let event = spans.of(bytes);
        let thread = self.threads.entry(thread_of(&event)).or_default();
        let [name, cat] = [Field::Name, Field::Cat].map(|field| event.field(field));
        if event.phase() != b'E' {
            let before = thread.heap();
            thread.begin(hash_value(name), hash_value(cat), (self.begins, entry));
            self.begins += 1;
            self.heap += thread.heap() - before;
            return self.quota.check(self.heap, OPEN);
        }
        let [name, cat] = [name, cat].map(|value| value.map(|value| hash_value(Some(value))));
        let Some((number, begin)) = thread.end(name, cat) else {
            changes.one(Change::LoneEnds);
            return Ok(());
        };
        let (event, lost) = complete(&read(begin), Some(bytes));
        changes.one(Change::Pairs);
        changes.add(Change::EndKeys, lost);
        self.heap += event.len() as u64;
        self.ended.push(EndedPair { begin: number, event });
        self.quota.check(self.heap, OPEN)
    }

    /// Passes the ended pairs to `emit`.
    fn give_out(&mut self, emit: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        self.ended.sort_unstable_by_key(|pair| pair.begin);
        self.ended.iter().map(|pair| &*pair.event).try_for_each(emit)?;
        self.heap -= self.ended.drain(..).map(|pair| pair.event.len() as u64).sum::<u64>();
        Ok(())
    }

    /// Passes the last pairs to `emit`. Returns the B events without an E, in output order.
    pub(super) fn finish(
        mut self,
        emit: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<Vec<Entry>, Error> {
        self.give_out(emit)?;
        let mut open: Vec<Entry> = self
            .threads
            .values()
            .flat_map(DevtoolsBegins::values)
            .map(|(_, begin)| begin)
            .collect();
        open.sort_unstable();
        Ok(open)
    }
}

/// Returns a key of pid and tid that does not depend on how they are written.
fn thread_of(event: &Event<'_>) -> Vec<u8> {
    let mut key = key_of(event.field(Field::Pid));
    key.extend(key_of(event.field(Field::Tid)));
    key
}
