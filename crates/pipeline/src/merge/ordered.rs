//! Fourth step of a merge: sorts all events, including synthetic events for a viewer.

use super::renamed::Renamed;
use super::settled::{Contents, Settled};
use crate::for_viewer::{self, Changes, MergeContext, ViewerFacts};
use crate::repeated::LeftOut;
use crate::repeated::dedup::deduplicate;
use tracemill_join::clock::shift_runs;
use tracemill_join::config::{CheckFor, Config};
use tracemill_join::identity::{RenamedUnit, push_provenance};
use tracemill_join::report::warning::Warning;
use tracemill_join::report::{IdentityReport, MergeReport};
use tracemill_tokenizer::Event;
use tracemill_trace::Limits;
use tracemill_trace::observe::{EventIndex, Sorted};
use tracemill_trace::order::{EntryRuns, Lists, Order, Sorter};
use tracemill_trace::output::target::{Format, OutputConfig};
use tracemill_trace::read::{Current, InputBytes, Inputs};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::long_events::LongEvents;
use tracemill_trace::store::{Payload, Store};
use tracemill_write::annotations::Annotations;
use tracemill_write::keys::{MergedKeys, unite_renamed};
use tracemill_write::layout::{Layout, default_format};
use tracemill_write::reordering::Reordering;
use tracemill_write::trace_writer::{EventCount, begin_report, warn};

/// Sorted runs of events, and lists of metadata and untimed events.
pub(super) struct Ordered {
    pub(super) renamed: Renamed,
    pub(super) runs: EntryRuns,
    pub(super) lists: Lists,
    /// Facts about the trace that a viewer needs, if the merge is for a viewer.
    pub(super) viewer: Option<ViewerFacts>,
    pub(super) left_out: LeftOut,
    pub(super) copies: u64,
    /// The changes made for the viewer.
    pub(super) changes: Changes,
    /// Entries of synthetic events that are not in `runs` yet.
    pub(super) added: Option<Sorter>,
}

/// The text of the synthetic events. Its offsets come after those of all inputs.
pub(super) struct Synthetic {
    text: Payload,
    base: u64,
    oversized: LongEvents,
}

impl Ordered {
    /// Creates the synthetic events for a viewer. Returns `None` if the merge is not for a viewer.
    pub(super) fn synthesize(
        &mut self,
        store: &Store<'_>,
        inputs: &Inputs,
        limits: &Limits,
    ) -> Result<Option<Synthetic>, Error> {
        let Some(known) = &self.viewer else { return Ok(None) };
        let rewrite = &self.renamed.names.rewrite;
        let before = MergeContext { store, rewrite, inputs, limits };
        let text = known.make(&mut self.left_out, before, &mut self.changes)?;
        let base = store.end();
        let kept = Sorted::new(limits.lease("events made for a viewer", Share::of_index(1, 4)));
        let current = Current { before: &inputs.payloads, base, bytes: InputBytes::Payload(&text) };
        let index = EventIndex::of_synthetic(kept, &text, current, limits)?;
        let count = &mut self.renamed.scanned.count;
        count.events += index.events;
        count.bytes += index.bytes;
        self.added = Some(index.kept.into_entries());
        Ok(Some(Synthetic { text, base, oversized: index.long_events }))
    }

    /// Inserts the synthetic events into the order.
    pub(super) fn include<'p>(
        mut self,
        synthetic: &'p Option<Synthetic>,
        store: Store<'p>,
        limits: &Limits,
    ) -> Result<(Ordered, Store<'p>), Error> {
        let Some((mut added, synthetic)) = self.added.take().zip(synthetic.as_ref()) else {
            return Ok((self, store));
        };
        let base = synthetic.base;
        let store = store.and(base, &synthetic.text, &synthetic.oversized);
        let added = added.finish(&store)?.0;
        self.runs = self.runs.join(added, Order(&store), &limits.tmp_dir)?;
        // synthetic events have their new ids already
        let units = &mut self.renamed.names.rewrite.units;
        units.push(RenamedUnit::unchanged(base));
        Ok((self, store))
    }

    /// Decides the remaining questions: order of CPU profile streams, top-level keys, equal
    /// metadata events, format.
    ///
    /// # Errors
    /// Returns an error if annotations or keys exceed the memory limit.
    pub(super) fn settle<'p>(
        mut self,
        store: &Store<'p>,
        inputs: &Inputs,
        output: &OutputConfig,
        config: &Config,
    ) -> Result<(Settled, Contents<'p>), Error> {
        let mut delays = self.find_delays(Order(store), &config.limits)?;
        let Ordered { mut renamed, runs, lists, viewer, left_out, copies, changes, .. } = self;
        let scanned = &renamed.scanned;
        let documents = &scanned.documents;
        let annotations =
            Annotations::read(documents, inputs, true, store, &config.limits.table_quota())?;
        let mut keys = unite_renamed(documents, store, &mut renamed.names.rewrite);
        let kept = deduplicate(lists, store, &renamed.names.rewrite, &renamed.parts, config)?;
        let identity = renamed.identity_report(kept.events, inputs, config);
        let has_own_keys = note_provenance(&mut keys, &identity, &renamed, config);
        let count = EventCount {
            events: scanned.count.events - left_out.events - kept.events,
            bytes: scanned.count.bytes - left_out.bytes - kept.bytes,
        };
        let events = viewer.is_some().then_some(count.events);
        let format = renamed.format(output, has_own_keys || scanned.window.is_some(), events);
        delays.leave_out(left_out.offsets);
        let report = MergeReport {
            spilled_runs: runs.spilled(),
            delayed_chunks: delays.count(),
            copies,
            ..renamed.begin_report(inputs, &keys, &delays, format, identity, config)
        };
        let rewrite = Some(renamed.names.rewrite).filter(|rewrite| !rewrite.is_empty());
        let settled = Settled {
            runs,
            lists: kept.lists,
            rewrite,
            clocks: renamed.clocks,
            viewer,
            changes,
            count,
            layout: Layout::of(format),
            window: renamed.scanned.window,
        };
        Ok((settled, Contents { delays, keys, annotations, report }))
    }

    /// Decides the order of CPU profile streams whose chunks may be out of order.
    fn find_delays(&mut self, order: Order<'_, '_>, limits: &Limits) -> Result<Reordering, Error> {
        let suspects = std::mem::take(&mut self.renamed.streams).suspects();
        if suspects.is_empty() {
            return Ok(Reordering::default());
        }
        let untimed = self.lists.iter().map(|place| Entry { time: i64::MIN, place });
        let names = &self.renamed.names;
        let key_of = |event: &Event<'_>, place| names.stream_key(event, place);
        Reordering::find_by(&suspects, untimed.chain(self.runs.iter()), order, limits, key_of)
    }
}

impl Renamed {
    /// Sorts the events by the output's times, and decides which repeated events are dropped.
    ///
    /// # Errors
    /// Returns an error if a run cannot be written, or if the events of one time exceed the memory
    /// limit.
    pub(super) fn order(mut self, store: &Store<'_>, config: &Config) -> Result<Ordered, Error> {
        let scanned = &mut self.scanned;
        let (mut runs, lists) = scanned.entries.finish(store)?;
        let found = scanned.viewer.take();
        let mut viewer = found.map(|found| found.finish(store)).transpose()?;
        let special = |time| viewer.iter().flat_map(move |known| known.at(time));
        // times are equal before clocks are moved
        let mut left_out =
            scanned.repeated.decide(&self.parts, store, &config.limits, |time, each| {
                runs.at(time).chain(special(time)).for_each(each);
            })?;
        if self.clocks.change() {
            shift_runs(&mut runs, &self.clocks, store, &config.limits.tmp_dir)?;
            if let Some(known) = &mut viewer {
                known.shift(&self.clocks, store, &config.limits)?;
            }
        }
        if config.identity.dedup {
            let special = viewer.iter().map(|known| &known.special);
            let all = Vec::from_iter([&runs].into_iter().chain(special));
            left_out.add_equal(&all, &self.names.rewrite, Order(store), &config.limits)?;
        }
        let (copies, changes) = (left_out.events, Changes::default());
        Ok(Ordered { renamed: self, runs, lists, viewer, left_out, copies, changes, added: None })
    }

    /// Returns the format of the output. `viewer` is `None` unless the merge is for a viewer; then
    /// it is the number of events in the output.
    pub(super) fn format(
        &self,
        output: &OutputConfig,
        has_own_keys: bool,
        viewer: Option<u64>,
    ) -> Format {
        let usual = match default_format(&self.scanned.documents) {
            Format::Array if has_own_keys => Format::Object,
            format => format,
        };
        let format = output.format_or(usual);
        viewer.map_or(format, |events| for_viewer::form(format, events))
    }

    pub(super) fn begin_report(
        &mut self,
        inputs: &Inputs,
        keys: &MergedKeys<'_>,
        delays: &Reordering,
        format: Format,
        identity: IdentityReport,
        config: &Config,
    ) -> MergeReport {
        let mut run = begin_report(inputs, keys, format, &config.limits);
        run.warnings.append(&mut self.warnings);
        warn(keys, delays, &mut run);
        let profiles = inputs.reports.iter().any(|input| input.profiles > 0);
        let for_devtools = config.viewer.viewer == Some(CheckFor::Devtools);
        if self.scanned.browser && profiles && !for_devtools {
            run.warnings.push(Warning::HiddenProfiles);
        }
        let clocks = self.clocks.inputs.clone();
        MergeReport { run, identity, clocks, ..MergeReport::new(&config.limits) }
    }
}

/// Adds the renamed ids and moved clocks to the keys if the rules request provenance. Returns
/// whether they were added.
pub(super) fn note_provenance(
    keys: &mut MergedKeys<'_>,
    identity: &IdentityReport,
    renamed: &Renamed,
    config: &Config,
) -> bool {
    let wanted = config.identity.provenance;
    if wanted {
        let mut text = Vec::new();
        push_provenance(&identity.inputs, &renamed.clocks.inputs, &mut text);
        keys.note(text);
    }
    wanted
}
