//! The checksum of events by which a plan is checked.

use twox_hash::XxHash3_64;

/// Returns what an event at `offset` in the text adds to the sum of its block: the low half of the XXH3-64 of its bytes, with the
/// offset as the seed.
#[inline]
pub fn event_sum(offset: u64, event: &[u8]) -> u32 {
    XxHash3_64::oneshot_with_seed(offset, event) as u32
}
