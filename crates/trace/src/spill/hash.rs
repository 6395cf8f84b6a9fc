//! Tables looked up by hash, with the hash of the library foldhash.
//!
//! Keys are names, numbers of threads and ids, a few bytes each, and there may be as many as events: the hash of `std` takes
//! longer than all the rest of such a look-up. It is the same in each run, so no answer can depend on a seed. What it does
//! not resist is a trace whose names were made to collide.
//!
//! ```
//! use tracemill_trace::spill::hash::HashMap;
//!
//! let mut numbers = HashMap::default();
//! let next = numbers.len();
//! assert_eq!(*numbers.entry("renderer").or_insert(next), 0);
//! ```

use foldhash::fast::FixedState;

/// A map by hash.
pub type HashMap<K, V> = std::collections::HashMap<K, V, FixedState>;

/// A set by hash.
pub type HashSet<K> = std::collections::HashSet<K, FixedState>;

/// Mixes two words: the halves of their product. By hand, for hashes that reach an output or a file.
#[inline(always)]
pub fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}
