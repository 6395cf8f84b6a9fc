//! Decides for all events whether they are kept, cut, replaced or dropped.

use super::clip::Clip;
use super::complete::{self, Verdict};
use super::edge;
use super::pairs::PairWalk;
use super::report::SliceReport;
use super::selection::WindowSelection;
use super::synthetic::SyntheticEvents;
use super::write::KeptEvents;
use tracemill_cpuprofile::{Cut, Streams, cut_streams};
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::fields_of;
use tracemill_trace::Limits;
use tracemill_trace::event::PairEvent;
use tracemill_trace::order::{EntryRuns, ExternalSorter, Gather, Lists, Order, Sorter};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::SpillVec;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::place::Place;
use tracemill_trace::time::bounds::Bounds;
use tracemill_trace::time::windows::{Edges, Windows};
use tracemill_viewers::essential::is_start;
use tracemill_write::reordering::Reordering;

/// The windows and options by which events are decided.
#[derive(Clone, Copy)]
pub(super) struct Judge<'j, 'p> {
    pub(super) store: &'j Store<'p>,
    pub(super) windows: &'j Windows,
    pub(super) edges: Edges,
    pub(super) bounds: Bounds,
    /// Whether the windows contain the whole trace, so that all events are kept.
    pub(super) whole: bool,
    /// Whether pairs are found by name alone, see
    /// [`WindowPlan`](tracemill_join::read_plan::WindowPlan).
    pub(super) only_by_name: bool,
    pub(super) limits: &'j Limits,
}

impl<'j, 'p> Judge<'j, 'p> {
    fn order(self) -> Order<'j, 'p> {
        Order(self.store)
    }

    fn gather(self, name: &'static str) -> Gather<'j, 'p> {
        Gather::new(self.limits.lease(name, Share::of_index(1, 4)), self.order())
    }

    /// Decides which events to keep, cut or drop. Synthetic events go to `synthetic`.
    pub(super) fn choose(
        self,
        mut plain: Sorter,
        mut selection: WindowSelection,
        inputs: &Inputs,
        synthetic: &mut SyntheticEvents,
        report: &mut SliceReport,
    ) -> Result<KeptEvents, Error> {
        selection.end_streams()?;
        let WindowSelection { parts, mut essential, streams, .. } = selection;
        let mut kept = self.gather("entries of a slice");
        let (plain, lists) = plain.finish(self.store)?;
        let (essential, _) = essential.finish(self.store)?;
        report.written.spilled_runs = plain.spilled() + essential.spilled();
        self.choose_plain(&plain, &mut kept, synthetic, report)?;
        drop(plain);
        self.choose_parts(parts, &mut kept, synthetic, report)?;
        self.choose_essential(&essential, &mut kept, synthetic, report)?;
        let cut = self.choose_streams(&streams, inputs, &mut kept, synthetic, report)?;
        let lists = self.without(lists, &streams, &cut)?;
        let delays = self.delays(&streams, &cut)?;
        let (mut events, mut bytes) = (0, 0);
        for place in lists.iter() {
            (events, bytes) = (events + 1, bytes + self.store.len(place));
        }
        report.kept_always += events;
        let (kept_events, kept_bytes) = (kept.events, kept.bytes);
        (events, bytes) = (events + kept_events, bytes + kept_bytes);
        Ok(KeptEvents { events, bytes, timed: kept.finish()?, lists, delays })
    }

    /// Keeps, cuts or drops complete events and instants.
    fn choose_plain(
        self,
        plain: &EntryRuns,
        kept: &mut Gather<'_, '_>,
        synthetic: &mut SyntheticEvents,
        report: &mut SliceReport,
    ) -> Result<(), Error> {
        let mut cuts = self.gather("streams that are cut");
        for entry in plain.iter() {
            match self.verdict(entry) {
                Verdict::Kept => kept.push(entry)?,
                Verdict::Cut => cuts.push(entry)?,
                Verdict::Dropped => {}
            }
        }
        let (cuts, _) = cuts.finish()?.finish(self.store)?;
        cuts.each_in_order(self.order(), |entry| {
            report.clipped += 1;
            let pieces = complete::pieces(entry, self.windows, self.store);
            pieces.iter().try_for_each(|piece| synthetic.event_of(entry, piece))
        })
    }

    #[inline]
    fn verdict(self, entry: Entry) -> Verdict {
        if self.whole {
            return Verdict::Kept;
        }
        complete::verdict(entry, self.windows, self.edges, self.store)
    }

    /// Keeps, cuts or drops pairs, flows and counters.
    fn choose_parts(
        self,
        parts: ExternalSorter<PairEvent>,
        kept: &mut Gather<'j, 'p>,
        synthetic: &mut SyntheticEvents,
        report: &mut SliceReport,
    ) -> Result<(), Error> {
        let Judge { store, windows, only_by_name, limits, .. } = self;
        let parts = parts.finish(self.order())?;
        report.written.spilled_runs += parts.runs();
        if self.whole {
            return parts.unsorted().try_for_each(|part| kept.push(part.entry));
        }
        if self.edges == Edges::Clip {
            let lease = limits.lease("events that are cut", Share::of_index(1, 8));
            let edges = ExternalSorter::new(lease, limits.threads);
            let quota = limits.open_quota();
            let mut clip = Clip::new(store, windows, self.bounds, kept, edges, only_by_name, quota);
            parts.sorted(self.order()).try_for_each(|part| clip.take(&part))?;
            let edges = clip.finish()?.finish(self.order())?;
            report.written.spilled_runs += edges.runs();
            let counts = edge::make(&edges, windows, store, synthetic)?;
            (report.opened, report.closed) = (counts.opened, counts.closed);
            report.counters = counts.counters;
            return Ok(());
        }
        let steps = SpillVec::new(limits.lease("steps of operations", Share::of_index(1, 8)));
        let quota = limits.open_quota();
        let mut pairs = PairWalk::new(store, windows, self.edges, kept, steps, only_by_name, quota);
        parts.sorted(self.order()).try_for_each(|part| pairs.take(&part))?;
        pairs.end_key()
    }

    /// Keeps essential events, even outside windows. An event at which DevTools starts moves to the
    /// start of the first window if it is earlier.
    fn choose_essential(
        self,
        essential: &EntryRuns,
        kept: &mut Gather<'_, '_>,
        synthetic: &mut SyntheticEvents,
        report: &mut SliceReport,
    ) -> Result<(), Error> {
        let first = self.windows.0.first().map_or(i64::MIN, |window| window.from);
        essential.each_in_order(self.order(), |entry| {
            if self.whole
                || self.windows.at(entry.time).is_some() && self.verdict(entry) == Verdict::Kept
            {
                return kept.push(entry);
            }
            let bytes = self.store.event(entry.place);
            match self.verdict(entry) {
                Verdict::Cut => {
                    report.clipped += 1;
                    let pieces = complete::pieces(entry, self.windows, self.store);
                    return pieces.iter().try_for_each(|piece| synthetic.event_of(entry, piece));
                }
                Verdict::Dropped if self.edges == Edges::Clip && entry.time < first => {
                    let spans = fields_of(bytes);
                    if is_start(&spans.of(bytes)) {
                        report.moved += 1;
                        return synthetic.event_of(entry, &edge::at(self.store, entry, first));
                    }
                }
                _ => {}
            }
            report.kept_always += 1;
            report.kept_outside += 1;
            kept.push(entry)
        })
    }

    fn choose_streams(
        self,
        streams: &Streams,
        inputs: &Inputs,
        kept: &mut Gather<'_, '_>,
        synthetic: &mut SyntheticEvents,
        report: &mut SliceReport,
    ) -> Result<Cut, Error> {
        let mut cut = if self.whole {
            Cut { stays: vec![true; streams.groups().len()], ..Cut::default() }
        } else {
            let (windows, edges) = (self.windows, self.edges);
            let mut push = |event: &[u8]| synthetic.event(event);
            cut_streams(streams, windows, edges, self.store, self.limits, &mut push)?
        };
        for group in cut.groups(streams, true) {
            let mut timed = group.events().filter(|entry| entry.time != i64::MIN);
            timed.try_for_each(|entry| kept.push(entry))?;
        }
        report.written.spilled_runs += streams.spilled;
        report.rebased = cut.rebased;
        report.samples = cut.samples;
        report.flaws = std::mem::take(&mut cut.flaws);
        report.flaws.locate(|offset| inputs.locate(offset));
        if cut.whole > 0 {
            report.written.run.warnings.push(Warning::ProfilesKeptWhole(cut.whole));
        }
        Ok(cut)
    }

    /// Removes events of dropped CPU profiles from the lists.
    fn without(self, lists: Lists, streams: &Streams, cut: &Cut) -> Result<Lists, Error> {
        let mut gone = self.gather("events that go");
        for group in cut.groups(streams, false) {
            let mut untimed = group.events().filter(|entry| entry.time == i64::MIN);
            untimed.try_for_each(|entry| gone.push(entry))?;
        }
        if gone.events == 0 {
            return Ok(lists);
        }
        let (gone, _) = gone.finish()?.finish(self.store)?;
        let mut left =
            SpillVec::new(self.limits.lease("untimed events that stay", Share::of_index(1, 4)));
        let mut keep = |place| left.push(place);
        // both are in input order, except metadata, which comes first and stays
        let mut places = lists.iter();
        gone.each_in_order(self.order(), |gone| {
            let stays = |place: &Place| place.offset() != gone.place.offset();
            places.by_ref().take_while(stays).try_for_each(&mut keep)
        })?;
        places.try_for_each(&mut keep)?;
        Ok(left.finish()?.into())
    }

    /// Decides the order of streams whose chunks are not sorted by time.
    fn delays(self, streams: &Streams, cut: &Cut) -> Result<Reordering, Error> {
        let suspects = streams.suspects();
        if suspects.is_empty() {
            return Ok(Reordering::default());
        }
        let groups = cut.groups(streams, true).filter(|group| suspects.contains(group.key));
        let chunks = groups.flat_map(|group| group.chunks().iter());
        Reordering::find(&suspects, chunks, self.order(), self.limits)
    }
}
