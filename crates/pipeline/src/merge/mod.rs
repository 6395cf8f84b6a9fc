//! `merge`: any number of traces to one, sorted, whole.
//!
//! ```text
//!   inputs ─ scan ─> parts (sorted) ─┬─> buckets ────────────┬─ gather ─> output
//!                       │ budget     └─> runs on disk, merged ┘
//!                       └─ keys, streams, losses
//! ```
//!
//! Nothing is opened for writing before all inputs are read, so a failing input leaves no trace of an output.

pub(crate) mod merged_scan;

mod browser_watch;
mod merge_inputs;
mod plan;

use crate::for_viewer::{self, Changes, MergeContext, ViewerFacts, ViewerFixups};
use crate::repeated::LeftOut;
use crate::repeated::dedup::deduplicate;
pub use browser_watch::is_plain_name;
pub(crate) use merge_inputs::{MergeInputs, MergeObservers};
use merge_inputs::{Others, keep, observers};
pub use plan::plan_merge;
use std::sync::Arc;
use tracemill_cpuprofile::StreamOrders;
use tracemill_join::clock::{Clocks, shift_runs};
use tracemill_join::config::{CheckFor, Config};
use tracemill_join::identity::parts::Parts;
use tracemill_join::identity::{
    DecidedNames, Labels, RenamedUnit, Rewrite, decide_names, may_be_several, push_provenance,
};
use tracemill_join::inputs::input_watch::decide_clocks;
use tracemill_join::inputs::{of_inputs, scan};
use tracemill_join::report::warning::Warning;
use tracemill_join::report::{IdentityReport, MergeReport, RunReport};
use tracemill_tokenizer::Event;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{EventIndex, Scanned, Sorted};
use tracemill_trace::order::{Lists, METADATA, Order, Runs};
use tracemill_trace::output;
use tracemill_trace::output::target::{Format, OutputConfig};
use tracemill_trace::read::{Current, InputBytes, Inputs};
use tracemill_trace::run::error::Error;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::long_events::LongEvents;
use tracemill_trace::store::{Payload, Store};
use tracemill_write::annotations::{Annotations, Written};
use tracemill_write::emit::Emit;
use tracemill_write::keys::{MergedKeys, unite_renamed};
use tracemill_write::layout::{Layout, default_format};
use tracemill_write::patch::Patcher;
use tracemill_write::reordering::Reordering;

/// Merges `sources` into one trace in order of time ([`tracemill_trace::order`] has the whole rule); one source is sorted.
///
/// Cost: one pass over the input at scanning speed and one write of the output; 16 bytes of heap an event, and beyond a
/// quarter of the budget none, for sorted runs on disk.
///
/// # Errors
/// See [`tracemill_trace::ErrorKind`]; whatever it is, the output is as it was before. Damaged input is no error (unless
/// [`tracemill_trace::Limits::strict`]): what was lost is in the report.
///
/// Parts that [`crate::split()`] made of one trace give each of its events once: events that they repeat, and metadata events
/// that several of them have, are left out and counted.
pub fn merge(
    sources: &[Source],
    output: &OutputConfig,
    config: &Config,
) -> Result<MergeReport, Error> {
    merge_window(sources, None, output, config)
}

/// As [`merge`], of a trace that DevTools opens on `window`, in nanoseconds.
pub(crate) fn merge_window(
    sources: &[Source],
    window: Option<(i64, i64)>,
    output: &OutputConfig,
    config: &Config,
) -> Result<MergeReport, Error> {
    config.check()?;
    output::check(output, &sources.iter().collect::<Vec<_>>())?;
    let observers = observers(config, may_be_several(sources), true);
    let Scanned { inputs, index, observed } =
        scan(sources, config, keep(config, Others::None), observers)?;
    let merged = MergeInputs::new(index, Sorted::into_entries, observed);
    MergeInputs { window, ..merged }.write(inputs, output, config)
}

/// Creates the index and the observers of a merge whose scan an analysis observes too.
pub(crate) fn observe_beside_analysis(config: &Config) -> (Sorted, MergeObservers) {
    (keep(config, Others::Analysis), observers(config, true, true))
}

impl MergeInputs {
    /// The second half of a merge: order and output.
    pub(crate) fn write(
        mut self,
        inputs: Inputs,
        output: &OutputConfig,
        config: &Config,
    ) -> Result<MergeReport, Error> {
        let (clocks, warnings) = self.decide_offsets(&inputs, config)?;
        let parts = Parts::of(&self.documents, &inputs);
        let (mut decided, streams, labels) = self.decide_names(&inputs, &parts, &clocks, config)?;
        let long = std::mem::take(&mut self.long_events);
        let mut long_made = LongEvents::default();
        let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
        let labels = labels.iter().map(|labels| (labels.base, &labels.payload));
        let store = Store::new(payloads.chain(labels)).with_long(&long);
        let mut store = store.with_shifts(clocks.shifts());
        let (mut runs, lists, known, mut left_out) =
            self.end_on_one_line(&parts, &decided.rewrite, &clocks, &store, config)?;
        let made;
        let (copies, mut changes) = (left_out.events, Changes::default());
        if let Some(known) = &known {
            let before =
                MergeContext { store: &store, rewrite: &decided.rewrite, inputs: &inputs, config };
            made = known.make(&mut left_out, before, &mut changes)?;
            let added = (&made, &mut long_made, store);
            (store, runs) = self.add_made(added, runs, &mut decided.rewrite, &inputs, config)?;
        }
        let (store, order) = (&store, Order(&store));
        let mut delays = find_delays(streams, &decided, &runs, &lists, order, config)?;
        let annotations =
            Annotations::read(&self.documents, &inputs, true, (store, &config.table_quota()))?;
        let mut united = unite_renamed(&self.documents, store, &mut decided.rewrite);
        let kept = deduplicate(lists, store, &decided.rewrite, &parts, config)?;
        let identity = identity_report(&decided, kept.events, &inputs, config);
        let own = note_provenance(&mut united, &identity, &clocks, config) || self.window.is_some();
        let events = self.events - left_out.events - kept.events;
        let size = (events, self.bytes - left_out.bytes - kept.bytes);
        let format = self.format(output, own, known.is_some().then_some(size.0));
        delays.leave_out(left_out.offsets);
        let mut report = MergeReport {
            run: begin_run(&inputs, &united, format, warnings, config),
            spilled_runs: runs.spilled(),
            delayed_chunks: delays.count(),
            copies,
            identity,
            clocks: clocks.inputs.clone(),
        };
        warn(&united, &delays, &report.run.format, &mut report.run.warnings);
        self.warn(&inputs, config, &mut report.run.warnings);
        let rewrite = Some(decided.rewrite).filter(|rewrite| !rewrite.is_empty());
        let rewrite = rewrite.as_ref();
        let patchers = rewrite.map(|rewrite| rewrite as &dyn Patcher).into_iter().collect();
        let (layout, timed) = (Layout::of(format), runs.timed(order));
        let fixups;
        let mut emit = Emit { order, layout, delays, lists: &kept.lists, timed, patchers };
        let fix = |known| ViewerFixups::new(known, &mut emit, &runs, rewrite, changes, config);
        fixups = known.as_ref().map(fix).transpose()?;
        let mut written = Written::merged(&emit, rewrite, &clocks, known.is_none(), config);
        written.window = self.window;
        written.before = fixups.as_ref().map_or(0, ViewerFixups::before);
        written.cut_chunks = known.as_ref().map_or(&[], |known| &known.cut_chunks);
        report.run.annotations = annotations.put(&mut united, &written).report();
        report.run.warnings.extend(report.run.annotations.warning());
        fixups.iter().for_each(|fixups| fixups.mend_keys(&mut united));
        emit.patchers.extend(fixups.as_ref().map(|fixups| fixups as &dyn Patcher));
        let check = || inputs.check_unchanged();
        let to = (output, None);
        let bytes = emit.write_all(&united, size, to, config, &mut report.run.warnings, check)?;
        report.run.warnings.extend(clocks.stuck());
        (report.run.events, report.run.bytes) = (size.0, bytes);
        fixups.iter().for_each(|fixups| fixups.report(&mut report, inputs.span()));
        report.run.inputs = inputs.reports;
        Ok(report)
    }

    /// Decides on clocks.
    fn decide_offsets(
        &mut self,
        inputs: &Inputs,
        config: &Config,
    ) -> Result<(Arc<Clocks>, Vec<Warning>), Error> {
        let store = inputs.store();
        let (clocks, warnings) =
            decide_clocks(&mut self.facts, &self.documents, inputs, &store, &config.clocks)?;
        Ok((Arc::new(clocks), warnings))
    }

    /// The format of the output, which has `own` keys; for a viewer, of so many events.
    fn format(&self, output: &OutputConfig, own: bool, viewer: Option<u64>) -> Format {
        let usual = match default_format(&self.documents) {
            Format::Array if own => Format::Object,
            format => format,
        };
        let format = output.format_or(usual);
        viewer.map_or(format, |events| for_viewer::form(format, events))
    }

    /// What there is to say of the inputs.
    fn warn(&self, inputs: &Inputs, config: &Config, warnings: &mut Vec<Warning>) {
        let profiles = inputs.reports.iter().any(|input| input.profiles > 0);
        if self.browser && profiles && config.viewer.viewer != Some(CheckFor::Devtools) {
            warnings.push(Warning::HiddenProfiles);
        }
    }

    /// Takes in what was made for a viewer, behind all inputs; returns the store and the runs with it.
    fn add_made<'p>(
        &mut self,
        (made, long, store): (&'p Payload, &'p mut LongEvents, Store<'p>),
        runs: Runs,
        rewrite: &mut Rewrite,
        inputs: &Inputs,
        config: &Config,
    ) -> Result<(Store<'p>, Runs), Error> {
        let base = store.end();
        let kept = Sorted::new(config.shares().index / 4, config);
        let current = Current { before: &inputs.payloads, base, own: InputBytes::Payload(made) };
        let index = EventIndex::of_synthetic(kept, made, current, config)?;
        *long = index.long_events;
        let store = store.and(base, made, long);
        let made = index.kept.into_entries().finish(&store)?.0;
        let runs = runs.join(made, Order(&store), &config.tmp_dir)?;
        // they have their new names already
        rewrite.units.push(RenamedUnit { base, ..RenamedUnit::default() });
        self.events += index.events;
        self.bytes += index.bytes;
        Ok((store, runs))
    }

    /// Decides on names, and makes the events that show labels.
    fn decide_names(
        &mut self,
        inputs: &Inputs,
        parts: &Parts,
        clocks: &Clocks,
        config: &Config,
    ) -> Result<(DecidedNames, StreamOrders, Option<Labels>), Error> {
        let rules = &config.identity;
        let facts = std::mem::take(&mut self.facts);
        let (mut decided, streams) = decide_names(facts, parts, inputs, rules, clocks);
        let end = inputs.payloads.iter().map(|held| held.base + held.payload.len()).max();
        let labels = decided.labels(inputs, rules, end.unwrap_or(0))?;
        if let Some(labels) = &labels {
            self.long_events.append(&labels.long)?;
            self.events += labels.places.len() as u64;
            self.bytes += labels.bytes;
            self.entries.list(METADATA, &labels.places)?;
        }
        Ok((decided, streams, labels))
    }

    /// Ends the index, with all times as the output has them, and decides which repeated events are left out.
    fn end_on_one_line<'p>(
        &mut self,
        parts: &Parts,
        rewrite: &Rewrite,
        clocks: &Clocks,
        store: &Store<'p>,
        config: &Config,
    ) -> Result<(Runs, Lists, Option<ViewerFacts>, LeftOut), Error> {
        let (mut runs, lists) = self.entries.finish(store)?;
        let mut known = self.viewer.take().map(|found| found.finish(store)).transpose()?;
        let special = |time| known.iter().flat_map(move |known| known.at(time));
        // equal events have equal times in the inputs
        let mut left_out = self.repeated.decide(parts, store, config, |time, each| {
            runs.at(time).chain(special(time)).for_each(each);
        })?;
        if clocks.change() {
            shift_runs(&mut runs, clocks, store, &config.tmp_dir)?;
            if let Some(known) = &mut known {
                known.shift(clocks, store, config)?;
            }
        }
        if config.identity.dedup {
            let special = known.iter().map(|known| &known.special);
            let all = Vec::from_iter([&runs].into_iter().chain(special));
            left_out.add_equal(&all, rewrite, Order(store), config)?;
        }
        Ok((runs, lists, known, left_out))
    }
}

/// Describes the decisions about ids, and tells how many metadata events are dropped.
fn identity_report(
    decided: &DecidedNames,
    metadata_dropped: u64,
    inputs: &Inputs,
    config: &Config,
) -> IdentityReport {
    IdentityReport {
        inputs: decided.describe(inputs, &config.identity),
        metadata_dropped,
        args_keys_absent: decided.args_keys_absent(&config.identity),
    }
}

/// Notes among the keys what was renamed and moved, if that is asked for; returns whether it is.
fn note_provenance(
    united: &mut MergedKeys<'_>,
    identity: &IdentityReport,
    clocks: &Clocks,
    config: &Config,
) -> bool {
    let wanted = config.identity.provenance;
    if wanted {
        let mut said = Vec::new();
        push_provenance(&identity.inputs, &clocks.inputs, &mut said);
        united.note(said);
    }
    wanted
}

/// Reads the streams again that time order may tear.
fn find_delays(
    streams: StreamOrders,
    decided: &DecidedNames,
    runs: &Runs,
    lists: &Lists,
    order: Order<'_, '_>,
    config: &Config,
) -> Result<Reordering, Error> {
    let suspects = streams.suspects();
    if suspects.is_empty() {
        return Ok(Reordering::default());
    }
    let untimed = lists.iter().map(|place| Entry { time: i64::MIN, place });
    let key_of = |event: &Event<'_>, place| decided.stream_key(event, place);
    Reordering::find_by(&suspects, untimed.chain(runs.iter()), order, config, key_of)
}

/// What is known of a run before anything is written.
fn begin_run(
    inputs: &Inputs,
    united: &MergedKeys<'_>,
    format: Format,
    warnings: Vec<Warning>,
    config: &Config,
) -> RunReport {
    RunReport {
        format,
        spooled_bytes: inputs.spooled,
        keys_lost: if format == Format::Array { united.keys.len() as u64 } else { 0 },
        warnings: of_inputs(inputs).chain(warnings).collect(),
        ..RunReport::new(config)
    }
}

/// What there is to say of keys and streams.
pub(crate) fn warn(
    united: &MergedKeys<'_>,
    delays: &Reordering,
    format: &Format,
    warnings: &mut Vec<Warning>,
) {
    warnings.extend(united.warnings.iter().cloned());
    for stream in &delays.unordered {
        warnings.push(Warning::UnorderedStream(stream.clone()));
    }
    warnings.extend(united.lost_to(*format));
}
