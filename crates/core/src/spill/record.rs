//! Records of fixed size, as they stand on disk: what all lists and sorters are made of.

/// What can be put on disk and read back.
///
/// Files are read by the process that wrote them, so the form is free; by convention numbers are little-endian.
///
/// ```
/// use tracemill_core::spill::{Record, SpillVec, word};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Interval {
///     begin: i64,
///     length: u64,
/// }
///
/// impl Record for Interval {
///     const BYTES: usize = 16;
///
///     fn encode(&self, bytes: &mut [u8]) {
///         self.begin.encode(&mut bytes[..8]);
///         self.length.encode(&mut bytes[8..]);
///     }
///
///     fn decode(bytes: &[u8]) -> Self {
///         Interval { begin: i64::decode(&bytes[..8]), length: word(bytes, 8) }
///     }
/// }
///
/// let mut all = SpillVec::new(&std::env::temp_dir(), 160); // bytes of heap, so ten of them
/// (0..100).try_for_each(|number| all.push(Interval { begin: number, length: 7 }))?;
/// assert_eq!(all.finish()?.iter().last(), Some(Interval { begin: 99, length: 7 }));
/// # Ok::<(), tracemill_core::Error>(())
/// ```
pub trait Record: Copy + Send {
    /// Bytes of one on disk.
    const BYTES: usize;

    /// Writes the record to `bytes`, of which there are [`Record::BYTES`]: all of them, since they may hold another record.
    fn encode(&self, bytes: &mut [u8]);

    /// Reads what [`Record::encode`] wrote.
    fn decode(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($type:ty) => {
        impl Record for $type {
            const BYTES: usize = size_of::<$type>();

            #[inline]
            fn encode(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn decode(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())
            }
        }
    };
}
number!(u32);
number!(i64);
number!(u64);
number!(f64);

impl Record for (u64, u64) {
    const BYTES: usize = 16;

    #[inline]
    fn encode(&self, bytes: &mut [u8]) {
        self.0.encode(&mut bytes[..8]);
        self.1.encode(&mut bytes[8..]);
    }

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        (word(bytes, 0), word(bytes, 8))
    }
}

/// How many of `len` records at the begin fulfil a condition, asked by their numbers, if those are all that do.
pub(super) fn partition_point(len: usize, fulfils: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        match fulfils(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// Makes `bytes` those of some records.
pub(super) fn encode_all<R: Record>(records: &[R], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.resize(records.len() * R::BYTES, 0);
    for (record, bytes) in records.iter().zip(bytes.chunks_exact_mut(R::BYTES)) {
        record.encode(bytes);
    }
}

/// The little-endian number of 64 bits at `offset`: for [`Record::decode`].
pub fn word(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(bytes[offset..].first_chunk().copied().unwrap_or_default())
}

/// The records in some bytes.
pub(crate) fn records<R: Record>(bytes: &[u8]) -> impl DoubleEndedIterator<Item = R> {
    bytes.chunks_exact(R::BYTES).map(R::decode)
}
