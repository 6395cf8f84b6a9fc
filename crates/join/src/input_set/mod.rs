//! Reads the inputs of an analysis once: the caller's observer sees all events, CPU profiles are
//! decoded, and pids and clock offsets are decided as in a merge.
//!
//! ```text
//!   scan workers ─ event ─┬─ caller's Observer
//!                         ├─ InputWatch, with several inputs ──────────────> InputSet::place
//!                         └─ Profile, ProfileChunk, CpuProfile ─ streams ─┐
//!   .cpuprofile ─ its document ───────────────────────────────────────────┴─> InputSet::pieces
//! ```
//!
//! A `.cpuprofile` is not expanded into events, but passed on as a whole profile.

mod cpuprofiles;
mod first_error;
mod frames;
mod place;
mod profiles;
mod recorded_only;
mod stack_samples;

pub use frames::{EventStacks, StackFrame};
pub use place::InputPlace;
pub use profiles::{PieceNode, ProfileFacts, ProfilePiece, ProfilePieces};

use crate::config::Config;
use crate::identity::may_be_several;
use crate::inputs::input_watch::{InputWatch, facts_of, input_watch};
use crate::inputs::of_inputs;
use crate::read_plan::ReadPlan;
use crate::report::warning::Warning;
use cpuprofiles::CpuprofileInput;
pub use cpuprofiles::CpuprofileInputs;
use first_error::FirstError;
use place::places_of;
use recorded_only::RecordedOnly;
use stack_samples::StackSamples;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tracemill_cpuprofile::Streams;
use tracemill_tokenizer::{Cursor, Form, string_is, validate_value};
use tracemill_trace::event::envelope::{Document, values_of};
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{Nothing, Observer, Scan, Scanned, TimesOnly};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::memory::Share;
use tracemill_trace::store::Store;

/// The observers of a scan for an input set: those of this crate, and that of the caller.
/// [`InputWatch`] is present only with several inputs.
pub(crate) type SetObservers<O> = RecordedOnly<(Streams, Option<InputWatch>, O)>;

/// The inputs of an analysis after reading: reports, bytes, CPU profiles, pids and offsets.
pub struct InputSet {
    inputs: Inputs,
    warnings: Vec<Warning>,
    streams: Streams,
    documents: Vec<Document>,
    wholes: Vec<CpuprofileInput>,
    stacks: Vec<StackSamples>,
    places: Vec<InputPlace>,
    config: Config,
}

impl InputSet {
    /// Reads every source to its end, once, on all cores. `observer` sees each recorded event, but
    /// no synthetic events of a `.cpuprofile`. Pass `&mut observer` to keep the observer.
    ///
    /// `config.identity` and `config.clocks` decide, by the rules of a merge, which processes with
    /// equal pids are the same and how clocks differ. See [`InputSet::place`].
    ///
    /// Cost: one pass at scanning speed, plus the work of the observer. Heap: as for
    /// `list_profiles`. Pipes and packed inputs are kept, and spilled to disk beyond the memory
    /// budget.
    ///
    /// # Errors
    /// Returns the input errors of `merge`, and errors of the observer.
    pub fn read<O: Observer>(
        sources: &[Source],
        config: &Config,
        observer: O,
    ) -> Result<InputSet, Error> {
        config.limits.check()?;
        let mut wholes = CpuprofileInputs::new(config);
        let times = may_be_several(sources).then(TimesOnly::default);
        let scan = Scan::new(sources, &config.limits, &mut wholes).keep(times);
        let Scanned { inputs, index, observed } =
            scan.observe(observers(sources, config, observer)).run()?;
        InputSet::new(inputs, index.documents, observed, wholes, config)
    }

    /// Reads several inputs only to decide new pids and clock offsets. Returns an empty list if
    /// nothing can change: for a single input, or with the rules of [`Config::of`].
    ///
    /// Cost: a scan of all inputs.
    ///
    /// # Errors
    /// Returns the errors of [`InputSet::read`], and
    /// [`Usage`](tracemill_trace::run::error::ErrorKind::Usage) if an input can be read only once.
    pub fn places(sources: &[Source], config: &Config) -> Result<Vec<InputPlace>, Error> {
        if !config.joins(sources)? {
            return Ok(Vec::new());
        }
        if let Some(stream) = sources.iter().find(|source| !source.is_rereadable()) {
            let problem = format!(
                "several inputs are read twice, but {stream} can be read once only: name files, or pipe what merge writes"
            );
            return Err(Error::usage(problem, None));
        }
        let places = InputSet::read(sources, config, ())?.places;
        config.limits.progress.bytes_scanned.store(0, Ordering::Relaxed);
        Ok(places)
    }

    /// Reads the byte ranges of a plan made by an index (`DrawnIndex::window_plan`).
    ///
    /// # Errors
    /// Returns [`Changed`](tracemill_trace::run::error::ErrorKind::Changed) if the input differs
    /// from the index, [`Cancelled`](tracemill_trace::run::error::ErrorKind::Cancelled) if the run
    /// was cancelled, and errors of the observer.
    pub fn read_planned<O: Observer>(
        plan: &ReadPlan,
        config: &Config,
        observer: O,
    ) -> Result<InputSet, Error> {
        let (observer, error) = FirstError::new(observer);
        let observer = observers(std::slice::from_ref(&plan.source), config, observer);
        let read = plan.read(Nothing, observer, config);
        if let Some(error) = error.take() {
            return Err(error);
        }
        let set = read?.map(|Scanned { inputs, index, observed }| {
            let wholes = CpuprofileInputs::new(config);
            InputSet::new(inputs, index.documents, observed, wholes, config)
        });
        let set = set.transpose()?;
        plan.index.check_unchanged()?;
        set.ok_or_else(|| plan.index.changed())
    }

    /// Decides pids and clock offsets after the scan. `wholes` holds the `.cpuprofile` inputs.
    pub fn new<O>(
        inputs: Inputs,
        documents: Vec<Document>,
        observed: SetObservers<O>,
        wholes: CpuprofileInputs,
        config: &Config,
    ) -> Result<InputSet, Error> {
        let (mut streams, watch, _) = observed.observer;
        streams.finish()?;
        inputs.check_unchanged()?;
        let facts = watch.map(facts_of).unwrap_or_default();
        let (places, of_clocks) = places_of(facts, &documents, &inputs, config)?;
        let warnings = of_inputs(&inputs).chain(of_clocks).collect();
        let stacks = StackSamples::read(&documents, &inputs.store(), &config.limits.table_quota())?;
        let (wholes, config) = (wholes.found, config.clone());
        Ok(InputSet { inputs, warnings, streams, documents, wholes, stacks, places, config })
    }
}

/// Creates the observers of a scan for an input set.
pub fn observers<O: Observer>(sources: &[Source], config: &Config, observer: O) -> SetObservers<O> {
    let quota = Arc::new(config.limits.table_quota());
    let watch = may_be_several(sources).then(|| input_watch(config, true, &quota, None));
    let lease = config.limits.lease("chunks of CPU profiles", Share::of_index(3, 8));
    let streams = Streams::new(lease, &config.limits);
    RecordedOnly::new((streams, watch, observer))
}

impl InputSet {
    /// Returns the inputs and their documents.
    pub fn into_inputs(self) -> (Inputs, Vec<Document>) {
        (self.inputs, self.documents)
    }

    /// Returns one report per input.
    pub fn reports(&self) -> &[InputReport] {
        &self.inputs.reports
    }

    /// Returns the new pids and the clock offset of an input, by the number of its report.
    ///
    /// # Panics
    /// Panics if there is no input with this number.
    pub fn place(&self, input: usize) -> &InputPlace {
        &self.places[input]
    }

    /// Returns the warnings about inputs and their clocks.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the number of documents.
    pub fn documents(&self) -> u64 {
        tracemill_trace::event::envelope::count(&self.documents)
    }

    /// Returns whether any document has one event per line.
    pub fn has_lines(&self) -> bool {
        self.documents.iter().any(|document| document.form == Form::Ndjson)
    }

    /// Returns a copy of each value of a top-level key.
    pub fn key_values<'a>(&'a self, name: &'a [u8]) -> impl Iterator<Item = Vec<u8>> + 'a {
        values_of(&self.documents, self.store(), name)
    }

    /// Returns a copy of each value of a top-level key, with the number of its input.
    pub fn values_by_input<'a>(
        &'a self,
        name: &'a [u8],
    ) -> impl Iterator<Item = (usize, Vec<u8>)> + 'a {
        let payloads = &self.inputs.payloads;
        let keys = self.documents.iter().flat_map(|document| &document.keys);
        keys.filter(move |key| string_is(&key.key, name)).filter_map(move |key| {
            let after = payloads.partition_point(|held| held.base <= key.offset);
            let held = payloads.get(after.checked_sub(1)?)?;
            Some((held.input, self.store().copy(key.offset..key.offset + key.len)))
        })
    }

    /// Returns whether the values of all top-level keys are JSON.
    pub fn are_keys_json(&self) -> bool {
        let store = self.store();
        let mut keys = self.documents.iter().flat_map(|document| &document.keys);
        keys.all(|key| validate_value(&store.copy(key.offset..key.offset + key.len)).is_ok())
    }

    /// Checks that no file has changed since it was opened. Call this last, before using the
    /// results.
    ///
    /// # Errors
    /// Returns [`tracemill_trace::run::error::ErrorKind::Changed`] for the first file that differs.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        self.inputs.check_unchanged()
    }

    /// Returns the base of each input in the address space; `None` for an input without events.
    pub fn begins(&self) -> Vec<Option<u64>> {
        let mut begins = vec![None; self.inputs.reports.len()];
        self.inputs.payloads.iter().for_each(|held| {
            begins[held.input].get_or_insert(held.base);
        });
        begins
    }

    /// Returns up to `most` bytes of the event at an offset of the address space, and its full
    /// length. Returns `None` if no event begins there. Cost: one pass over the bytes of the event.
    pub fn event_at(&self, offset: u64, most: usize) -> Option<(Vec<u8>, u64)> {
        /// Maximum number of bytes searched for the end of an event.
        const LONGEST: u64 = 64 << 20;
        let store = self.store();
        let end = store.end().min(offset.saturating_add(LONGEST));
        let piece = (offset < end).then(|| store.copy(offset..end.min(offset + (64 << 10))))?;
        if piece.first() != Some(&b'{') {
            return None;
        }
        // nearly all events end within the first 64 KiB
        let mut bytes = piece;
        let mut len = Cursor::new(&bytes).value().len();
        if len >= bytes.len() && offset + (bytes.len() as u64) < end {
            bytes = store.copy(offset..end);
            len = Cursor::new(&bytes).value().len();
        }
        bytes.truncate(len.min(most));
        Some((bytes, len as u64))
    }

    fn store(&self) -> Store<'_> {
        self.inputs.store().with_long(&self.streams.long)
    }
}
