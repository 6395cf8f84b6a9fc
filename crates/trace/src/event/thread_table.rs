//! Numbers threads by pid and tid.
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

/// Writes the key of a thread to `key`. Different pairs of pid and tid have different keys.
#[inline]
pub fn write_key(pid: &[u8], tid: &[u8], key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(&(pid.len() as u32).to_le_bytes());
    key.extend_from_slice(pid);
    key.extend_from_slice(tid);
}

/// Returns the pid and tid of a key; both empty for the empty key.
pub fn ids_of_key(key: &[u8]) -> (&[u8], &[u8]) {
    let (len, ids) = key.split_first_chunk::<4>().unwrap_or((&[0; 4], key));
    ids.split_at(u32::from_le_bytes(*len) as usize)
}

/// Threads by pid and tid as written (empty if missing), numbered from 0 in order of first use.
///
/// Cost: one comparison for recent ids of up to seven bytes; otherwise a hash and a comparison.
/// Heap: the ids and 20 bytes per thread.
#[derive(Default)]
pub struct ThreadTable {
    /// Keys of threads; number 0 is the unused empty key.
    keys: Names,
    recent: DirectMappedCache,
    key: Vec<u8>,
}

impl ThreadTable {
    /// Returns the number of a thread, adding the thread if it is new.
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

    /// Returns the number of a thread, if it is in the table.
    pub fn find(&self, pid: &[u8], tid: &[u8]) -> Option<usize> {
        let mut key = Vec::new();
        write_key(pid, tid, &mut key);
        self.keys.find(&key).map(|number| number as usize - 1)
    }

    /// Returns the pid and tid of a thread.
    ///
    /// # Panics
    /// Panics if no thread has that number.
    pub fn ids(&self, number: usize) -> (&[u8], &[u8]) {
        ids_of_key(self.keys.bytes_of(number as u32 + 1))
    }

    /// Returns the number of threads.
    pub fn len(&self) -> usize {
        self.keys.len() - 1
    }

    /// Returns whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the heap use in bytes.
    pub fn heap(&self) -> u64 {
        self.keys.heap()
    }

    /// Adds the threads of another table. Returns their numbers in this table.
    pub fn append(&mut self, later: &ThreadTable) -> Vec<usize> {
        let key_of = |number| later.keys.bytes_of(number as u32 + 1);
        (0..later.len()).map(|number| self.keys.number(key_of(number)) as usize - 1).collect()
    }
}
