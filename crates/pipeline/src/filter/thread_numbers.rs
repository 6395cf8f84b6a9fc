//! Numbers threads, and stores the decision on their ids.

use super::criteria::Criteria;
use super::reason::Reason;
use super::threads::{ThreadIds, plain_id};
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::thread_table::ThreadTable;

/// All threads seen, with ids as written.
#[derive(Default)]
pub(super) struct ThreadNumbers {
    table: ThreadTable,
    /// The reason to drop events of each thread, by its ids.
    by_ids: Vec<Reason>,
}

impl ThreadNumbers {
    #[inline]
    pub(super) fn number(&mut self, event: &Event<'_>, criteria: &Criteria) -> u32 {
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default());
        let number = self.table.number(pid, tid);
        if number == self.by_ids.len() {
            self.by_ids.push(criteria.judge_ids(pid, tid));
        }
        number as u32
    }

    /// Returns the reason to drop events of a thread, by its ids.
    #[inline]
    pub(super) fn by_ids(&self, number: u32) -> Reason {
        self.by_ids[number as usize]
    }

    pub(super) fn all(&self) -> impl Iterator<Item = ThreadIds> {
        let ids = (0..self.by_ids.len()).map(|number| self.table.ids(number));
        ids.map(|(pid, tid)| ThreadIds { pid: plain_id(pid), tid: plain_id(tid) })
    }

    /// Returns the approximate heap bytes.
    pub(super) fn heap(&self) -> u64 {
        self.table.heap() + (self.by_ids.len() * size_of::<Reason>()) as u64
    }

    /// Adds the threads of a later chunk and returns their new numbers.
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
