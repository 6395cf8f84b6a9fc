//! Initiators: the event that made another one run (DevTools: `InitiatorsHandler`).
//!
//! | event | initiator |
//! |---|---|
//! | style recalculation | the last `ScheduleStyleRecalculation` of its frame |
//! | layout | the last invalidation of its frame since the layout before; of an invalidation within a style recalculation, the initiator of that |
//! | timer, idle callback, `postTask`, WebSocket | the event that installed, requested, scheduled or created it |
//! | callback or creation of a resource in Node's async hooks | the event that created the resource, or the resource that triggered it |
//! | backward operator of PyTorch | the last forward operator of its process with the same sequence number, if all of these are on one thread; one backward operator each |
//! | event of a flow | the event before it in the flow |
//! | kernel or memory copy on a GPU | the call that launched it, if it is the only call with its correlation id |
//! | call of an asynchronous task | the call that scheduled the task |
//!
//! Later rows of the table win over earlier ones.

use crate::event_id::EventId;
use crate::flows::Flows;
use crate::ordered::Ordered;
use crate::sorted::{Row, Sorter};
use tracemill_analysis::Trace;
use tracemill_analysis::events::causes::{CauseEvent, CauseRole};
use tracemill_analysis::events::devices::{Correlated, DeviceEvent, Launches};
use tracemill_analysis::value::space::Space;
use tracemill_trace::Error;
use tracemill_trace::record;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::spill::{SpillVec, SpilledVec};

record! {
    /// An event and its initiator.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Initiated {
        /// The event.
        pub event: EventId,
        /// The event that made it run.
        pub initiator: EventId,
    }
}

/// Events that one member of `args` links: a frame, a timer, a socket.
#[derive(Default)]
struct Linked {
    /// Installs, requests, schedules or creates: the last such event.
    start: Option<EventId>,
    recalculation: Option<Recalculation>,
    invalidation: Option<EventId>,
    /// Thread of the first forward operator.
    thread: Option<u32>,
    /// Whether forward operators on several threads have the same sequence number.
    is_ambiguous: bool,
}

/// The last style recalculation of a frame.
#[derive(Clone, Copy)]
struct Recalculation {
    end: f64,
    initiator: Option<EventId>,
}

impl Linked {
    /// Adds the next event, and returns its initiator.
    fn add(&mut self, event: &CauseEvent) -> Option<EventId> {
        use CauseRole::*;
        let id = EventId::of_event(event.number, event.kind);
        match event.role {
            ScheduleStyle | InstallTimer | RequestIdle | CreateSocket | ScheduleTask
            | CreateResource => {
                self.start = Some(id);
                None
            }
            RecalculateStyle => {
                let (end, initiator) = (event.ts + event.dur, self.start);
                self.recalculation = Some(Recalculation { end, initiator });
                initiator
            }
            InvalidateLayout => {
                let recalculation = self.recalculation.filter(|last| last.end > event.ts);
                let cause = recalculation
                    .filter(|last| self.invalidation.is_none() && last.end != 0.0)
                    .and_then(|last| last.initiator);
                self.invalidation = Some(cause.unwrap_or(id));
                None
            }
            Layout => self.invalidation.take(),
            Forward => {
                self.is_ambiguous |= *self.thread.get_or_insert(event.thread) != event.thread;
                self.start = Some(id);
                None
            }
            Backward => self.start.take().filter(|_| !self.is_ambiguous),
            FireTimer | FireIdle | UseSocket | RunTask | UseResource => self.start,
            _ => None,
        }
    }
}

/// Group of the operators of PyTorch.
const OPERATORS: u64 = 6;

/// Returns the number of the group of roles that link by the same member; `None` if the role has no
/// such member.
fn group(role: CauseRole) -> Option<u64> {
    use CauseRole::*;
    Some(match role {
        ScheduleStyle | RecalculateStyle | InvalidateLayout | Layout => 0,
        InstallTimer | FireTimer => 1,
        RequestIdle | FireIdle => 2,
        CreateSocket | UseSocket => 3,
        ScheduleTask | RunTask => 4,
        CreateResource | UseResource => 5,
        Forward | Backward => OPERATORS,
        _ => return None,
    })
}

/// Returns the values of sorted rows.
fn values<const N: usize>(
    sorter: Sorter<N, Initiated>,
    space: &Space,
) -> Result<SpilledVec<Initiated>, Error> {
    let mut list: SpillVec<Initiated> = space.spool(8);
    sorter.finish()?.iter().try_for_each(|row| list.push(row.value))?;
    list.finish()
}

/// Events and their initiators, one per event.
pub struct InitiatorTable {
    by_event: SpilledVec<Initiated>,
    by_initiator: SpilledVec<Initiated>,
    /// In DevTools' order.
    in_order: SpilledVec<Initiated>,
}

impl InitiatorTable {
    /// Returns all events with an initiator, in DevTools' order.
    pub fn iter(&self) -> impl Iterator<Item = Initiated> + '_ {
        self.in_order.iter()
    }

    /// Returns all events with an initiator, by event.
    pub fn by_event(&self) -> impl Iterator<Item = Initiated> + '_ {
        self.by_event.iter()
    }

    /// Returns the initiator of an event. Cost: a binary search.
    pub fn of(&self, event: EventId) -> Option<EventId> {
        let at = self.by_event.partition_point(|row| row.event < event);
        self.by_event.get(at).filter(|row| row.event == event).map(|row| row.initiator)
    }

    /// Returns the initiators of an event, its initiator first: at most `most`, and each once.
    pub fn chain(&self, event: EventId, most: usize) -> Vec<EventId> {
        let mut chain: Vec<EventId> = Vec::new();
        let mut last = event;
        while chain.len() < most
            && let Some(next) = self.of(last).filter(|next| *next != event && !chain.contains(next))
        {
            chain.push(next);
            last = next;
        }
        chain
    }

    /// Returns the events that an event started.
    pub fn started_by(&self, initiator: EventId) -> impl Iterator<Item = EventId> + '_ {
        let from = self.by_initiator.partition_point(|row| row.initiator < initiator);
        let to = self.by_initiator.partition_point(|row| row.initiator <= initiator);
        self.by_initiator.range(from..to).map(|row| row.event)
    }
}

/// Collects initiators in DevTools' order; of one event the last one counts.
pub(crate) struct Initiators {
    /// By event, then sequence number.
    all: Sorter<3, Initiated>,
    count: u64,
}

impl Initiators {
    pub(crate) fn new(space: &Space) -> Self {
        Initiators { all: space.sorter(4), count: 0 }
    }

    pub(crate) fn push(&mut self, initiated: Initiated) -> Result<(), Error> {
        let [thread, value] = initiated.event.sort_key();
        self.count += 1;
        self.all.push(Row { key: [thread, value, self.count], value: initiated })
    }

    /// Adds the initiators that a member of `args` names. A member means one thing per thread, or
    /// in the whole input as DevTools takes it; frames always in the whole input, sequence numbers
    /// of operators per process.
    pub(crate) fn link(
        &mut self,
        trace: &Trace,
        events: &Ordered<'_>,
        as_devtools: bool,
        space: &Space,
    ) -> Result<(), Error> {
        let mut linked: Sorter<4, CauseEvent> = space.sorter(4);
        let mut pids: HashMap<&[u8], u64> = HashMap::default();
        for (order, event) in (0u64..).zip(events.iter()) {
            if let Some(group) = group(event.role).filter(|_| event.id != 0) {
                let next = pids.len() as u64;
                let place = match group {
                    OPERATORS => *pids.entry(trace.ids_of(&event).0).or_insert(next),
                    0 => 0,
                    _ if as_devtools => 0,
                    _ => u64::from(event.thread),
                };
                let whole = group << 32 | u64::from(event.input);
                linked.push(Row { key: [whole, place, event.id, order], value: event })?;
            }
        }
        let mut found: Sorter<1, Initiated> = space.sorter(4);
        let (mut state, mut last) = (Linked::default(), None);
        for Row { key: [group, place, id, order], value: event } in linked.finish()?.iter() {
            if last.replace([group, place, id]) != Some([group, place, id]) {
                state = Linked::default();
            }
            if let Some(initiator) = state.add(&event) {
                let event = EventId::of_event(event.number, event.kind);
                found.push(Row { key: [order], value: Initiated { event, initiator } })?;
            }
        }
        found.finish()?.iter().try_for_each(|row| self.push(row.value))
    }

    /// Adds the initiators that flows name.
    pub(crate) fn follow(&mut self, flows: &Flows) -> Result<(), Error> {
        flows.links().try_for_each(|link| {
            self.push(Initiated { event: link.event.id, initiator: link.before.id })
        })
    }

    /// Adds the calls that launched kernels and memory copies on GPUs.
    pub(crate) fn launch(&mut self, trace: &Trace, space: &Space) -> Result<(), Error> {
        let id = |event: &DeviceEvent| EventId::of_event(event.number, event.kind);
        let mut launches = Launches::default();
        for Correlated(event) in trace.correlated(space)?.iter() {
            let is_launch = launches.take(&event);
            let launch = launches.of(&event).filter(|launch| !is_launch && launch.count == 1);
            if let Some(launch) = launch {
                self.push(Initiated { event: id(&event), initiator: id(&launch.first) })?;
            }
        }
        Ok(())
    }

    /// Returns one initiator per event.
    pub(crate) fn finish(self, space: &Space) -> Result<InitiatorTable, Error> {
        let mut by_order: Sorter<1, Initiated> = space.sorter(4);
        let mut by_initiator: Sorter<4, Initiated> = space.sorter(4);
        let mut by_event: SpillVec<Initiated> = space.spool(8);
        let all = self.all.finish()?;
        let mut rows = all.iter().peekable();
        while let Some(Row { key: [thread, value, order], value: mut initiated }) = rows.next() {
            while let Some(later) = rows.next_if(|row| row.key[..2] == [thread, value]) {
                initiated = later.value;
            }
            by_order.push(Row { key: [order], value: initiated })?;
            let [first, second] = initiated.initiator.sort_key();
            by_initiator.push(Row { key: [first, second, thread, value], value: initiated })?;
            by_event.push(initiated)?;
        }
        Ok(InitiatorTable {
            by_event: by_event.finish()?,
            by_initiator: values(by_initiator, space)?,
            in_order: values(by_order, space)?,
        })
    }
}
