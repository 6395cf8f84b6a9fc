//! What is known of a trace before it is read, so that little of it need be read.

use crate::pieces::Pieces;
use std::ops::Range;
use std::sync::Arc;
use tracemill_core::bounds::Bounds;
use tracemill_core::event::PairEvent;
use tracemill_core::hash::{HashMap, HashSet};
use tracemill_core::windows::Windows;
use tracemill_profile::KnownChunks;

/// Where the one input stands: what is made for an edge comes before what stands there, so its place does too.
pub(crate) const BASE: u64 = 1 << 36;

/// What an index says of the one input, which is an undamaged document and all JSON.
pub(crate) struct Narrowed {
    pub(crate) bounds: Bounds,
    pub(crate) windows: Windows,
    /// What is read of it: everything that windows may need.
    pub(crate) pieces: Pieces,
    /// Times from which all parts of what lasts are read, up to the second.
    pub(crate) seen: Range<i64>,
    /// Parts by their places that count wherever they stand, each with the number of its pair if it has one. These pair with each other,
    /// all others without them.
    pub(crate) apart: HashMap<u64, Option<u64>>,
    /// Where the first events of the CPU profiles stand that windows may need. Of others some events may be read.
    pub(crate) streams: HashSet<u64>,
    /// The chunks of those whose events are not all read.
    pub(crate) chunks: Option<Arc<KnownChunks>>,
    /// An end with a name closes no begin of another one.
    pub(crate) only_by_name: bool,
}

impl Narrowed {
    /// Takes a part that matters as it belongs here; false if it does not matter.
    #[inline]
    pub(super) fn take(&self, part: &mut PairEvent, place: u64) -> bool {
        match self.apart.get(&place) {
            Some(&Some(pair)) => {
                part.set_pair(pair);
                true
            }
            Some(None) => true,
            None => self.seen.contains(&part.entry.time),
        }
    }
}
