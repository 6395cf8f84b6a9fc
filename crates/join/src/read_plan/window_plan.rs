//! The parts of a trace that time windows need, found by its index.

use super::plan::ReadPlan;
use std::ops::Range;
use std::sync::Arc;
use tracemill_cpuprofile::KnownChunks;
use tracemill_trace::event::PairEvent;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::time::bounds::Bounds;
use tracemill_trace::time::windows::Windows;

/// Base of the only input in the address space. Lower offsets are for synthetic events, which sort
/// before recorded events of the same time.
pub const BASE: u64 = 1 << 36;

/// All data that windows need from an undamaged input of valid JSON.
pub struct WindowPlan {
    /// The byte ranges to read.
    pub read: ReadPlan,
    /// First and last time of the trace.
    pub bounds: Bounds,
    /// The windows, in times of the trace.
    pub windows: Windows,
    /// Time range in which all pair events are read.
    pub times: Range<i64>,
    /// Events of long slices by offset, each with the number of its pair, or `None` if it has no
    /// pair. These events count at any time. Numbered events pair only with each other; all other
    /// events pair without them.
    pub long_pairs: HashMap<u64, Option<u64>>,
    /// Offsets of the first events of the CPU profiles that windows may need. The ranges may
    /// contain events of other profiles.
    pub streams: HashSet<u64>,
    /// The chunks of profiles that are read only in part.
    pub chunks: Option<Arc<KnownChunks>>,
    /// Whether a named end event closes only begin events of the same name.
    pub only_by_name: bool,
}

impl WindowPlan {
    /// Returns whether a pair event counts. Sets the number of its pair, if it has one.
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

    /// Returns the number of event bytes that were read.
    pub fn bytes_read(&self) -> u64 {
        self.read.bytes + self.chunks.as_ref().map_or(0, |chunks| chunks.bytes_read())
    }
}
