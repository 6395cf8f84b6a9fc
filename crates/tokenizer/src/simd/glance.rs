//! Whether an event may have an id at all, at a glance: most have none, and who changes ids need not look closer at those.
//!
//! ```text
//!   … , " i d " : " 0 x 1 " , …      a quote (or the `_` of `bind_id`), an i, a d: wherever they stand, this event is to be looked at
//!   … , " \ u 0 0 6 9 d " : …        so is one with a backslash: it may write the same
//! ```
//!
//! Nothing here depends on the block before, neither strings nor depth, so blocks overlap where they please. Cost: four comparisons a block.

use super::blocks::BLOCK;

/// Bytes that are looked at for a block of beginnings.
pub(super) const GLANCE: usize = BLOCK + 2;

/// The loop that all tiers share, inlined into each tier's `#[target_feature]` function: whether `any` is true of some [`GLANCE`] bytes. True
/// also of events that are shorter.
#[inline(always)]
pub(super) fn may_have_ids_with(event: &[u8], any: impl Fn(&[u8; GLANCE]) -> bool) -> bool {
    let Some(last) = event.last_chunk::<GLANCE>() else { return true };
    let mut rest = event;
    while let Some(first_chunk) = rest.first_chunk::<GLANCE>() {
        if any(first_chunk) {
            return true;
        }
        rest = &rest[BLOCK..];
    }
    any(last)
}

/// The blocks that begin at the first three bytes.
#[inline(always)]
pub(super) fn starts(bytes: &[u8; GLANCE]) -> [&[u8; BLOCK]; 3] {
    [0, 1, 2]
        .map(|at| bytes[at..].first_chunk().expect("a glance is two bytes longer than a block"))
}
