//! Records of fixed size in files.

/// A value that can be written to disk and read back: a number, or a struct of records that
/// [`record!`](crate::record) declares.
///
/// Only the process that wrote a file reads it. By convention numbers are little-endian.
///
/// ```
/// use tracemill_trace::record;
/// use tracemill_trace::run::memory::Lease;
/// use tracemill_trace::spill::SpillVec;
///
/// record! {
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     struct Interval {
///         begin: i64,
///         length: u64,
///     }
/// }
///
/// let mut all = SpillVec::new(Lease::alone(160, std::env::temp_dir())); // bytes of heap, so ten of them
/// (0..100).try_for_each(|number| all.push(Interval { begin: number, length: 7 }))?;
/// assert_eq!(all.finish()?.iter().last(), Some(Interval { begin: 99, length: 7 }));
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub trait Record: Copy + Send {
    /// Size of a record on disk in bytes.
    const BYTES: usize;

    /// Writes the record to `bytes`, whose length is [`Record::BYTES`]. Must set every byte.
    fn encode(&self, bytes: &mut [u8]);

    /// Reads a record that [`Record::encode`] wrote.
    fn decode(bytes: &[u8]) -> Self;
}

/// Declares a struct of [records](crate::spill::Record) and makes it a record, with its fields in
/// order.
///
/// Types declared elsewhere become records too: structs with `record! { impl Pair { 0: u32, 1: u64
/// } }`, which may have a type parameter, and enums without data with `record! { enum Side { Left,
/// Right } }`, variants in order.
#[macro_export]
macro_rules! record {
    (impl $(<$parameter:ident: $bound:ident>)? $name:ident { $($field:tt: $type:ty),+ $(,)? }) => {
        impl $(<$parameter: $bound>)? $crate::spill::Record for $name $(<$parameter>)? {
            const BYTES: usize = 0 $(+ <$type as $crate::spill::Record>::BYTES)+;

            #[inline]
            fn encode(&self, bytes: &mut [u8]) {
                let mut end = 0;
                $(
                    let start = end;
                    end += <$type as $crate::spill::Record>::BYTES;
                    $crate::spill::Record::encode(&self.$field, &mut bytes[start..end]);
                )+
            }

            #[inline]
            fn decode(bytes: &[u8]) -> Self {
                let mut end = 0;
                $name {
                    $($field: {
                        let start = end;
                        end += <$type as $crate::spill::Record>::BYTES;
                        <$type as $crate::spill::Record>::decode(&bytes[start..end])
                    }),+
                }
            }
        }
    };
    (enum $name:ident { $($variant:ident),+ $(,)? }) => {
        impl $crate::spill::Record for $name {
            const BYTES: usize = 1;

            #[inline]
            fn encode(&self, bytes: &mut [u8]) {
                bytes[0] = *self as u8;
            }

            #[inline]
            fn decode(bytes: &[u8]) -> Self {
                const ALL: &[$name] = &[$($name::$variant),+];
                ALL[usize::from(bytes[0]) % ALL.len()]
            }
        }
    };
    (
        $(#[$of_struct:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$of_field:meta])* $scope:vis $field:ident: $type:ty),+ $(,)?
        }
    ) => {
        $(#[$of_struct])*
        $visibility struct $name {
            $($(#[$of_field])* $scope $field: $type),+
        }
        $crate::record! { impl $name { $($field: $type),+ } }
    };
}

macro_rules! number {
    ($($type:ty)+) => {$(
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
    )+};
}
number!(u8 u16 u32 u64 u128 i32 i64 f64);

impl Record for bool {
    const BYTES: usize = 1;

    #[inline]
    fn encode(&self, bytes: &mut [u8]) {
        bytes[0] = u8::from(*self);
    }

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
}

impl<R: Record> Record for Option<R> {
    const BYTES: usize = 1 + R::BYTES;

    #[inline]
    fn encode(&self, bytes: &mut [u8]) {
        self.is_some().encode(bytes);
        match self {
            Some(record) => record.encode(&mut bytes[1..]),
            None => bytes[1..].fill(0),
        }
    }

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        bool::decode(bytes).then(|| R::decode(&bytes[1..]))
    }
}

impl<R: Record, const N: usize> Record for [R; N] {
    const BYTES: usize = N * R::BYTES;

    #[inline]
    fn encode(&self, bytes: &mut [u8]) {
        let all = bytes.chunks_exact_mut(R::BYTES).zip(self);
        all.for_each(|(bytes, record)| record.encode(bytes));
    }

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        std::array::from_fn(|at| R::decode(&bytes[at * R::BYTES..][..R::BYTES]))
    }
}

impl<A: Record, B: Record> Record for (A, B) {
    const BYTES: usize = A::BYTES + B::BYTES;

    #[inline]
    fn encode(&self, bytes: &mut [u8]) {
        let (first, second) = bytes.split_at_mut(A::BYTES);
        self.0.encode(first);
        self.1.encode(second);
    }

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        let (first, second) = bytes.split_at(A::BYTES);
        (A::decode(first), B::decode(second))
    }
}

/// Returns the number of leading indices below `len` that fulfil a condition, by binary search.
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

/// Replaces `bytes` by the encoded records.
pub(super) fn encode_all<R: Record>(records: &[R], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.resize(records.len() * R::BYTES, 0);
    for (record, bytes) in records.iter().zip(bytes.chunks_exact_mut(R::BYTES)) {
        record.encode(bytes);
    }
}

/// Decodes the records in `bytes`.
pub(crate) fn records<R: Record>(bytes: &[u8]) -> impl DoubleEndedIterator<Item = R> {
    bytes.chunks_exact(R::BYTES).map(R::decode)
}
