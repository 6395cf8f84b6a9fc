//! `filter`: keeps some events of a trace in input order, with pairs, groups and CPU profiles
//! complete.
//!
//! ```text
//!   scan workers ─┬─ kept at once: 8 bytes ──────────────────────────────┐
//!                 ├─ late: single events that need names or the start ───┼─ by offset ─> output
//!                 └─ bound: B/E, groups, streams ─ by key and time ──────┘
//! ```
//!
//! Most events are decided during the scan and leave 8 bytes or nothing. Undecided events take 40
//! bytes ([`undecided`]). Filters by pid and tid need no pairs; filters without names and relative
//! times decide single events immediately.
//!
//! [`decide`] keeps related events together. B and E are paired per thread. Async, flow and object
//! events form a group if they share category, id and scope (flows: also the name; local ids: also
//! the process). A group stays if any of its events matches; its time is from its first to its last
//! event. A CPU profile stays if its `Profile` event stays, and lasts until its last chunk.

mod args;
mod criteria;
mod decide;
mod drop_args;
mod list_cursor;
mod listed;
mod look;
mod membership;
mod options;
mod overlapped;
mod queries;
mod reason;
mod thread_numbers;
mod threads;
mod undecided;

pub use args::ArgsCriterion;
use criteria::Criteria;
use drop_args::DropArgs;
use list_cursor::ListCursor;
pub use listed::{EventList, EventLister, ListedBy, ListedEvent};
use look::{FilterLook, Findings};
pub use options::Filter;
use overlapped::Overlapped;
use reason::{DropTallies, PASSES};
use thread_numbers::ThreadNumbers;
use tracemill_join::config::{Config, THREADS};
use tracemill_join::inputs::scan;
use tracemill_join::report::{FilterReport, Present, Unmatched};
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{
    EventIndex, InputOrder, InputStart, Needs, Observer, Scanned, SealedChunk, Starter,
};
use tracemill_trace::order::{ExternalSorter, Order};
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::words::plural;
use tracemill_trace::spill::SpillVec;
use tracemill_trace::store::place::Place;
use tracemill_trace::time::bounds::Times;
use tracemill_trace::{Limits, output};
use tracemill_write::emit::streamed_output::{StreamPolicy, StreamedOutput};
use tracemill_write::in_order::{ChosenEvents, InOrderWriter, ReadInputs, overlapped_copy};
use tracemill_write::layout::Layout;
use tracemill_write::patch::Patcher;
use tracemill_write::trace_writer::EventCount;
use undecided::Undecided;

#[derive(Clone, Copy)]
pub(crate) struct FilterRun<'a> {
    pub(crate) sources: &'a [Source],
    pub(crate) filter: &'a Filter,
    pub(crate) output: &'a OutputConfig,
}

impl FilterRun<'_> {
    /// Checks limits and output before anything is read.
    pub(crate) fn check(&self, limits: &Limits) -> Result<(), Error> {
        limits.check()?;
        output::check(self.output, &self.sources.iter().collect::<Vec<_>>())
    }
}

/// Implements [`crate::filter()`] without a viewer.
pub(crate) fn filter(job: FilterRun<'_>, config: &Config) -> Result<FilterReport, Error> {
    job.check(&config.limits)?;
    let FilterRun { sources, filter, output } = job;
    // events that change are written by all threads at the end
    let is_copied = filter.drop_args.is_empty();
    let stream_policy = StreamPolicy::new(sources, output, &config.limits, move |format| {
        is_copied.then(|| Layout::of(format))
    });
    let mut selection = Selection::new(Criteria::of(filter)?, &config.limits, stream_policy);
    let may_begin =
        is_copied && sources.len() == 1 && overlapped_copy::is_possible(output, &config.limits);
    selection.may_begin = (may_begin && !selection.criteria.needs.late).then_some((output, config));
    write(job, scan(sources, config, keep(&config.limits), selection)?, &config.limits)
}

/// Creates the index of events that certainly stay.
fn keep(limits: &Limits) -> InputOrder {
    InputOrder::new(limits.lease("places of events", Share::of_index(1, 4)), 0)
}

/// The events that stay for certain.
struct CertainEvents {
    places: SpillVec<Place>,
    count: EventCount,
}

/// Decides which undecided events to keep, and writes the output.
fn write(
    FilterRun { sources, filter, output }: FilterRun<'_>,
    Scanned { inputs, index, observed: mut selection }: Scanned<InputOrder, Selection<'_>>,
    limits: &Limits,
) -> Result<FilterReport, Error> {
    let EventIndex { kept, long_events, mut documents, events, bytes, .. } = index;
    selection.check_list()?;
    let metadata = selection.metadata;
    let has_events = inputs.reports.iter().any(|input| input.events > 0);
    let (unmatched, present) = match has_events {
        true => selection.unmatched(),
        false => Default::default(),
    };
    let store = &inputs.store().with_long(&long_events);
    let begun = selection.stream_policy.take().or(selection.begun.take());
    let overlapped = selection.overlapped.take();
    let read = ReadInputs { inputs: &inputs, documents: &mut documents, store };
    let writer = InOrderWriter::new(sources, read, false, output, limits)?;
    let layout = Layout::of(writer.format);
    let count = EventCount { events, bytes };
    let kept = CertainEvents { places: kept.into_places(), count };
    let len = writer.len(layout);
    let decision = selection.decide(kept, Order(store), limits, overlapped.as_ref(), len)?;
    let dropped = decision.tallies.report();
    let drop_args = DropArgs::of(&filter.drop_args);
    let chosen = ChosenEvents {
        layout,
        lists: &decision.lists,
        count: EventCount { events: decision.events, bytes: decision.bytes },
        warning: decision.warning,
        patchers: drop_args.iter().map(|drop_arg| drop_arg as &dyn Patcher).collect(),
    };
    let overlapped = overlapped.filter(|_| decision.is_as_written);
    let mut run = writer.write(chosen, |keys| {
        let copied = overlapped.map(|begun| begun.end(layout, keys)).transpose()?;
        Ok(copied.flatten().or(begun))
    })?;
    run.inputs = inputs.reports;
    Ok(FilterReport {
        run,
        metadata,
        matching: decision.events - metadata,
        dropped,
        unmatched,
        present,
        threshold_ns: decision.threshold,
        spilled_bytes: decision.spilled,
    })
}

/// Collects the events that stay, and the undecided events, which take 40 bytes each.
///
/// Writes the output during the scan until the first undecided event.
struct Selection<'c> {
    stream_policy: StreamPolicy<'c>,
    /// The output, with the events before the first undecided event.
    begun: Option<Box<StreamedOutput>>,
    /// The output, if it may be started at the first events.
    may_begin: Option<(&'c OutputConfig, &'c Config)>,
    overlapped: Option<Overlapped>,
    criteria: Criteria,
    list: Option<ListCursor>,
    metadata: u64,
    late: SpillVec<Undecided>,
    bound: ExternalSorter<Undecided>,
    tallies: DropTallies,
    times: Times,
    threads: ThreadNumbers,
    quota: Quota,
    names: MetadataNames,
}

impl<'c> Selection<'c> {
    fn new(criteria: Criteria, limits: &Limits, stream_policy: StreamPolicy<'c>) -> Self {
        let lease = limits.lease("events to be decided on", Share::of_index(1, 2)).divided(2);
        Selection {
            stream_policy,
            begun: None,
            may_begin: None,
            overlapped: None,
            list: criteria.list().map(ListCursor::new),
            criteria,
            metadata: 0,
            late: SpillVec::new(lease.clone()),
            bound: ExternalSorter::new(lease, limits.threads),
            tallies: DropTallies::default(),
            times: Times::NONE,
            threads: ThreadNumbers::default(),
            quota: limits.table_quota(),
            names: MetadataNames::default(),
        }
    }
}

impl Selection<'_> {
    /// Returns the criteria that match nothing, and the values that exist instead.
    fn unmatched(&self) -> (Vec<Unmatched>, Vec<Present>) {
        let threads: Vec<_> = self.threads.all().collect();
        let unmatched = self.criteria.unmatched(&threads, &self.names);
        let present = queries::present(&unmatched, &threads, &self.names);
        (unmatched, present)
    }

    /// Returns an error if the list has events that the inputs do not have.
    fn check_list(&self) -> Result<(), Error> {
        match self.list.as_ref().and_then(ListCursor::missing) {
            Some(missing) => {
                let events = plural(missing, "listed event");
                let problem =
                    format!("{events} cannot be found in the input: list events of this input");
                Err(Error::usage(problem, None))
            }
            None => Ok(()),
        }
    }

    /// Drops the single events of a chunk that are not in the list, if there is one.
    fn compare_with_list(&mut self, found: &mut Findings, chunk: &SealedChunk<'_>) {
        let Some(list) = &mut self.list else { return };
        list.judge(found, chunk);
        if self.criteria.inverts() {
            return;
        }
        let Findings { late, tallies, .. } = found;
        let store = chunk.input_store();
        late.retain(|record| {
            if record.reason != PASSES {
                tallies.add(record.reason, store.len(record.entry.place));
            }
            record.reason == PASSES
        });
    }

    /// Writes the kept events of a chunk immediately, if nothing undecided comes before them.
    fn write_at_once(&mut self, found: &Findings, chunk: &SealedChunk<'_>) {
        if let Some((output, config)) = self.may_begin.take() {
            self.overlapped = Overlapped::begin(chunk.current, output, &config.limits);
        }
        let fails = |begun: &mut Overlapped| !begun.push(found, &self.criteria, chunk);
        if self.overlapped.as_mut().is_some_and(fails) {
            self.overlapped = None;
        }
    }
}

impl Observer for Selection<'_> {
    type Chunk = FilterLook;

    fn needs(&self) -> Needs {
        Needs { streams_output: self.stream_policy.hurries(), ..Needs::NONE }
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        self.list.iter_mut().for_each(|list| list.begin(input));
    }

    fn starter(&self) -> Starter<FilterLook> {
        let criteria = self.criteria.clone();
        Box::new(move |_| FilterLook::new(criteria.clone()))
    }

    fn merge(&mut self, part: FilterLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let mut found = part.found;
        if chunk.base == 0 && chunk.stats.events > 0 {
            self.write_at_once(&found, chunk);
        }
        self.compare_with_list(&mut found, chunk);
        let numbers = self.threads.append(&found.threads);
        let renumber = |record: &mut Undecided| {
            record.thread = numbers.get(record.thread as usize).copied().unwrap_or_default();
        };
        found.late.iter_mut().for_each(renumber);
        found.bound.iter_mut().for_each(renumber);
        self.names.append(found.names);
        self.quota.check(self.threads.heap() + self.names.heap(), THREADS)?;
        self.metadata += found.metadata;
        self.tallies.append(&found.tallies);
        self.times = self.times.unite(found.times);
        if !found.late.is_empty() || !found.bound.is_empty() {
            self.begun = self.stream_policy.take().or(self.begun.take());
        } else if self.stream_policy.hurries() {
            self.stream_policy.push(chunk)?;
        }
        self.late.extend(&found.late)?;
        self.bound.extend(&found.bound);
        if self.bound.is_full() {
            self.bound.spill(Order(&chunk.store()))?;
        }
        Ok(())
    }
}
