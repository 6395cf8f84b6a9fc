//! B and E events of each thread, paired in the order of the output.
//!
//! Which B an E ends is [`DevtoolsBegins`]'s to say: so a lost E costs its own B its duration and no other. Pairs that end
//! at one time are given out in the order of their B events: where they also begin at one time, the first B is the outer.

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

/// A B event: its number among all.
type NumberedBegin = (u64, Entry);

/// The X event of a pair, by the number of its B event.
struct EndedPair {
    begin: u64,
    event: Vec<u8>,
}

/// What is open on each thread.
pub(super) struct ViewerPairs {
    threads: HashMap<Vec<u8>, DevtoolsBegins<NumberedBegin>>,
    /// Bytes of heap of all of them, and of the pairs that ended.
    heap: u64,
    /// How many begins there were.
    begins: u64,
    /// Pairs that end at the time of the last E.
    ended: Vec<EndedPair>,
    last_end: i64,
    quota: Quota,
}

impl ViewerPairs {
    pub(super) fn new(quota: Quota) -> Self {
        let (threads, ended) = (HashMap::default(), Vec::new());
        ViewerPairs { threads, heap: 0, begins: 0, ended, last_end: i64::MIN, quota }
    }

    /// Takes a B or E event; calls `made` with the X events of pairs that ended earlier. `read` gives an event as it will
    /// be written.
    pub(super) fn take(
        &mut self,
        entry: Entry,
        bytes: &[u8],
        changes: &mut Changes,
        read: impl FnOnce(Entry) -> Vec<u8>,
        made: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if entry.time != self.last_end {
            self.give_out(made)?;
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

    /// Gives out what ended at one time.
    fn give_out(&mut self, made: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        self.ended.sort_unstable_by_key(|pair| pair.begin);
        self.ended.iter().map(|pair| &*pair.event).try_for_each(made)?;
        self.heap -= self.ended.drain(..).map(|pair| pair.event.len() as u64).sum::<u64>();
        Ok(())
    }

    /// Gives out the last pairs. Returns what was never ended, in the order of the output.
    pub(super) fn finish(
        mut self,
        made: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<Vec<Entry>, Error> {
        self.give_out(made)?;
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

/// pid and tid, whatever their spelling.
fn thread_of(event: &Event<'_>) -> Vec<u8> {
    let mut key = key_of(event.field(Field::Pid));
    key.extend(key_of(event.field(Field::Tid)));
    key
}
