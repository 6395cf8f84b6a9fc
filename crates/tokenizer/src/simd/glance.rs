//! Quickly checks whether an event may have an id. Most events have no id and need no further
//! search.
//!
//! ```text
//!   … , " i d " : " 0 x 1 " , …      a quote (or the `_` of `bind_id`), i, d: may be an id
//!   … , " \ u 0 0 6 9 d " : …        a backslash: may be an escaped id
//! ```
//!
//! Blocks are independent of strings and depth, so they may overlap. Cost: four comparisons per
//! block.

use super::blocks::BLOCK;

/// Number of bytes examined at a time: a block, and two bytes for a key that begins at its end.
pub(super) const GLANCE: usize = BLOCK + 2;

/// The loop shared by all tiers, inlined into each tier's `#[target_feature]` function. Returns
/// whether `any` holds for some [`GLANCE`] bytes, and true for shorter events.
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

/// Returns the blocks that begin at the first three bytes.
#[inline(always)]
pub(super) fn starts(bytes: &[u8; GLANCE]) -> [&[u8; BLOCK]; 3] {
    [0, 1, 2]
        .map(|at| bytes[at..].first_chunk().expect("a glance is two bytes longer than a block"))
}
