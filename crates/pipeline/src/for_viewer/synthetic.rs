//! Writes the synthetic events for a viewer to a temporary file, which is then scanned like an
//! input.

use super::around::around;
use super::changes::{Change, Changes};
use super::complete::complete;
use super::pages::{InputPages, TraceStart};
use super::pairs::ViewerPairs;
use super::scan::ViewerFacts;
use crate::repeated::LeftOut;
use std::sync::Arc;
use tracemill_join::config::CheckFor;
use tracemill_join::identity::Rewrite;
use tracemill_tokenizer::{Tier, fields_of};
use tracemill_trace::Limits;
use tracemill_trace::order::Order;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::Scratch;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::{Payload, Store};
use tracemill_write::patch::event_rewriter::EventRewriter;

/// The inputs and decisions of a merge so far.
pub(crate) struct MergeContext<'b, 'p> {
    pub(crate) store: &'b Store<'p>,
    pub(crate) rewrite: &'b Rewrite,
    pub(crate) inputs: &'b Inputs,
    pub(crate) limits: &'b Limits,
}

/// Writer of a JSON array of events.
struct EventList(Scratch);

impl EventList {
    fn push(&mut self, event: &[u8]) -> Result<(), Error> {
        self.0.write(if self.0.is_empty() { b"[" } else { b",\n" })?;
        self.0.write(event)
    }

    fn finish(mut self) -> Result<Payload, Error> {
        if !self.0.is_empty() {
            self.0.write(b"]")?;
        }
        let mapped = self.0.into_mapped()?;
        Ok(mapped.map_or(Payload::Empty, |mapped| Payload::Mapped(Arc::new(mapped))))
    }
}

impl ViewerFacts {
    /// Returns synthetic events, as a JSON array, in place of the events that are not in the index.
    /// If such an event is a repeated event, removes the event from the counts in `left_out`.
    pub(crate) fn make(
        &self,
        left_out: &mut LeftOut,
        before: MergeContext<'_, '_>,
        changes: &mut Changes,
    ) -> Result<Payload, Error> {
        make(self, left_out, before, changes)
    }
}

/// Creates the synthetic events of [`ViewerFacts::make`].
fn make(
    known: &ViewerFacts,
    left_out: &mut LeftOut,
    before: MergeContext<'_, '_>,
    changes: &mut Changes,
) -> Result<Payload, Error> {
    changes.add(Change::Empty, known.empty);
    changes.add(Change::BareStarts, known.bare_starts);
    if known.viewer != CheckFor::Devtools {
        return Ok(Payload::Empty);
    }
    let MergeContext { store, rewrite, inputs, limits } = before;
    let synthetic =
        inputs.payloads.iter().filter(|held| held.synthetic).map(|held| held.base).collect();
    let pages = InputPages { tables: &known.tables, rewrite, synthetic };
    let mut text = EventList(Scratch::new(&limits.tmp_dir));
    let tier = limits.tier.unwrap_or_else(Tier::best);
    let patched = std::cell::RefCell::new(EventRewriter::new(&[rewrite], tier));
    let read = |entry: Entry| {
        let mut patched = patched.borrow_mut();
        patched.apply(store.event(entry.place), entry.place.offset()).to_vec()
    };
    let (mut pairs, mut starts) = (ViewerPairs::new(limits.open_quota()), Vec::new());
    known.special.each_in_order(Order(store), |entry| {
        if left_out.has(entry.place) {
            left_out.events -= 1;
            left_out.bytes -= store.len(entry.place);
            return Ok(());
        }
        let bytes = read(entry);
        if is_start(&bytes) {
            let unit = rewrite.unit_at(entry.place.offset()).map(|unit| rewrite.units[unit].base);
            let synthetic = unit.is_some_and(|base| pages.synthetic.contains(&base));
            starts.push(TraceStart { bytes, synthetic });
            return Ok(());
        }
        pairs.take(entry, &bytes, changes, read, |event| text.push(event))
    })?;
    for begin in pairs.finish(|event| text.push(event))? {
        changes.one(Change::Open);
        text.push(&complete(&read(begin), None).0)?;
    }
    pages.start(starts, changes).iter().try_for_each(|event| text.push(event))?;
    around(&pages, changes).iter().try_for_each(|event| text.push(event))?;
    pages.loads(changes).iter().try_for_each(|event| text.push(event))?;
    text.finish()
}

fn is_start(event: &[u8]) -> bool {
    tracemill_viewers::essential::is_start(&fields_of(event).of(event))
}
