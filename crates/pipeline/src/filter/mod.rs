//! `filter`: some events of a trace, in the order of its input, with pairs, groups and CPU profiles whole.
//!
//! ```text
//!   scan's workers ─┬─ kept at once: 8 bytes ───────────────────────────────┐
//!                   ├─ late: single events that names or the start decide ──┼─ by place ─> output
//!                   └─ bound: B/E, groups, streams ─ sorted by key and time ┘
//! ```
//!
//! Most events are decided where they are found, while their bytes are in cache, and leave their place or nothing.
//! What must wait is 40 bytes an event ([`undecided`]) and pays for itself: filters by pid and tid know no pairs, filters
//! without names and relative times nothing late.
//!
//! **Whole things** ([`decide`]). E stays with its B: they are paired per thread by a stack, in the order of the output.
//! Async, flow and object events that share category, id, scope (flows: the name too; local ids: the process) stay if
//! one of them matches; they last from the first to the last of them. A CPU profile stays if its `Profile` event does,
//! whichever threads its chunks come from, and lasts until its last chunk.

mod chunk;
mod criteria;
mod decide;
mod membership;
pub(crate) mod narrowed;
mod options;
mod overlapped;
mod queries;
mod reason;
mod thread_numbers;
mod threads;
mod undecided;
mod unread;

use crate::annotations::{Annotations, NAMED, Written, name_events};
use crate::config::{Config, THREADS};
use crate::emit::Emit;
use crate::inputs::read_all;
use crate::keys::unite;
use crate::layout::Layout;
use crate::overlapped_copy;
use crate::pieces::PieceOutcome;
use crate::reordering::Reordering;
use crate::report::{FilterReport, Present, RunReport, Unmatched};
use crate::streamed_output::{
    StreamPolicy, StreamedOutput, format_in_order, report_in_order, take_late_keys,
};
use chunk::{ChunkFindings, Findings, ReadCounts};
pub(crate) use criteria::Criteria;
pub(crate) use membership::group_of;
use narrowed::Narrowed;
pub use options::Filter;
use overlapped::Overlapped;
use reason::Tallies;
use std::sync::Arc;
use thread_numbers::ThreadNumbers;
use tracemill_core::bounds::Times;
use tracemill_core::envelope::Document;
use tracemill_core::error::Error;
use tracemill_core::limits::Quota;
use tracemill_core::long_events::LongEvents;
use tracemill_core::metadata::Names;
use tracemill_core::order::{Buckets, ExternalSorter, Order, Timed};
use tracemill_core::output;
use tracemill_core::place::Place;
use tracemill_core::read::{Current, Inputs, Maker, Reader};
use tracemill_core::source::Source;
use tracemill_core::spill::SpillVec;
use tracemill_core::store::Store;
use tracemill_core::target::OutputConfig;
use undecided::Undecided;

/// What there is to filter, how, and where to.
#[derive(Clone, Copy)]
pub(crate) struct FilterRun<'a> {
    pub(crate) sources: &'a [Source],
    pub(crate) filter: &'a Filter,
    pub(crate) output: &'a OutputConfig,
}

impl FilterRun<'_> {
    /// Refuses what must be refused before anything is read.
    pub(crate) fn check(&self, config: &Config) -> Result<(), Error> {
        config.check()?;
        output::check(self.output, &self.sources.iter().collect::<Vec<_>>())
    }
}

/// See [`crate::filter()`]; for no viewer.
pub(crate) fn filter(job: FilterRun<'_>, config: &Config) -> Result<FilterReport, Error> {
    job.check(config)?;
    let FilterRun { sources, filter, output } = job;
    let stream_policy =
        StreamPolicy::new(sources, output, config, |format| Some(Layout::of(format)));
    let mut index = Index::new(Criteria::of(filter)?, config, stream_policy);
    let may_begin = sources.len() == 1 && overlapped_copy::is_possible(output, config);
    index.may_begin = (may_begin && !index.criteria.needs.late).then_some((output, config));
    let inputs = read_all(sources, config, &mut index)?;
    write(job, (inputs, index), config)
}

/// As `filter`, for a trace of which everything is known.
pub(crate) fn filter_known(
    job: FilterRun<'_>,
    source: &Source,
    known: Narrowed,
    config: &Config,
) -> Result<PieceOutcome<FilterReport>, Error> {
    let known = Arc::new(known);
    let criteria = Criteria::of(job.filter)?;
    let index = Index::new(criteria, config, StreamPolicy::never(job.output, config));
    let index = Index { known: Some(Arc::clone(&known)), ..index };
    let Some((inputs, mut index)) = known.pieces.read(source, index, config)? else {
        return Ok(PieceOutcome::Wrong);
    };
    match index.count_rest(&known) {
        PieceOutcome::Done(()) => {}
        PieceOutcome::Cannot(why) => return Ok(PieceOutcome::Cannot(why)),
        PieceOutcome::Wrong => return Ok(PieceOutcome::Wrong),
        PieceOutcome::Missing(ranges) => return Ok(PieceOutcome::Missing(ranges)),
    }
    if name_events(&index.documents, &inputs) {
        return Ok(PieceOutcome::Cannot(NAMED));
    }
    write(job, (inputs, index), config).map(PieceOutcome::Done)
}

/// Writes what of that which was read stays.
fn write(
    FilterRun { sources, output, .. }: FilterRun<'_>,
    (inputs, mut index): (Inputs, Index<'_>),
    config: &Config,
) -> Result<FilterReport, Error> {
    let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
    let long = std::mem::take(&mut index.long);
    let metadata = index.metadata;
    let has_events = inputs.reports.iter().any(|input| input.events > 0);
    let (unmatched, present) = match has_events {
        true => index.unmatched(),
        false => Default::default(),
    };
    let store = &Store::new(payloads).with_long(&long);
    let mut documents = std::mem::take(&mut index.documents);
    let format = output.format.unwrap_or_else(|| format_in_order(&documents, sources.len() == 1));
    let (late_keys, late) = take_late_keys(&mut documents, sources, format);
    let begun = index.stream_policy.take().or(index.begun.take());
    let overlapped = index.overlapped.take();
    let mut united = unite(&documents, store);
    let annotations =
        Annotations::read(&documents, &inputs, false, (store, &config.table_quota()))?;
    let layout = Layout::of(format);
    let around =
        layout.opening(&united).len() as u64 + layout.closing_len(&united) + annotations.len();
    let len = |events, bytes| around + layout.events_len(events, bytes);
    let decision = index.decide(Order(store), config, overlapped.as_ref(), len)?;
    let mut run = RunReport {
        events: decision.events,
        ..report_in_order(&inputs, (&united, format), (late_keys, late), config)
    };
    run.warnings.extend(decision.warning);
    let emit = Emit {
        order: Order(store),
        layout,
        delays: Reordering::default(),
        lists: &decision.lists,
        timed: Timed::Buckets(Buckets::over(std::iter::empty())),
        rewrite: None,
        fixups: None,
    };
    let dropped = decision.tallies.report();
    let written = match dropped.is_empty() {
        true => Written::whole(&emit, config),
        false => Written::some(&emit, config),
    };
    run.annotations = annotations.put(&mut united, &written).report();
    run.warnings.extend(run.annotations.warning());
    let overlapped = overlapped.filter(|_| decision.is_as_written);
    let copied = overlapped.map(|begun| begun.end(layout, &united)).transpose()?;
    let begun = copied.flatten().or(begun);
    let counts = (decision.events, decision.bytes);
    let check = || inputs.check_unchanged();
    run.bytes =
        emit.write_all(&united, counts, (output, begun), config, &mut run.warnings, check)?;
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
        index: None,
        index_unused: None,
    })
}

/// The findings of all inputs.
struct Index<'c> {
    stream_policy: StreamPolicy<'c>,
    /// What was written before the first event that has to wait.
    begun: Option<Box<StreamedOutput>>,
    /// The output, if that may be begun when the first events are found.
    may_begin: Option<(&'c OutputConfig, &'c Config)>,
    overlapped: Option<Overlapped>,
    criteria: Criteria,
    kept: SpillVec<Place>,
    /// Events kept, and their bytes.
    events: u64,
    bytes: u64,
    metadata: u64,
    late: SpillVec<Undecided>,
    bound: ExternalSorter<Undecided>,
    long: LongEvents,
    tallies: Tallies,
    times: Times,
    threads: ThreadNumbers,
    quota: Quota,
    names: Names,
    documents: Vec<Document>,
    /// What is known, if not all is read, and what was read of it.
    known: Option<Arc<Narrowed>>,
    seen: ReadCounts,
}

impl<'c> Index<'c> {
    fn new(criteria: Criteria, config: &Config, stream_policy: StreamPolicy<'c>) -> Self {
        let share = config.shares().index / 4;
        Index {
            stream_policy,
            begun: None,
            may_begin: None,
            overlapped: None,
            criteria,
            kept: SpillVec::new(&config.tmp_dir, share),
            events: 0,
            bytes: 0,
            metadata: 0,
            late: SpillVec::new(&config.tmp_dir, share),
            bound: ExternalSorter::new(&config.tmp_dir, share, config.threads),
            long: LongEvents::new(config),
            tallies: Tallies::default(),
            times: Times::NONE,
            threads: ThreadNumbers::default(),
            quota: config.table_quota(),
            names: Names::default(),
            documents: Vec::new(),
            known: None,
            seen: ReadCounts::default(),
        }
    }
}

impl Index<'_> {
    /// What was asked for and nothing is, and what there is instead.
    fn unmatched(&self) -> (Vec<Unmatched>, Vec<Present>) {
        let threads: Vec<_> = self.threads.all().collect();
        let unmatched = self.criteria.unmatched(&threads, &self.names);
        let present = queries::present(&unmatched, &threads, &self.names);
        (unmatched, present)
    }

    /// Has what stays of a part written at once, if that can be.
    fn write_at_once(&mut self, found: &Findings, current: Current<'_>) {
        if let Some((output, config)) = self.may_begin.take() {
            self.overlapped = Overlapped::begin(current, output, config);
        }
        let fails = |begun: &mut Overlapped| !begun.push(found, &self.criteria, current);
        if self.overlapped.as_mut().is_some_and(fails) {
            self.overlapped = None;
        }
    }
}

impl Reader for Index<'_> {
    type Findings = ChunkFindings;

    fn part(base: u64, _bytes: usize) -> ChunkFindings {
        ChunkFindings::new(base)
    }

    fn maker(&self) -> Maker<ChunkFindings> {
        let (criteria, known) = (self.criteria.clone(), self.known.clone());
        Box::new(move |base, bytes| {
            let mut part = Self::part(base, bytes);
            part.prepare(&criteria, known.as_ref());
            part
        })
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    const KEEPS_STREAMS: bool = true;

    const PROVES: bool = true;

    fn hurries(&self) -> bool {
        self.stream_policy.hurries()
    }

    fn take(&mut self, part: ChunkFindings, base: u64, current: Current<'_>) -> Result<(), Error> {
        let mut found = part.found;
        if base == 0 && found.envelope.stats.events > 0 {
            self.write_at_once(&found, current);
        }
        let numbers = self.threads.append(&found.threads);
        let renumber = |record: &mut Undecided| {
            record.thread = numbers.get(record.thread as usize).copied().unwrap_or_default();
        };
        found.late.iter_mut().for_each(renumber);
        found.bound.iter_mut().for_each(renumber);
        self.names.append(found.names);
        self.quota.check(self.threads.heap() + self.names.heap(), THREADS)?;
        self.seen.append(found.seen);
        self.events += found.kept.len() as u64;
        self.bytes += found.bytes;
        self.metadata += found.metadata;
        self.long.append(&found.envelope.long)?;
        self.tallies.append(&found.tallies);
        self.times = self.times.unite(found.times);
        found.envelope.append_to(&mut self.documents);
        if !found.late.is_empty() || !found.bound.is_empty() {
            self.begun = self.stream_policy.take().or(self.begun.take());
        } else if self.stream_policy.hurries() {
            let store = current.own_store(&self.long);
            self.stream_policy.push(&self.documents, &found.kept, &store)?;
        }
        self.kept.extend(&found.kept)?;
        self.late.extend(&found.late)?;
        self.bound.extend(&found.bound);
        if self.bound.is_full() {
            let store = current.store(&self.long);
            self.bound.spill(Order(&store))?;
        }
        Ok(())
    }
}
