//! Rows sorted on disk beyond the memory of their lease.

use tracemill_trace::order::{KeySorter, Keyed, SortedByKey};
use tracemill_trace::spill::Record;

/// A value with the key by which it is sorted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row<K, V> {
    pub(crate) key: K,
    pub(crate) value: V,
}

/// A sorter of rows with keys of `N` numbers.
pub(crate) type Sorter<const N: usize, V> = KeySorter<Row<[u64; N], V>>;
/// Sorted rows with keys of `N` numbers.
pub(crate) type SortedRows<const N: usize, V> = SortedByKey<Row<[u64; N], V>>;

impl<K: Record, V: Record> Record for Row<K, V> {
    const BYTES: usize = K::BYTES + V::BYTES;

    fn encode(&self, bytes: &mut [u8]) {
        let (key, value) = bytes.split_at_mut(K::BYTES);
        self.key.encode(key);
        self.value.encode(value);
    }

    fn decode(bytes: &[u8]) -> Self {
        let (key, value) = bytes.split_at(K::BYTES);
        Row { key: K::decode(key), value: V::decode(value) }
    }
}

impl<K: Record + Ord, V: Record> Keyed for Row<K, V> {
    type Key = K;

    fn key(&self) -> K {
        self.key
    }
}
