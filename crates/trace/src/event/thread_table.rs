//! Threads by number: what tells them apart is compared once a thread, not once an event.
//!
//! ```
//! use tracemill_trace::event::thread_table::ThreadTable;
//!
//! let mut threads = ThreadTable::default();
//! assert_eq!(threads.number(b"1", b"10"), 0);
//! assert_eq!(threads.number(b"11", b"0"), 1);
//! assert_eq!(threads.number(b"1", b"10"), 0);
//! assert_eq!(threads.ids(1), (&b"11"[..], &b"0"[..]));
//! assert_eq!(threads.find(b"1", b"0"), None);
//! ```

use crate::event::names::Names;
use crate::store::direct_mapped::{DirectMappedCache, SmallKey};

/// Makes the key of a thread in tables: a form of pid and tid in which no two threads are equal.
#[inline]
pub fn write_key(pid: &[u8], tid: &[u8], key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(&(pid.len() as u32).to_le_bytes());
    key.extend_from_slice(pid);
    key.extend_from_slice(tid);
}

/// The pid and tid of a key; two empty ones of what is no key.
pub fn ids_of_key(key: &[u8]) -> (&[u8], &[u8]) {
    let (len, ids) = key.split_first_chunk::<4>().unwrap_or((&[0; 4], key));
    ids.split_at(u32::from_le_bytes(*len) as usize)
}

/// Threads by pid and tid as they are written (empty where missing), numbered from 0 in the order in which they came.
///
/// Cost: of ids of up to seven bytes that were asked for lately, a comparison; else a hash and a comparison. Heap: the ids and 20
/// bytes a thread.
#[derive(Default)]
pub struct ThreadTable {
    /// Keys; the empty one, which is none, has number 0.
    keys: Names,
    recent: DirectMappedCache,
    key: Vec<u8>,
}

impl ThreadTable {
    /// The number of a thread; a new one if it is new.
    #[inline]
    pub fn number(&mut self, pid: &[u8], tid: &[u8]) -> usize {
        let words = SmallKey::of(pid, tid);
        if let Some(number) = words.and_then(|words| self.recent.get(words)) {
            return number;
        }
        let number = self.look_up(pid, tid);
        words.into_iter().for_each(|words| self.recent.put(words, number));
        number
    }

    #[inline(never)]
    fn look_up(&mut self, pid: &[u8], tid: &[u8]) -> usize {
        write_key(pid, tid, &mut self.key);
        self.keys.number(&self.key) as usize - 1
    }

    /// The number of a thread, if it has one.
    pub fn find(&self, pid: &[u8], tid: &[u8]) -> Option<usize> {
        let mut key = Vec::new();
        write_key(pid, tid, &mut key);
        self.keys.find(&key).map(|number| number as usize - 1)
    }

    /// The pid and tid of a thread.
    ///
    /// # Panics
    /// If no thread has that number.
    pub fn ids(&self, number: usize) -> (&[u8], &[u8]) {
        ids_of_key(self.keys.bytes_of(number as u32 + 1))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of heap.
    pub fn heap(&self) -> u64 {
        self.keys.heap()
    }

    /// Takes over the threads of another; gives their numbers here.
    pub fn append(&mut self, later: &ThreadTable) -> Vec<usize> {
        let key_of = |number| later.keys.bytes_of(number as u32 + 1);
        (0..later.len()).map(|number| self.keys.number(key_of(number)) as usize - 1).collect()
    }
}
