//! The door for other crates: all inputs of a run read once, each event shown to a collector on the worker that finds it.
//!
//! ```text
//!   scan workers ─ each event ─> Findings (yours) ─ in input order ─> take
//!                      └ Profile, ProfileChunk, CpuProfile ─> streams ─┐
//!   .cpuprofile ─ its document ────────────────────────────────────────┴─> Scanned::pieces, in columns
//! ```
//!
//! Inputs, damage, spooled pipes and progress are as for every verb. A `.cpuprofile` is not made into events here: it is
//! handed on as the one profile that it is.

mod cpuprofiles;
mod places;
mod profiles;

pub use places::InputPlace;
pub use profiles::{PieceNode, Pieces, ProfileFacts, ProfilePiece};

use crate::config::Config;
use crate::inputs::of_inputs;
use crate::pieces::{KnownSamples, Pieces as Known};
use crate::warning::Warning;
use cpuprofiles::CpuprofileInput;
pub(crate) use cpuprofiles::CpuprofileInputs;
use places::{UnitFindings, Units, Watch};
use std::sync::Arc;
use tracemill_core::envelope::{Document, Envelope};
use tracemill_core::error::{Error, ErrorKind};
use tracemill_core::losses::InputReport;
use tracemill_core::read::{Current, Inputs, Maker, Reader, read_all};
use tracemill_core::scan::Collect;
use tracemill_core::source::Source;
use tracemill_core::store::{Payload, Store};
use tracemill_profile::{Room, Router, Streams};
use tracemill_tokenizer::{Cursor, Event, Form, string_is, validate_value};

/// What is looked for in the events of a stretch of an input. The default is a collector that was told nothing.
pub trait Findings: Default + Send + 'static {
    /// Whether events shall be told that are JSON for sure ([`Event::is_proved`]), which costs a part of the scan.
    fn asks_which_are_json(&self) -> bool {
        false
    }

    /// Takes an event: its number within the stretch, and its offset among all inputs.
    fn event(&mut self, event: &Event<'_>, number: u64, offset: u64);

    /// The stretch is scanned: whatever can be done to its findings without the others, on the worker.
    fn seal(&mut self) {}
}

/// Which stretch it is that findings are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The number of the input, as they are read.
    pub input: usize,
    /// The number of its first event among those of all inputs.
    pub first: u64,
}

/// The findings of a stretch, and what the door itself keeps of its events.
pub(crate) struct Looked<F> {
    router: Router,
    seen: Option<Box<UnitFindings>>,
    own: F,
}

impl<F: Findings> Looked<F> {
    fn new(own: F, seen: Option<Box<UnitFindings>>) -> Self {
        Looked { router: Router::default(), seen, own }
    }

    /// Looks at an event: its number within the stretch, and its offset among all inputs.
    #[inline]
    pub(crate) fn event(&mut self, event: &Event<'_>, number: u64, offset: u64) {
        self.router.note(event, offset);
        if let Some(seen) = &mut self.seen {
            seen.note(event, offset);
        }
        self.own.event(event, number, offset);
    }

    pub(crate) fn seal(&mut self) {
        self.own.seal();
    }
}

/// The same, and what stands around the events.
pub(crate) struct ChunkFindings<F> {
    envelope: Envelope,
    looked: Looked<F>,
}

impl<F: Findings> Collect for ChunkFindings<F> {
    fn envelope(&mut self) -> &mut Envelope {
        &mut self.envelope
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        let number = self.envelope.stats.events;
        let offset = self.envelope.event(event);
        self.looked.event(event, number, offset);
    }

    fn seal(&mut self) {
        self.envelope.stats.span = self.looked.seen.as_ref().and_then(|seen| seen.span);
        self.looked.seal();
    }
}

/// Makes the collectors.
type New<F> = Arc<dyn Fn() -> F + Send + Sync>;

/// Takes what is found, and knows all that the inputs are to each other.
pub(crate) struct Door<F, T> {
    new: New<F>,
    asks_which_are_json: bool,
    take: T,
    events: u64,
    inputs: usize,
    streams: Streams,
    documents: Vec<Document>,
    watch: Watch,
    units: Units,
}

impl<F: Findings, T: FnMut(F, Stretch) -> Result<(), Error>> Door<F, T> {
    pub(crate) fn new(
        sources: &[Source],
        config: &Config,
        new: impl Fn() -> F + Send + Sync + 'static,
        take: T,
    ) -> Self {
        let share = config.shares().index;
        let room = Room { decoded: share / 4, places: share / 8 };
        Door {
            asks_which_are_json: new().asks_which_are_json(),
            new: Arc::new(new),
            take,
            events: 0,
            inputs: 0,
            streams: Streams::new(room, config),
            documents: Vec::new(),
            watch: Watch::of(sources, config),
            units: Units::default(),
        }
    }

    /// Makes what looks at the events of a stretch.
    pub(crate) fn looks(&self) -> Box<dyn Fn() -> Looked<F> + Send + Sync> {
        let (new, watch) = (Arc::clone(&self.new), self.watch.clone());
        Box::new(move || Looked::new(new(), watch.begin()))
    }

    /// An input is read from here on.
    pub(crate) fn begin_input(&mut self) {
        self.inputs += 1;
    }

    /// Takes what was found in a stretch of so many events, of the input at `base`.
    pub(crate) fn take_looked(
        &mut self,
        looked: Looked<F>,
        events: u64,
        base: u64,
    ) -> Result<(), Error> {
        let stretch = Stretch { input: self.inputs - 1, first: self.events };
        self.events += events;
        self.streams.append(looked.router, base)?;
        looked.seen.into_iter().for_each(|seen| self.units.take(base, *seen));
        (self.take)(looked.own, stretch)
    }

    /// All of it, when the last event was seen, with what stands around the events; `found` are the whole profiles among the inputs.
    pub(crate) fn finish(
        self,
        (inputs, documents): (Inputs, Vec<Document>),
        found: CpuprofileInputs,
        config: &Config,
    ) -> Result<Scanned, Error> {
        finished(inputs, (self.streams, documents, self.units), found.found, config)
    }

    fn parts(self) -> (Streams, Vec<Document>, Units) {
        (self.streams, self.documents, self.units)
    }
}

impl<F: Findings, T: FnMut(F, Stretch) -> Result<(), Error>> Reader for Door<F, T> {
    type Findings = ChunkFindings<F>;

    fn part(base: u64, _bytes: usize) -> ChunkFindings<F> {
        ChunkFindings { envelope: Envelope::at(base), looked: Looked::new(F::default(), None) }
    }

    fn maker(&self) -> Maker<ChunkFindings<F>> {
        let looks = self.looks();
        Box::new(move |base, _| ChunkFindings { envelope: Envelope::at(base), looked: looks() })
    }

    fn begin(&mut self, _name: &str) {
        self.begin_input();
    }

    fn take(
        &mut self,
        part: ChunkFindings<F>,
        base: u64,
        _current: Current<'_>,
    ) -> Result<(), Error> {
        let events = part.envelope.stats.events;
        part.envelope.append_to(&mut self.documents);
        self.take_looked(part.looked, events, base)
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    const KEEPS_STREAMS: bool = true;

    fn asks_which_are_json(&self) -> bool {
        self.asks_which_are_json
    }

    const PROVES: bool = false;
}

/// All inputs, read: their reports, their bytes, and the CPU profiles in them.
pub struct Scanned {
    inputs: Inputs,
    warnings: Vec<Warning>,
    streams: Streams,
    documents: Vec<Document>,
    wholes: Vec<CpuprofileInput>,
    places: Vec<InputPlace>,
    /// What an index knows of CPU profiles that are read in part.
    known: Option<KnownSamples>,
    config: Config,
}

/// Reads every source to its end, once, on all cores. `new` makes a collector for a stretch of an input; `take` gets what
/// it found, in the order of the inputs, on this thread.
///
/// Cost: one pass at scanning speed, and what the collectors do. Heap: as for [`crate::list_profiles`]; pipes and packed
/// inputs are kept, on disk beyond the budget.
///
/// Events are shown as they are written. Whose processes are whose where several inputs have equal pids, and whose clocks differ, is
/// decided by the rules of a merge (`config.identity` and `config.clocks`): [`Scanned::place`].
///
/// # Errors
/// As [`crate::merge()`], but for the output; and what `take` says.
pub fn scan_inputs<F: Findings>(
    sources: &[Source],
    config: &Config,
    new: impl Fn() -> F + Send + Sync + 'static,
    take: impl FnMut(F, Stretch) -> Result<(), Error>,
) -> Result<Scanned, Error> {
    config.check()?;
    let mut door = Door::new(sources, config, new, take);
    let mut wholes = CpuprofileInputs::new(config);
    let inputs = read_all(sources, config, &mut wholes, &mut door)?;
    finished(inputs, door.parts(), wholes.found, config)
}

/// As [`scan_inputs`], of pieces of one input, some of whose CPU profiles are read in part; nothing if something else stands there than is known.
///
/// # Errors
/// If the run was cancelled, and what `take` says.
pub(crate) fn scan_pieces<F: Findings>(
    source: &Source,
    (pieces, known): (&Known, Option<KnownSamples>),
    config: &Config,
    new: impl Fn() -> F + Send + Sync + 'static,
    mut take: impl FnMut(F, Stretch) -> Result<(), Error>,
) -> Result<Option<Scanned>, Error> {
    let mut said = Ok(());
    let keep = |found, stretch| {
        // what `take` says is no word about the index
        let taken = take(found, stretch);
        let failed = taken.is_err();
        said = taken;
        match failed {
            true => Err(ErrorKind::Cancelled.into()),
            false => Ok(()),
        }
    };
    let door = Door::new(std::slice::from_ref(source), config, new, keep);
    let read = pieces.read(source, door, config);
    let read = read.map(|read| read.map(|(inputs, door)| (inputs, door.parts())));
    said?;
    let Some((inputs, parts)) = read? else { return Ok(None) };
    let mut scanned = finished(inputs, parts, Vec::new(), config)?;
    scanned.known = known.inspect(|known| scanned.streams.complete(&known.chunks));
    Ok(Some(scanned))
}

/// All of it, when the last event was seen.
fn finished(
    inputs: Inputs,
    (mut streams, documents, units): (Streams, Vec<Document>, Units),
    wholes: Vec<CpuprofileInput>,
    config: &Config,
) -> Result<Scanned, Error> {
    streams.finish()?;
    inputs.check_unchanged()?;
    let (places, of_clocks) = units.decide(&documents, &inputs, config)?;
    let warnings = of_inputs(&inputs).chain(of_clocks).collect();
    let (known, config) = (None, config.clone());
    Ok(Scanned { inputs, warnings, streams, documents, wholes, places, known, config })
}

impl Scanned {
    /// The inputs, and what stands around their events.
    pub(crate) fn into_inputs(self) -> (Inputs, Vec<Document>) {
        (self.inputs, self.documents)
    }

    /// A report for each input, in order.
    pub fn inputs(&self) -> &[InputReport] {
        &self.inputs.reports
    }

    /// The place of an input, by its number: the new pids of its processes, and what is added to its times.
    ///
    /// # Panics
    /// For a number that no input has.
    pub fn place(&self, input: usize) -> &InputPlace {
        &self.places[input]
    }

    /// What the user should know.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Whether a piece of a CPU profile that was read in part is other than an index says: then nothing of it counts.
    pub fn is_wrong(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.chunks.is_wrong())
    }

    /// How many documents all traces are.
    pub fn documents(&self) -> u64 {
        tracemill_core::envelope::count(&self.documents)
    }

    /// Whether any of them has one event a line.
    pub fn has_lines(&self) -> bool {
        self.documents.iter().any(|document| document.form == Form::Ndjson)
    }

    /// What stands beside the events of traces under a key: a copy of each value.
    pub fn members(&self, name: &[u8]) -> impl Iterator<Item = Vec<u8>> {
        let keys = self.documents.iter().flat_map(|document| &document.keys);
        let store = self.store();
        let named = keys.filter(move |key| string_is(&key.key, name));
        named.map(move |key| store.copy(key.offset..key.offset + key.len))
    }

    /// Whether what stands beside the events of traces is JSON.
    pub fn are_members_json(&self) -> bool {
        let store = self.store();
        let mut keys = self.documents.iter().flat_map(|document| &document.keys);
        keys.all(|key| validate_value(&store.copy(key.offset..key.offset + key.len)).is_ok())
    }

    /// Whether every file still is what it was when it was opened: the last word before an answer is told.
    ///
    /// # Errors
    /// [`tracemill_core::error::ErrorKind::Changed`] for the first that is not.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        self.inputs.check_unchanged()
    }

    /// Where the bytes of each input begin among those of all, in order; `None` for an input without events of its own.
    pub fn begins(&self) -> Vec<Option<u64>> {
        let mut begins = vec![None; self.inputs.reports.len()];
        self.inputs.payloads.iter().for_each(|held| {
            begins[held.input].get_or_insert(held.base);
        });
        begins
    }

    /// Up to `most` bytes of the event at an offset among all inputs, and how many it has; nothing if none begins there. Cost: a
    /// look at each of its bytes.
    pub fn event_at(&self, offset: u64, most: usize) -> Option<(Vec<u8>, u64)> {
        /// What is looked at to find the end of an event.
        const LONGEST: u64 = 64 << 20;
        let store = self.store();
        let end = store.end().min(offset.saturating_add(LONGEST));
        let piece = (offset < end).then(|| store.copy(offset..end.min(offset + (64 << 10))))?;
        if piece.first() != Some(&b'{') {
            return None;
        }
        // nearly all events end within the first piece
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
        let payloads: Vec<(u64, &Payload)> =
            self.inputs.payloads.iter().map(|held| (held.base, &*held.payload)).collect();
        let store = Store::new(payloads.into_iter()).with_long(&self.streams.long);
        self.known.iter().fold(store, |store, known| store.with_long(known.chunks.long()))
    }
}
