//! Slices with their parents: three sorts, and two walks.

use super::nesting::Nesting;
use super::pairs::Pairing;
use super::points::FlowPoint;
use super::read::{SliceFacts, SliceReader};
use super::records::{NestedSlice, PairThreadTime, Slice};
use crate::input::CurrentInput;
use crate::scan::{ScanEnd, read};
use crate::table::TraceInputs;
use tracemill_trace::Error;
use tracemill_trace::order::{KeySorter, SortedByKey};
use tracemill_trace::run::memory::Share;

/// Slices by track, time and descending length, and the end of the scan that found them.
pub(crate) struct SlicesByTrack {
    pub(crate) slices: SortedByKey<Slice>,
    pub(super) thread_times: Option<SortedByKey<PairThreadTime>>,
    /// Points of flows by track and time, if they are requested.
    pub(crate) points: SortedByKey<FlowPoint>,
    pub(crate) end: ScanEnd,
}

impl SlicesByTrack {
    /// Reads the slices of all inputs.
    ///
    /// Heap: 32 bytes per X event, 56 per other begin or end event and 48 per point of a flow, at most
    /// the leases.
    pub(crate) fn read(inputs: &TraceInputs<'_>, facts: SliceFacts) -> Result<Self, Error> {
        let limits = &inputs.config.limits;
        let (lease, threads) = (|name, share| limits.lease(name, share), limits.threads);
        let mut reader = SliceReader {
            inputs: *inputs,
            input: CurrentInput::default(),
            slices: KeySorter::new(lease("slices by track", Share::of_index(3, 8)), threads),
            pairs: KeySorter::new(
                lease("begins and ends of slices", Share::of_index(1, 4)),
                threads,
            ),
            points: KeySorter::new(lease("points of flows", Share::of_index(1, 4)), threads),
            facts,
            quota: limits.table_quota(),
        };
        let end = read(inputs.sources, inputs.config, &mut reader, |_| false)?;
        let SliceReader { mut slices, pairs, points, .. } = reader;
        let mut thread_times = facts
            .thread_times
            .then(|| KeySorter::new(lease("CPU times of slices", Share::of_index(1, 8)), threads));
        let quota = limits.open_quota();
        let mut pairing =
            Pairing { slices: &mut slices, thread_times: thread_times.as_mut(), quota };
        pairing.run(&pairs.finish()?)?;
        let thread_times = thread_times.map(KeySorter::finish).transpose()?;
        let (slices, points) = (slices.finish()?, points.finish()?);
        Ok(SlicesByTrack { slices, thread_times, points, end })
    }
}

/// Slices with their parents, by id, and the end of the scan that found them.
pub(super) struct SliceTree {
    pub(super) nested: SortedByKey<NestedSlice>,
    pub(super) thread_times: Option<SortedByKey<PairThreadTime>>,
    pub(super) end: ScanEnd,
}

impl SliceTree {
    /// Reads the slices of all inputs and finds their parents.
    ///
    /// Heap: that of [`SlicesByTrack::read`], and 56 bytes per slice, at most the leases.
    pub(super) fn read(inputs: &TraceInputs<'_>, reads_thread_times: bool) -> Result<Self, Error> {
        let limits = &inputs.config.limits;
        let facts = SliceFacts { thread_times: reads_thread_times, flows: false };
        let SlicesByTrack { slices, thread_times, end, .. } = SlicesByTrack::read(inputs, facts)?;
        let lease = limits.lease("slices by id", Share::of_index(3, 8));
        let nested = KeySorter::new(lease, limits.threads);
        let nested = Nesting::new(nested, limits.open_quota()).run(&slices)?;
        Ok(SliceTree { nested, thread_times, end })
    }
}
