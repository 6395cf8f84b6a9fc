//! The lists that the chunks of a scan fill: records, and the events that only some analyses need.

use crate::entries::sorting::Sorting;
use crate::events::carried::StackCollector;
use crate::events::causes::CauseCollector;
use crate::events::cpu_times::CpuTimes;
use crate::events::devices::DeviceEvent;
use crate::events::tracks::TrackEvent;
use crate::trace::ReadRules;
use crate::value::space::Space;
use tracemill_trace::spill::SpillVec;

/// Lists that grow with the inputs and spill to disk.
pub(crate) struct EventSpools {
    /// Records of all events that are drawn.
    pub(crate) sorting: Sorting,
    /// GPU events of PyTorch's profiler.
    pub(crate) devices: SpillVec<DeviceEvent>,
    /// Events in DevTools' tracks.
    pub(crate) tracks: SpillVec<TrackEvent>,
    /// Events that may cause others.
    pub(crate) causes: CauseCollector,
    pub(crate) cpu_times: CpuTimes,
}

impl EventSpools {
    pub(crate) fn new(space: &Space, rules: ReadRules) -> Self {
        let waiting = if rules.only_calls { space.bytes(4) } else { 0 };
        EventSpools {
            sorting: Sorting::new(space, rules.as_devtools, waiting),
            devices: space.spool(8),
            tracks: space.spool(8),
            causes: CauseCollector { events: space.spool(8), stacks: StackCollector::new(space) },
            cpu_times: CpuTimes::new(space),
        }
    }
}
