//! Slices with their parents: three sorts, and two walks.

use super::nesting::Nesting;
use super::pairs::Pairing;
use super::read::SliceReader;
use super::records::{NestedSlice, PairThreadTime};
use crate::input::CurrentInput;
use crate::scan::{ScanEnd, read};
use crate::table::TraceInputs;
use tracemill_trace::Error;
use tracemill_trace::order::{KeySorter, SortedByKey};
use tracemill_trace::run::memory::Share;

/// Slices with their parents, by id, and the end of the scan that found them.
pub(super) struct SliceTree {
    pub(super) nested: SortedByKey<NestedSlice>,
    pub(super) thread_times: Option<SortedByKey<PairThreadTime>>,
    pub(super) end: ScanEnd,
}

impl SliceTree {
    /// Reads the slices of all inputs and finds their parents.
    ///
    /// Heap: 32 bytes per X event, 56 per other begin or end event and 56 per slice, at most the
    /// leases.
    pub(super) fn read(inputs: &TraceInputs<'_>, reads_thread_times: bool) -> Result<Self, Error> {
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
            reads_thread_times,
            quota: limits.table_quota(),
        };
        let end = read(inputs.sources, inputs.config, &mut reader, |_| false)?;
        let SliceReader { mut slices, pairs, .. } = reader;
        let mut thread_times = reads_thread_times
            .then(|| KeySorter::new(lease("CPU times of slices", Share::of_index(1, 8)), threads));
        let quota = limits.open_quota();
        let mut pairing =
            Pairing { slices: &mut slices, thread_times: thread_times.as_mut(), quota };
        pairing.run(&pairs.finish()?)?;
        let nested = KeySorter::new(lease("slices by id", Share::of_index(3, 8)), threads);
        let nested = Nesting::new(nested, limits.open_quota()).run(&slices.finish()?)?;
        let thread_times = thread_times.map(KeySorter::finish).transpose()?;
        Ok(SliceTree { nested, thread_times, end })
    }
}
