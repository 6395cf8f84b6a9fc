//! What an index says about windows of time of a trace, so that little of the trace is read.

use super::plan::ReadPlan;
use std::ops::Range;
use std::sync::Arc;
use tracemill_cpuprofile::KnownChunks;
use tracemill_trace::event::PairEvent;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::time::bounds::Bounds;
use tracemill_trace::time::windows::Windows;

/// The base of the one input in the address space: synthetic events, which come before events of their
/// time, have offsets below it.
pub const BASE: u64 = 1 << 36;

/// Everything that windows need of an undamaged input, all of whose text is JSON.
pub struct WindowPlan {
    /// The byte ranges to read.
    pub read: ReadPlan,
    /// The bounds of the trace.
    pub bounds: Bounds,
    /// The windows, as times of the trace.
    pub windows: Windows,
    /// The times of which all parts of pairs are read.
    pub times: Range<i64>,
    /// Parts of long pairs, by place, which count whatever their time is; each with the number of its pair
    /// if it has one. Parts with a number are paired with each other, all other parts without them.
    pub long_pairs: HashMap<u64, Option<u64>>,
    /// Places of the first events of the CPU profiles that windows may need. Events of other profiles may
    /// be read too.
    pub streams: HashSet<u64>,
    /// The chunks of the profiles that are read in part.
    pub chunks: Option<Arc<KnownChunks>>,
    /// Whether an end event with a name closes no begin event of another name.
    pub only_by_name: bool,
}

impl WindowPlan {
    /// Returns whether a part counts, and gives it the number of its pair.
    #[inline]
    pub fn take(&self, part: &mut PairEvent, place: u64) -> bool {
        match self.long_pairs.get(&place) {
            Some(&Some(pair)) => {
                part.set_pair(pair);
                true
            }
            Some(None) => true,
            None => self.times.contains(&part.entry.time),
        }
    }

    /// Returns the number of bytes of events that were read.
    pub fn bytes_read(&self) -> u64 {
        self.read.bytes + self.chunks.as_ref().map_or(0, |chunks| chunks.bytes_read())
    }
}
