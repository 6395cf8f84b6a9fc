//! `merge`: any number of traces to one, sorted, whole (contracts C1–C8).
//!
//! ```text
//!   inputs ─ scan ─> parts (sorted) ─┬─> buckets ────────────┬─ gather ─> output
//!                       │ budget     └─> runs on disk, merged ┘
//!                       └─ keys, streams, losses
//! ```
//!
//! Nothing is opened for writing before all inputs are read, so a failing input leaves no trace of an output.

use crate::annotations::{Annotations, Written};
use crate::check::CheckFor;
use crate::clock::{ClockWatch, Clocks, Shift, Sightings, shift_parts, shift_runs};
use crate::config::{ClockRules, Config, Format, OutputConfig, Source};
use crate::copies::{Copies, TakenOut, signs_of_parts};
use crate::emit::{Emit, Layout, Timed};
use crate::error::Error;
use crate::identity::{
    Census, Labels, RenamedUnit, Rewrite, Settled, UnitParts, Watched, deduplicate,
    push_provenance, settle, watched,
};
use crate::index::{Document, METADATA, Part, UNTIMED, append_documents};
use crate::keys::{Bytes, Key, United, free_name, unite_renamed};
use crate::order::{Buckets, Entry, Lists, MergedRuns, Order, Spill, SpilledRuns, entries_at};
use crate::output;
use crate::read::{Current, Facts, Inputs, Maker, Own, Reader, read_all, read_made};
use crate::report::{IdentityReport, InputClock, InputIdentity, MergeReport};
use crate::store::{Long, Payload, Place, Store};
use crate::streams::{Delays, StreamOrders};
use crate::viewer::{self, Before, Changes, Known, Retouch};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tracemill_tokenizer::{Event, Form};

/// Merges `sources` into one trace in the order of contract C3; one source is sorted.
///
/// Cost: one pass over the input at scanning speed and one write of the output; 16 bytes of heap an event, and beyond a
/// quarter of the budget none, for sorted runs on disk.
///
/// # Errors
/// See [`crate::ErrorKind`]; whatever it is, the output is as it was before. Damaged input is no error (unless
/// [`Config::strict`]): what was lost is in the report.
///
/// Parts that [`crate::split()`] made of one trace give its events, each as often as it was there: what was repeated at a
/// cut is taken out and counted. Only metadata events, which several parts have, stay as often as they are.
pub fn merge(
    sources: &[Source],
    output: &OutputConfig,
    config: &Config,
) -> Result<MergeReport, Error> {
    config.check()?;
    output::check(output, &sources.iter().collect::<Vec<_>>())?;
    let mut index = Index::new(config, sources);
    let inputs = read_all(sources, config, &mut index)?;
    index.write(inputs, output, config)
}

/// What DevTools does to profiles beside a trace of a browser (devtools-semantics §9.3).
const HIDDEN: &str = "DevTools will not show the CPU profiles among the inputs, since beside the trace of a browser \
                      it hides processes without a page: --for devtools gives them one";

/// The findings of all inputs.
struct Index {
    tmp_dir: PathBuf,
    /// Bytes of entries that may be in memory.
    limit: u64,
    timed: Vec<Vec<Entry>>,
    lists: [Vec<Vec<Place>>; 2],
    heap: u64,
    long: Vec<Long>,
    /// Events and their bytes.
    events: u64,
    bytes: u64,
    documents: Vec<Document>,
    watched: Option<Arc<Watched>>,
    clocks: ClockRules,
    clock_watch: Option<Arc<ClockWatch>>,
    /// What the times of the input at hand are multiplied by.
    factor: Option<Arc<Shift>>,
    units: Vec<UnitParts>,
    /// Whether there is the trace of a browser.
    browser: bool,
    spill: Option<Spill>,
    /// What matters to a viewer, if it is for one.
    viewer: Option<viewer::Found>,
}

impl Index {
    fn new(config: &Config, sources: &[Source]) -> Self {
        let several = sources.len() > 1 || sources.iter().any(|source| source.path().is_dir());
        let viewer = viewer::Found::new(config);
        // for a viewer some events have an index of their own, and so have those made of them
        let limit = if viewer.is_some() { 2 } else { 1 };
        Index {
            tmp_dir: config.tmp_dir.clone(),
            limit: config.shares().index / limit,
            timed: Vec::new(),
            lists: [Vec::new(), Vec::new()],
            heap: 0,
            long: Vec::new(),
            events: 0,
            bytes: 0,
            documents: Vec::new(),
            watched: watched(sources, &config.identity),
            clocks: config.clocks.clone(),
            clock_watch: config.clocks.watch(several),
            factor: None,
            units: Vec::new(),
            browser: false,
            spill: None,
            viewer,
        }
    }

    /// Writes everything that is in memory as a run.
    fn spill(&mut self, store: &Store<'_>) -> Result<(), Error> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            None => self.spill.insert(Spill::new(&self.tmp_dir)?),
        };
        spill.run(&self.timed, Order(store))?;
        for (list, parts) in self.lists.iter_mut().enumerate() {
            parts.drain(..).try_for_each(|places| spill.list(list, &places))?;
        }
        self.timed.clear();
        self.heap = 0;
        Ok(())
    }
}

impl Reader for Index {
    type Part = Part;

    fn part(base: u64, bytes: usize) -> Part {
        Part::new(base, bytes)
    }

    fn maker(&self) -> Maker<Part> {
        let (watched, factor) = (self.watched.clone(), self.factor.clone());
        let clock_watch = self.clock_watch.clone();
        let viewer = self.viewer.as_ref().map(viewer::Found::viewer);
        Box::new(move |base, bytes| {
            let mut part = Part::new(base, bytes);
            part.factor.clone_from(&factor);
            part.sightings = clock_watch.clone().map(|watch| Box::new(Sightings::new(watch)));
            part.census = watched.clone().map(|watched| Box::new(Census::new(watched)));
            part.viewer = viewer.map(|viewer| Box::new(viewer::Scanned::new(viewer, base)));
            part
        })
    }

    fn begin(&mut self, name: &str) {
        self.factor = self.clocks.factor_of(name);
    }

    fn facts(part: &Part) -> &Facts {
        &part.facts
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    const KEEPS_STREAMS: bool = true;

    fn take(&mut self, part: Part, base: u64, current: Current<'_>) -> Result<(), Error> {
        self.heap += part.heap() as u64;
        self.events += part.facts.events;
        self.bytes += part.bytes;
        self.long.extend(part.long);
        if let (Some(viewer), Some(found)) = (&mut self.viewer, part.viewer) {
            self.events -= viewer.take(*found, base, || current.store(self.long.clone()))?;
        }
        append_documents(&mut self.documents, part.keys, part.documents);
        if self.units.last().is_none_or(|unit| unit.base != base) {
            self.units.push(UnitParts { base, ..UnitParts::default() });
        }
        if let Some(unit) = self.units.last_mut() {
            unit.streams.append(part.streams);
            part.census.into_iter().for_each(|census| unit.processes.append(*census));
            if let Some(sightings) = part.sightings {
                unit.sightings.get_or_insert_default().append(*sightings);
            }
        }
        self.browser |= part.browser;
        if !part.timed.is_empty() {
            self.timed.push(part.timed);
        }
        let [metadata, untimed] = part.lists;
        for (list, places) in [(METADATA, metadata), (UNTIMED, untimed)] {
            if !places.is_empty() {
                self.lists[list].push(places);
            }
        }
        if self.heap > self.limit {
            let store = current.store(self.long.clone());
            self.spill(&store)?;
        }
        Ok(())
    }
}

impl<'a> Current<'a> {
    /// Everything read so far as one address space.
    pub(crate) fn store(self, long: Vec<Long>) -> Store<'a> {
        let before = self.before.iter().map(|held| (held.base, &*held.payload));
        match self.own {
            Own::Mapped(mapped) => Store::with_map(before, self.base, mapped, long),
            Own::Payload(payload) => Store::new(before.chain([(self.base, payload)]), long),
        }
    }
}

/// Timed entries after reading: in memory, or on disk.
enum Runs {
    Memory(Vec<Vec<Entry>>),
    Disk(Vec<SpilledRuns>),
}

impl Runs {
    /// Moves the times of inputs.
    fn shift(&mut self, clocks: &Clocks, store: &Store<'_>, config: &Config) -> Result<(), Error> {
        match self {
            Runs::Memory(parts) => shift_parts(parts, clocks, store),
            Runs::Disk(all) => {
                for runs in all {
                    *runs = shift_runs(runs, clocks, store, &config.tmp_dir)?;
                }
            }
        }
        Ok(())
    }

    /// These and others as one.
    fn join(self, others: Runs, order: Order<'_, '_>, config: &Config) -> Result<Runs, Error> {
        let on_disk = |runs| -> Result<Vec<SpilledRuns>, Error> {
            match runs {
                Runs::Disk(runs) => Ok(runs),
                Runs::Memory(parts) => {
                    let mut spill = Spill::new(&config.tmp_dir)?;
                    spill.run(&parts, order)?;
                    Ok(vec![spill.finish()?.0])
                }
            }
        };
        match (self, others) {
            (Runs::Memory(mut own), Runs::Memory(others)) => {
                own.extend(others);
                Ok(Runs::Memory(own))
            }
            (own, others) => {
                let mut all = on_disk(own)?;
                all.extend(on_disk(others)?);
                Ok(Runs::Disk(all))
            }
        }
    }

    /// Runs on disk.
    fn spilled(&self) -> u64 {
        match self {
            Runs::Memory(_) => 0,
            Runs::Disk(all) => all.iter().map(SpilledRuns::count).sum(),
        }
    }

    /// As the output takes them.
    fn timed(&self, order: Order<'_, '_>) -> Timed<'_> {
        match self {
            Runs::Memory(parts) => Timed::Buckets(Buckets::over(parts.iter().map(Vec::as_slice))),
            Runs::Disk(all) => {
                let runs = all.iter().flat_map(SpilledRuns::runs);
                Timed::Merged(Mutex::new(MergedRuns::over(runs, order)))
            }
        }
    }

    /// Every entry of a time, in no particular order.
    fn at(&self, time: i64) -> Vec<Entry> {
        match self {
            Runs::Memory(parts) => entries_at(parts, time),
            Runs::Disk(all) => all.iter().flat_map(|runs| runs.at(time)).collect(),
        }
    }
}

impl Index {
    /// The second half of a merge: order and output.
    fn write(
        mut self,
        inputs: Inputs,
        output: &OutputConfig,
        config: &Config,
    ) -> Result<MergeReport, Error> {
        let rules = &config.identity;
        let (clocks, warnings) = self.settle_clocks(&inputs, config)?;
        let (mut settled, streams, labels) = self.settle(&inputs, &clocks, config)?;
        let long = std::mem::take(&mut self.long);
        let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
        let labels = labels.iter().map(|labels| (labels.base, &labels.payload));
        let mut store = Store::new(payloads.chain(labels), long).with_clocks(Arc::clone(&clocks));
        let (mut runs, mut lists, known, mut taken_out) =
            self.end_on_one_line(&clocks, &store, config)?;
        let copies = taken_out.offsets.len() as u64;
        let made;
        let mut changes = Changes::default();
        if let Some(known) = &known {
            let before =
                Before { store: &store, rewrite: &settled.rewrite, inputs: &inputs, config };
            made = known.make(&mut taken_out, before, &mut changes)?;
            (store, runs) =
                self.add_made((&made, store), runs, &mut settled.rewrite, &inputs, config)?;
        }
        let store = &store;
        let order = Order(store);
        let mut delays = find_delays(streams, &settled, &runs, &lists, order);
        let annotations = Annotations::read(&self.documents, &inputs, true, store);
        let mut united = unite_renamed(&self.documents, store, &mut settled.rewrite);
        let mut identity =
            IdentityReport { inputs: settled.describe(&inputs, rules), metadata_dropped: 0 };
        lists = self.deduplicate(lists, store, &settled.rewrite, &mut identity, config)?;
        let said = rules.provenance.then_some((&*identity.inputs, &*clocks.inputs));
        let own = add_own_keys(&mut united, taken_out.still_listed, said);
        let left_out = taken_out.offsets.len() as u64;
        let size = (self.events - left_out, self.bytes - taken_out.bytes);
        let format = self.format(output, own, known.is_some().then_some(size.0));
        delays.leave_out(taken_out.offsets);
        let mut report = MergeReport {
            events: size.0,
            format,
            spilled_runs: runs.spilled(),
            spooled_bytes: inputs.spooled,
            delayed_chunks: delays.count(),
            copies,
            keys_lost: if format == Format::Array { united.keys.len() as u64 } else { 0 },
            identity,
            clocks: clocks.inputs.clone(),
            warnings: [inputs.warnings.clone(), warnings].concat(),
            ..MergeReport::new(config)
        };
        warn(&united, &delays, &report.format, &mut report.warnings);
        self.warn(&inputs, config, &mut report.warnings);
        let rewrite = Some(settled.rewrite).filter(|rewrite| !rewrite.is_empty());
        let (layout, timed) = (Layout::of(format), runs.timed(order));
        let mut emit = Emit { order, layout, delays, lists: &lists, timed, rewrite, retouch: None };
        let written = Written::merged(&emit, &clocks, known.is_none(), config);
        report.annotations = annotations.put(&mut united, &written).report();
        report.warnings.extend(report.annotations.warning());
        if let Some(known) = &known {
            emit.retouch = Some(Retouch::new(known, &emit, &mut united, changes, config)?);
            emit.timed = runs.timed(order);
        }
        let bytes = emit.write_all(&united, size, output, config, &mut report.warnings, || {
            inputs.check_unchanged()
        })?;
        report.warnings.extend(clocks.stuck());
        report.bytes = bytes;
        if let Some(retouch) = &emit.retouch {
            retouch.report(&mut report, inputs.span());
        }
        report.inputs = inputs.reports;
        Ok(report)
    }

    /// Decides on clocks.
    fn settle_clocks(
        &mut self,
        inputs: &Inputs,
        config: &Config,
    ) -> Result<(Arc<Clocks>, Vec<String>), Error> {
        let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
        let store = Store::new(payloads, Vec::new());
        let rules = &config.clocks;
        let settled = Clocks::settle(&mut self.units, &self.documents, inputs, &store, rules);
        settled.map(|(clocks, warnings)| (Arc::new(clocks), warnings))
    }

    /// The format of the output, which has `own` keys; for a viewer, of so many events.
    fn format(&self, output: &OutputConfig, own: bool, viewer: Option<u64>) -> Format {
        let usual = match default_format(&self.documents) {
            Format::Array if own => Format::Object,
            format => format,
        };
        let format = output.format.unwrap_or(usual);
        viewer.map_or(format, |events| viewer::form(format, events))
    }

    /// Leaves out metadata that is there already, if that is asked for.
    fn deduplicate(
        &mut self,
        lists: Lists,
        store: &Store<'_>,
        rewrite: &Rewrite,
        identity: &mut IdentityReport,
        config: &Config,
    ) -> Result<Lists, Error> {
        if !config.identity.dedup_metadata {
            return Ok(lists);
        }
        let kept = deduplicate(lists, store, rewrite, config)?;
        self.events -= kept.events;
        self.bytes -= kept.bytes;
        identity.metadata_dropped = kept.events;
        Ok(kept.lists)
    }

    /// What there is to say of the inputs.
    fn warn(&self, inputs: &Inputs, config: &Config, warnings: &mut Vec<String>) {
        let profiles = inputs.reports.iter().any(|input| input.profiles > 0);
        if self.browser && profiles && config.viewer.viewer != Some(CheckFor::Devtools) {
            warnings.push(HIDDEN.to_owned());
        }
    }

    /// Takes in what was made for a viewer, behind all inputs; returns the store and the runs with it.
    fn add_made<'p>(
        &mut self,
        (made, store): (&'p Payload, Store<'p>),
        runs: Runs,
        rewrite: &mut Rewrite,
        inputs: &Inputs,
        config: &Config,
    ) -> Result<(Store<'p>, Runs), Error> {
        let base = store.end();
        let limit = config.shares().index / 4;
        let usual = Index::new(config, &[]);
        let mut index = Index { limit, watched: None, clock_watch: None, viewer: None, ..usual };
        let current = Current { before: &inputs.payloads, base, own: Own::Payload(made) };
        read_made(made, config, &mut index, current)?;
        let store = store.and(base, made, std::mem::take(&mut index.long));
        let runs = runs.join(index.end_reading(&store)?.0, Order(&store), config)?;
        // they have their new names already
        rewrite.units.push(RenamedUnit { base, ..RenamedUnit::default() });
        self.events += index.events;
        self.bytes += index.bytes;
        Ok((store, runs))
    }

    /// Decides on names, and makes the events that show labels.
    fn settle(
        &mut self,
        inputs: &Inputs,
        clocks: &Clocks,
        config: &Config,
    ) -> Result<(Settled, StreamOrders, Option<Labels>), Error> {
        let rules = &config.identity;
        let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
        let signs = signs_of_parts(&self.documents, &Store::new(payloads, Vec::new()));
        let units = std::mem::take(&mut self.units);
        let (mut settled, streams) = settle(units, &signs, inputs, rules, clocks);
        let end = inputs.payloads.iter().map(|held| held.base + held.payload.len()).max();
        let labels = settled.labels(inputs, rules, end.unwrap_or(0))?;
        if let Some(labels) = &labels {
            self.long.extend_from_slice(&labels.long);
            self.events += labels.places.len() as u64;
            self.bytes += labels.bytes;
            self.lists[METADATA].push(labels.places.clone());
        }
        Ok((settled, streams, labels))
    }

    /// Ends the index, with all times as the output has them, and takes copies out.
    fn end_on_one_line(
        &mut self,
        clocks: &Clocks,
        store: &Store<'_>,
        config: &Config,
    ) -> Result<(Runs, Lists, Option<Known>, TakenOut), Error> {
        let (mut runs, lists) = self.end_reading(store)?;
        let mut known = self.viewer.take().map(|found| found.finish(store)).transpose()?;
        let special = |time| known.as_ref().map_or_else(Vec::new, |known| known.at(time));
        // copies are told by the times that they have in the inputs
        let at = |event: &Event<'_>| {
            let times = clocks.times_read(event).into_iter();
            times.flat_map(|time| [runs.at(time), special(time)].concat()).collect()
        };
        let taken_out = Copies::take_lists(&mut self.documents, store).take_out(store, at);
        if clocks.change() {
            runs.shift(clocks, store, config)?;
            if let Some(known) = &mut known {
                known.shift(clocks, store, config)?;
            }
        }
        Ok((runs, lists, known, taken_out))
    }

    /// Ends the index: what is in memory stays there, unless some of it went to disk already.
    fn end_reading(&mut self, store: &Store<'_>) -> Result<(Runs, Lists), Error> {
        if self.spill.is_some() {
            self.spill(store)?;
        }
        match self.spill.take() {
            None => {
                let lists = std::mem::take(&mut self.lists);
                Ok((Runs::Memory(std::mem::take(&mut self.timed)), Lists::Memory(lists)))
            }
            Some(spill) => {
                let (runs, lists) = spill.finish()?;
                Ok((Runs::Disk(vec![runs]), lists))
            }
        }
    }
}

/// Adds what the merge itself has to say: copies that other parts repeat, what was renamed and moved; whether that is
/// anything.
fn add_own_keys(
    united: &mut United<'_>,
    still_listed: Option<Vec<u8>>,
    done: Option<(&[InputIdentity], &[InputClock])>,
) -> bool {
    let own = still_listed.is_some() || done.is_some();
    if let Some(list) = still_listed {
        united.keys.push(Key { name: free_name(united), value: vec![Bytes::Made(list)] });
    }
    if let Some((inputs, clocks)) = done {
        let mut said = Vec::new();
        push_provenance(inputs, clocks, &mut said);
        united.note(said);
    }
    own
}

/// Reads the streams again that time order may tear (contract C6).
fn find_delays(
    streams: StreamOrders,
    settled: &Settled,
    runs: &Runs,
    lists: &Lists,
    order: Order<'_, '_>,
) -> Delays {
    let suspects = streams.suspects();
    if suspects.is_empty() {
        return Delays::default();
    }
    let untimed = lists.iter().map(|place| Entry { time: i64::MIN, place });
    let timed: Box<dyn Iterator<Item = Entry> + '_> = match runs {
        Runs::Memory(parts) => Box::new(parts.iter().flatten().copied()),
        Runs::Disk(all) => Box::new(all.iter().flat_map(SpilledRuns::iter)),
    };
    let key_of = |event: &Event<'_>, place| settled.stream_key(event, place);
    Delays::find_by(&suspects, untimed.chain(timed), order, key_of)
}

/// The first document's form; the object form where the array form would lose keys.
pub(crate) fn default_format(documents: &[Document]) -> Format {
    let keys = documents.iter().any(|document| !document.keys.is_empty());
    match documents.first().map(|document| document.form) {
        Some(Form::Array) if !keys => Format::Array,
        Some(Form::Ndjson) => Format::Ndjson,
        _ => Format::Object,
    }
}

/// What there is to say of keys and streams.
pub(crate) fn warn(
    united: &United<'_>,
    delays: &Delays,
    format: &Format,
    warnings: &mut Vec<String>,
) {
    warnings.extend(united.warnings.iter().cloned());
    for stream in &delays.unordered {
        warnings.push(format!(
            "CPU profile of {stream}: in no order of its chunks do all refer to earlier nodes; time order was kept"
        ));
    }
    warnings.extend(united.lost_to(*format));
}
