//! Threads by number, and what they are judged by their ids.

use super::criteria::Criteria;
use super::reason::Reason;
use super::threads::{ThreadIds, plain_id};
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::thread_table::ThreadTable;

/// All threads seen, as they are spelled.
#[derive(Default)]
pub(super) struct ThreadNumbers {
    table: ThreadTable,
    /// What each is judged by its ids.
    by_ids: Vec<Reason>,
}

impl ThreadNumbers {
    /// The number of an event's thread.
    #[inline]
    pub(super) fn number(&mut self, event: &Event<'_>, criteria: &Criteria) -> u32 {
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default());
        let number = self.table.number(pid, tid);
        if number == self.by_ids.len() {
            self.by_ids.push(criteria.judge_ids(pid, tid));
        }
        number as u32
    }

    /// What a thread is judged by its ids.
    #[inline]
    pub(super) fn by_ids(&self, number: u32) -> Reason {
        self.by_ids[number as usize]
    }

    /// All threads, in the order of their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = ThreadIds> {
        let ids = (0..self.by_ids.len()).map(|number| self.table.ids(number));
        ids.map(|(pid, tid)| ThreadIds { pid: plain_id(pid), tid: plain_id(tid) })
    }

    /// Bytes of heap, about.
    pub(super) fn heap(&self) -> u64 {
        self.table.heap() + (self.by_ids.len() * size_of::<Reason>()) as u64
    }

    /// Takes over the threads of a later part; returns their numbers here.
    pub(super) fn append(&mut self, later: &ThreadNumbers) -> Vec<u32> {
        let numbers = self.table.append(&later.table);
        for (&number, &by_ids) in numbers.iter().zip(&later.by_ids) {
            if number == self.by_ids.len() {
                self.by_ids.push(by_ids);
            }
        }
        numbers.into_iter().map(|number| number as u32).collect()
    }
}
