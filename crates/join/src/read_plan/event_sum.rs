//! Checksum that verifies the events read by a plan.

use twox_hash::XxHash3_64;

/// Returns the checksum of an event: the low 32 bits of the XXH3-64 of its bytes, seeded with its
/// `offset` in the text.
#[inline]
pub fn event_sum(offset: u64, event: &[u8]) -> u32 {
    XxHash3_64::oneshot_with_seed(offset, event) as u32
}
