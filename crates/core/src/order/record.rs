//! Records of fixed size, as they stand on disk: what all lists and sorters of this module are made of.

use super::run::{ENTRY, decode, encode};
use crate::entry::Entry;

/// What can be put on disk and read back.
pub trait Record: Copy + Send {
    /// Bytes of one on disk.
    const BYTES: usize;

    /// Writes it to so many bytes.
    fn encode(&self, bytes: &mut [u8]);

    /// Reads what [`Record::encode`] wrote.
    fn decode(bytes: &[u8]) -> Self;
}

impl Record for Entry {
    const BYTES: usize = ENTRY;

    fn encode(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&encode(*self));
    }

    fn decode(bytes: &[u8]) -> Self {
        decode(bytes.first_chunk().unwrap_or(&[0; ENTRY]))
    }
}

macro_rules! number {
    ($type:ty) => {
        impl Record for $type {
            const BYTES: usize = size_of::<$type>();

            fn encode(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn decode(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())
            }
        }
    };
}
number!(u32);
number!(i64);
number!(u64);

/// Makes `bytes` those of some records.
pub(super) fn encode_all<R: Record>(records: &[R], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.resize(records.len() * R::BYTES, 0);
    for (record, bytes) in records.iter().zip(bytes.chunks_exact_mut(R::BYTES)) {
        record.encode(bytes);
    }
}

/// The word at an offset of a record.
pub fn word(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(bytes[offset..].first_chunk().copied().unwrap_or_default())
}

/// The records in some bytes.
pub(super) fn records<R: Record>(bytes: &[u8]) -> impl DoubleEndedIterator<Item = R> {
    bytes.chunks_exact(R::BYTES).map(R::decode)
}
