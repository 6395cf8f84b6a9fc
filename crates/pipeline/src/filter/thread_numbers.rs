//! Threads by number: an event's pid and tid are compared once a thread, not once an event.

use super::criteria::Criteria;
use super::threads::{Thread, plain};
use crate::direct_mapped::{DirectMappedCache, SmallKey};
use tracemill_core::hash::HashMap;
use tracemill_tokenizer::{Event, Field};

/// All threads seen, numbered in order of appearance.
#[derive(Default)]
pub(super) struct ThreadNumbers {
    pub(super) all: Vec<Thread>,
    /// By pid and tid as they are written, with the length of the first in between.
    numbers: HashMap<Vec<u8>, u32>,
    recent: DirectMappedCache,
    key: Vec<u8>,
}

impl ThreadNumbers {
    /// The number of an event's thread.
    #[inline]
    pub(super) fn number(&mut self, event: &Event<'_>, criteria: &Criteria) -> u32 {
        let pid = event.field(Field::Pid).unwrap_or_default();
        let tid = event.field(Field::Tid).unwrap_or_default();
        let words = SmallKey::of(pid, tid);
        if let Some(number) = words.and_then(|words| self.recent.get(words)) {
            return number as u32;
        }
        let number = self.of(pid, tid, criteria);
        words.into_iter().for_each(|words| self.recent.put(words, number as usize));
        number
    }

    /// The number of a thread as it is spelled.
    #[inline(never)]
    pub(super) fn of(&mut self, pid: &[u8], tid: &[u8], criteria: &Criteria) -> u32 {
        self.key.clear();
        self.key.extend_from_slice(&(pid.len() as u32).to_le_bytes());
        self.key.extend_from_slice(pid);
        self.key.extend_from_slice(tid);
        match self.numbers.get(&self.key) {
            Some(&number) => number,
            None => self.add(pid, tid, criteria),
        }
    }

    #[cold]
    fn add(&mut self, pid: &[u8], tid: &[u8], criteria: &Criteria) -> u32 {
        let by_ids = criteria.judge_ids(pid, tid);
        let text = |id| Box::from(plain(id, &mut Vec::new()));
        let number = self.all.len() as u32;
        self.all.push(Thread { pid: text(pid), tid: text(tid), by_ids });
        self.numbers.insert(self.key.clone(), number);
        number
    }

    /// Bytes of heap, about.
    pub(super) fn heap(&self) -> u64 {
        /// Bytes of the texts and the keys of a thread, with what the allocator adds.
        const TEXTS: usize = 96;
        let entry = size_of::<Thread>() + size_of::<(Vec<u8>, u32)>() * 8 / 7 + TEXTS;
        (self.all.len() * entry) as u64
    }

    /// Takes over the threads of a later part; returns their numbers here.
    pub(super) fn append(&mut self, later: ThreadNumbers) -> Vec<u32> {
        let mut numbers = vec![0; later.all.len()];
        let mut threads: Vec<Option<Thread>> = later.all.into_iter().map(Some).collect();
        let mut keys: Vec<(Vec<u8>, u32)> = later.numbers.into_iter().collect();
        keys.sort_unstable_by_key(|&(_, number)| number);
        for (key, number) in keys {
            let next = self.all.len() as u32;
            let own = *self.numbers.entry(key).or_insert(next);
            let thread = threads[number as usize].take();
            self.all.extend(thread.filter(|_| own == next));
            numbers[number as usize] = own;
        }
        numbers
    }
}
