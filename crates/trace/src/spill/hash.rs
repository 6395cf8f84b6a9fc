//! Hash maps with foldhash and a fixed seed.
//!
//! There may be as many short keys as events, for which the hash of `std` is too slow. The fixed
//! seed makes results reproducible, but does not resist names chosen to collide.
//!
//! ```
//! use tracemill_trace::spill::hash::HashMap;
//!
//! let mut numbers = HashMap::default();
//! let next = numbers.len();
//! assert_eq!(*numbers.entry("renderer").or_insert(next), 0);
//! ```

use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// A hash map with foldhash.
pub type HashMap<K, V> = std::collections::HashMap<K, V, FixedState>;

/// A hash set with foldhash.
pub type HashSet<K> = std::collections::HashSet<K, FixedState>;

/// Hashes bytes with foldhash, the same in all runs of one program.
#[inline]
pub fn hash_of(bytes: &[u8]) -> u64 {
    FixedState::default().hash_one(bytes)
}

/// Mixes two words with a multiplication. Independent of any library, for hashes in outputs and
/// files.
#[inline(always)]
pub fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}
