//! What a scan for a slice leaves behind: 16 bytes for each event that may matter, apart by what it takes to decide.
//!
//! ```text
//!   metadata, untimed ──────────> lists          always kept
//!   X, moments ─────────────────> plain          inside or reaching in; all of them if windows count from start or end
//!   B E b e S F s t f (and C) ──> parts          all before the last window's end; all of them where pairs stay whole
//!   Profile, ProfileChunk ──────> streams        decoded on the worker
//!   TracingStartedInBrowser … ──> essential      those outside
//! ```

use super::Edges;
use super::keys::{self, Keys};
use super::kinds::{Kind, Phase, is_essential};
use super::parts::Parts;
use super::sorter::Sorter;
use super::windows::{Bounds, Windows};
use crate::config::Config;
use crate::error::Error;
use crate::index::{
    Document, InputOrder, KeyValue, METADATA, UNTIMED, append_documents, note_member,
};
use crate::order::{Entry, Order, rank};
use crate::profile::{Role, Streams};
use crate::read::{Current, Facts, Maker, Reader};
use crate::scan::Collect;
use crate::store::{Long, Place};
use crate::streams::StreamOrders;
use std::path::PathBuf;
use std::sync::Arc;
use tracemill_tokenizer::{Damage, Event, Form, Member, Nanos, Note, Sink};

/// What decides which events are left out at once.
#[derive(Debug)]
pub(super) struct Plan {
    /// `None` while they are not known.
    pub(super) windows: Option<Windows>,
    pub(super) edges: Edges,
}

/// Events by what it takes to decide on them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Part,
    Essential,
}

/// The findings of one chunk of an input.
pub(super) struct Part {
    plan: Arc<Plan>,
    base: u64,
    facts: Facts,
    bounds: Option<Bounds>,
    plain: Vec<Entry>,
    parts: Vec<keys::Part>,
    essential: Vec<Entry>,
    names: Keys,
    lists: [Vec<Place>; 2],
    long: Vec<Long>,
    streams: Streams,
    stream_orders: StreamOrders,
    order: InputOrder,
    keys: Vec<KeyValue>,
    documents: Vec<Document>,
}

impl Part {
    fn new(plan: &Arc<Plan>, base: u64, bytes: usize) -> Self {
        let plain = match plan.windows {
            Some(_) => Vec::new(),
            None => Vec::with_capacity(bytes / 256),
        };
        Part {
            plan: Arc::clone(plan),
            base,
            facts: Facts::default(),
            bounds: None,
            plain,
            parts: Vec::new(),
            essential: Vec::new(),
            names: Keys::default(),
            lists: [Vec::new(), Vec::new()],
            long: Vec::new(),
            streams: Streams::default(),
            stream_orders: StreamOrders::default(),
            order: InputOrder::default(),
            keys: Vec::new(),
            documents: Vec::new(),
        }
    }

    /// Where to keep an event, if it may matter.
    #[inline]
    fn class(
        &self,
        event: &Event<'_>,
        phase: Phase,
        ts: Nanos,
        dur: Option<Nanos>,
    ) -> Option<Class> {
        if is_essential(event) {
            return Some(Class::Essential);
        }
        let whole_pairs = self.plan.edges != Edges::Clip;
        let class = match phase {
            Phase::Part(Kind::Counter, _) if whole_pairs => Class::Plain,
            Phase::Part(..) => Class::Part,
            Phase::Complete | Phase::Moment => Class::Plain,
        };
        let Some(windows) = &self.plan.windows else { return Some(class) };
        let wanted = match class {
            Class::Part => whole_pairs || ts.floor < windows.end(),
            _ => {
                let dur = dur.filter(|_| phase == Phase::Complete);
                let dur = dur.map_or(0, |dur| dur.floor.saturating_add(2).max(0));
                windows.touch(ts.floor, ts.floor.saturating_add(dur))
            }
        };
        wanted.then_some(class)
    }
}

impl Sink for Part {
    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        self.facts.events += 1;
        let offset = self.base + event.offset;
        let len = event.bytes.len();
        if Place::is_long(len) {
            self.long.push((offset, len as u64));
        }
        if event.is_metadata() {
            let place = Place::new(offset, len, 0);
            self.order.note(Entry { time: i64::MIN, place });
            return self.lists[METADATA].push(place);
        }
        let Some(ts) = event.ts() else {
            let place = Place::new(offset, len, 0);
            self.order.note(Entry { time: i64::MIN + 1, place });
            self.stream_orders.note(event, Entry { time: i64::MIN, place });
            self.streams.note(event, offset);
            return self.lists[UNTIMED].push(place);
        };
        let (dur, phase) = (event.dur(), Phase::of(event));
        let entry = Entry { time: ts.floor, place: Place::new(offset, len, rank(ts, dur)) };
        self.order.note(entry);
        let end = match dur.filter(|dur| phase == Phase::Complete && dur.floor >= 0) {
            // rounded up: beyond an edge in doubt
            Some(dur) => {
                let rest = i64::from(!ts.exact) + i64::from(!dur.exact);
                ts.floor.saturating_add(dur.floor).saturating_add(rest)
            }
            None => ts.floor,
        };
        let own = Bounds { first: ts.floor, last: ts.floor, end };
        self.bounds = Some(self.bounds.map_or(own, |bounds| bounds.unite(own)));
        if Role::of(event).is_some() {
            self.stream_orders.note(event, entry);
            return self.streams.note(event, offset);
        }
        match self.class(event, phase, ts, dur) {
            Some(Class::Plain) => self.plain.push(entry),
            Some(Class::Part) => self.parts.extend(self.names.part(event, entry)),
            Some(Class::Essential) => self.essential.push(entry),
            None => {}
        }
    }

    fn document(&mut self, form: Form) {
        self.documents.push(Document { form, keys: Vec::new() });
    }

    fn member(&mut self, member: Member<'_>) {
        note_member(&mut self.documents, &mut self.keys, member, self.base);
    }

    fn damage(&mut self, damage: Damage<'_>) {
        self.facts.losses.add(&damage);
    }

    fn note(&mut self, note: Note, _offset: u64) {
        self.facts.note(note);
    }
}

impl Collect for Part {
    fn seal(&mut self) {
        for entries in [&mut self.plain, &mut self.essential] {
            if !entries.is_sorted() {
                entries.sort_unstable();
            }
            entries.shrink_to_fit();
        }
        if !self.parts.is_sorted_by_key(|part| part.entry) {
            self.parts.sort_unstable_by_key(|part| part.entry);
        }
        self.parts.shrink_to_fit();
        self.lists.iter_mut().for_each(Vec::shrink_to_fit);
        self.facts.span = self.bounds.map(|bounds| (bounds.first, bounds.last));
    }
}

/// The findings of all inputs.
pub(super) struct Index {
    plan: Arc<Plan>,
    pub(super) events: u64,
    pub(super) bounds: Option<Bounds>,
    /// With the lists.
    pub(super) plain: Sorter,
    pub(super) parts: Parts,
    pub(super) essential: Sorter,
    pub(super) long: Vec<Long>,
    pub(super) streams: Streams,
    /// Bytes of decoded chunks that may be kept.
    most: usize,
    tmp_dir: PathBuf,
    pub(super) stream_orders: StreamOrders,
    pub(super) order: InputOrder,
    pub(super) documents: Vec<Document>,
}

impl Index {
    pub(super) fn new(plan: Plan, config: &Config) -> Self {
        let quarter = config.shares().index / 4;
        Index {
            plan: Arc::new(plan),
            events: 0,
            bounds: None,
            plain: Sorter::new(quarter, &config.tmp_dir),
            parts: Parts::new(quarter / 2),
            essential: Sorter::new(quarter / 4, &config.tmp_dir),
            tmp_dir: config.tmp_dir.clone(),
            long: Vec::new(),
            streams: Streams::default(),
            most: quarter as usize,
            stream_orders: StreamOrders::default(),
            order: InputOrder::default(),
            documents: Vec::new(),
        }
    }
}

impl Reader for Index {
    type Part = Part;

    fn part(base: u64, bytes: usize) -> Part {
        Part::new(&Arc::new(Plan { windows: None, edges: Edges::Clip }), base, bytes)
    }

    fn maker(&self) -> Maker<Part> {
        let plan = Arc::clone(&self.plan);
        Box::new(move |base, bytes| Part::new(&plan, base, bytes))
    }

    fn facts(part: &Part) -> &Facts {
        &part.facts
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    const KEEPS_STREAMS: bool = true;

    // what is made for an edge comes before what stands there: so its place does too
    const RESERVED: u64 = 1 << 36;

    fn take(&mut self, part: Part, base: u64, current: Current<'_>) -> Result<(), Error> {
        self.events += part.facts.events;
        self.bounds = match (self.bounds, part.bounds) {
            (Some(own), Some(later)) => Some(own.unite(later)),
            (own, later) => own.or(later),
        };
        self.long.extend(part.long);
        append_documents(&mut self.documents, part.keys, part.documents);
        self.streams.append(part.streams, base, self.most);
        self.stream_orders.append(part.stream_orders);
        self.order.append(part.order);
        let [metadata, untimed] = part.lists;
        self.plain.list(METADATA, metadata);
        self.plain.list(UNTIMED, untimed);
        self.plain.push(part.plain);
        self.parts.push(part.parts);
        self.essential.push(part.essential);
        if self.plain.is_full() || self.parts.is_full() || self.essential.is_full() {
            let store = current.store(self.long.clone());
            let order = Order(&store);
            for sorter in [&mut self.plain, &mut self.essential] {
                if sorter.is_full() {
                    sorter.spill(order)?;
                }
            }
            if self.parts.is_full() {
                self.parts.spill(order, &self.tmp_dir)?;
            }
        }
        Ok(())
    }
}
