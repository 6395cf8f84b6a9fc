//! Flows: events that the phases `s`, `t` and `f` connect, as DevTools finds them (`FlowsHandler`).
//!
//! ```text
//!   s t f ── groups by (cat, name, id), open from s to f ──> bindings (thread, ts, cat) ─┐ sorted
//!   other events ── whose binding may exist ────────────────> candidates ────────────────┤ sorted
//!                                                          the first candidate of each <─┘
//!                            members ── by flow and time ── by flow ── flows of two and more, in order
//! ```
//!
//! An event belongs to a flow if a phase has its thread, time and categories and no earlier event
//! has. A flow is an id: groups of other names with the same id continue it, as in DevTools.
//!
//! Cost: sorts of the phases and of the events bound to them, on disk beyond the lease.

use crate::bloom_filter::BloomFilter;
use crate::event_id::EventId;
use crate::ordered::Ordered;
use crate::sorted::{Row, SortedRows, Sorter};
use tracemill_analysis::Trace;
use tracemill_analysis::events::causes::{CauseEvent, CauseRole};
use tracemill_analysis::value::space::{Space, rank};
use tracemill_trace::Error;
use tracemill_trace::record;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashSet;

record! {
    /// An event of a flow.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Member {
        pub(crate) id: EventId,
        /// Number of the text that links the event to others.
        pub(crate) text: u32,
        pub(crate) role: CauseRole,
    }
}

impl Member {
    fn of(event: &CauseEvent) -> Self {
        let text = if event.role == CauseRole::ScheduleAsync { event.id as u32 } else { 0 };
        let id = EventId::of_event(event.number, event.kind);
        Member { id, text, role: event.role }
    }
}

/// Two neighbours in a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) before: Member,
    pub(crate) event: Member,
    /// Whether `before` begins the flow.
    pub(crate) is_first: bool,
}

/// The flows of a trace, in the order of their first events.
pub(crate) struct Flows {
    /// By order and sequence number of the first member, then by order.
    pub(crate) members: SortedRows<3, Member>,
}

impl Flows {
    /// Returns the neighbours in each flow.
    pub(crate) fn links(&self) -> impl Iterator<Item = Link> + '_ {
        let mut last: Option<([u64; 2], Member)> = None;
        let mut is_first = true;
        self.members.iter().filter_map(move |Row { key: [order, sequence, _], value }| {
            let before = last.replace(([order, sequence], value));
            let before = before.filter(|(flow, _)| *flow == [order, sequence]);
            let Some((_, before)) = before else {
                is_first = true;
                return None;
            };
            Some(Link { before, event: value, is_first: std::mem::take(&mut is_first) })
        })
    }
}

/// A group of phases: kind (name and categories), id and input.
type Group = (u32, u64, u32);

record! {
    /// A phase that binds a flow to the thread, time and categories of an event.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Binding {
        id: u64,
        input: u32,
    }
}

record! {
    /// A member of a flow, and its sequence number among the flows of the event.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Bound {
        member: Member,
        sequence: u64,
    }
}

/// Returns the thread, time and categories by which phases and events belong together.
fn binding_key(trace: &Trace, event: &CauseEvent) -> [u64; 3] {
    let cat = trace.kinds()[event.kind as usize].cat;
    let thread = u64::from(event.input) << 32 | u64::from(event.thread);
    [thread, rank(event.ts), u64::from(cat)]
}

/// Finds the flows of a trace.
///
/// # Errors
/// Returns an I/O error if a temporary file fails, or
/// [`tracemill_trace::ErrorKind::Exceeded`] if too many flows are open at a time.
pub(crate) fn flows(
    trace: &Trace,
    events: &Ordered<'_>,
    space: &Space,
    room: &Quota,
) -> Result<Flows, Error> {
    let mut filter = BloomFilter::default();
    let bindings = bindings(trace, events, &mut filter, space, room)?;
    let candidates = candidates(trace, events, &filter, space)?;
    let members = members(&bindings, &candidates, space)?;
    let by_flow = in_flows(&members, space)?;
    Ok(Flows { members: in_order(&by_flow, space)? })
}

/// Returns the bindings of all flows, by thread, time, categories and order.
fn bindings(
    trace: &Trace,
    events: &Ordered<'_>,
    filter: &mut BloomFilter,
    space: &Space,
    room: &Quota,
) -> Result<SortedRows<4, Binding>, Error> {
    let mut open: HashSet<Group> = HashSet::default();
    let mut bindings: Sorter<4, Binding> = space.sorter(8);
    let phases = (0u64..).zip(events.iter()).filter(|(_, event)| event.role.is_phase_of_flow());
    for (order, event) in phases {
        let group = (event.kind, event.id, event.input);
        let is_open = match event.phase {
            b's' => {
                open.insert(group);
                room.check((open.capacity() * (size_of::<Group>() + 1)) as u64, "open flows")?;
                true
            }
            b't' => open.contains(&group),
            _ => open.remove(&group),
        };
        if is_open {
            let [thread, ts, cat] = binding_key(trace, &event);
            filter.insert([thread, ts, cat]);
            let value = Binding { id: event.id, input: event.input };
            bindings.push(Row { key: [thread, ts, cat, order], value })?;
        }
    }
    bindings.finish()
}

/// Returns the events that may belong to flows, in the order of [`bindings`].
fn candidates(
    trace: &Trace,
    events: &Ordered<'_>,
    filter: &BloomFilter,
    space: &Space,
) -> Result<SortedRows<4, Member>, Error> {
    let mut candidates: Sorter<4, Member> = space.sorter(8);
    let others = (0u64..).zip(events.iter()).filter(|(_, event)| !event.role.is_phase_of_flow());
    for (order, event) in others {
        let [thread, ts, cat] = binding_key(trace, &event);
        if filter.has([thread, ts, cat]) {
            let key = [thread, ts, cat, order];
            candidates.push(Row { key, value: Member::of(&event) })?;
        }
    }
    candidates.finish()
}

/// Binds the first event of each thread, time and categories to its flows. Returns the members by
/// input, flow, time and order.
fn members(
    bindings: &SortedRows<4, Binding>,
    candidates: &SortedRows<4, Member>,
    space: &Space,
) -> Result<SortedRows<4, Bound>, Error> {
    let mut members: Sorter<4, Bound> = space.sorter(8);
    let mut candidates = candidates.iter().peekable();
    let mut of_event: Vec<u64> = Vec::new();
    let (mut last, mut event) = (None, None);
    for Row { key: [thread, ts, cat, _], value: Binding { id, input } } in bindings.iter() {
        let key = [thread, ts, cat];
        let place = |row: &Row<[u64; 4], Member>| [row.key[0], row.key[1], row.key[2]];
        if last.replace(key) != Some(key) {
            of_event.clear();
            while candidates.next_if(|row| place(row) < key).is_some() {}
            event = candidates.next_if(|row| place(row) == key);
        }
        let Some(row) = event else { continue };
        if of_event.contains(&id) {
            continue;
        }
        let value = Bound { member: row.value, sequence: of_event.len() as u64 };
        of_event.push(id);
        members.push(Row { key: [u64::from(input), id, ts, row.key[3]], value })?;
    }
    members.finish()
}

/// Keeps one member of each flow and time: the last one, in the place of the first. Returns the
/// members by input, flow and place.
fn in_flows(members: &SortedRows<4, Bound>, space: &Space) -> Result<SortedRows<3, Bound>, Error> {
    let mut by_flow: Sorter<3, Bound> = space.sorter(8);
    let mut rows = members.iter().peekable();
    while let Some(Row { key: [input, id, ts, order], value: mut bound }) = rows.next() {
        while let Some(later) = rows.next_if(|row| row.key[..3] == [input, id, ts]) {
            bound.member = later.value.member;
        }
        by_flow.push(Row { key: [input, id, order], value: bound })?;
    }
    by_flow.finish()
}

/// Returns the members of flows of two and more, by the order and sequence number of the flow.
fn in_order(by_flow: &SortedRows<3, Bound>, space: &Space) -> Result<SortedRows<3, Member>, Error> {
    let mut all: Sorter<3, Member> = space.sorter(8);
    let mut rows = by_flow.iter().peekable();
    while let Some(Row { key: [input, id, order], value: first }) = rows.next() {
        let mut push = |at: u64, member: Member| {
            all.push(Row { key: [order, first.sequence, at], value: member })
        };
        let mut is_alone = true;
        while let Some(row) = rows.next_if(|row| row.key[..2] == [input, id]) {
            if std::mem::take(&mut is_alone) {
                push(order, first.member)?;
            }
            push(row.key[2], row.value.member)?;
        }
    }
    all.finish()
}
