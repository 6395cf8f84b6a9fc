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
use crate::config::{Config, Format, OutputConfig, Source};
use crate::copies::{Copies, signs_of_parts};
use crate::emit::{Emit, Layout, Timed};
use crate::error::{Error, ErrorKind};
use crate::identity::{
    Census, Labels, Settled, UnitParts, Watched, deduplicate, push_provenance, settle, watched,
};
use crate::index::{Document, METADATA, Part, UNTIMED, append_documents};
use crate::keys::{Bytes, Key, United, free_name, unite_renamed};
use crate::order::{Buckets, Entry, Lists, MergedRuns, Order, Spill, SpilledRuns};
use crate::output;
use crate::read::{Current, Facts, Inputs, Maker, Own, Reader, read_all};
use crate::report::{AnnotationReport, IdentityReport, InputIdentity, MergeReport};
use crate::store::{Long, Payload, Place, Store};
use crate::streams::{Delays, StreamOrders};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tracemill_tokenizer::{Event, Form, Tier};

/// Merges `sources` into one trace in the order of contract C3; one source is sorted.
///
/// Cost: one pass over the input at scanning speed and one write of the output; 16 bytes of heap an event, and beyond a
/// quarter of the budget none, for sorted runs on disk.
///
/// # Errors
/// See [`ErrorKind`]; whatever it is, the output is as it was before. Damaged input is no error (unless
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
    let mut index = Index::new(config, watched(sources, &config.identity));
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
    units: Vec<UnitParts>,
    /// Whether there is the trace of a browser.
    browser: bool,
    spill: Option<Spill>,
}

impl Index {
    fn new(config: &Config, watched: Option<Arc<Watched>>) -> Self {
        Index {
            tmp_dir: config.tmp_dir.clone(),
            limit: config.shares().index,
            timed: Vec::new(),
            lists: [Vec::new(), Vec::new()],
            heap: 0,
            long: Vec::new(),
            events: 0,
            bytes: 0,
            documents: Vec::new(),
            watched,
            units: Vec::new(),
            browser: false,
            spill: None,
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
        let watched = self.watched.clone();
        Box::new(move |base, bytes| {
            let mut part = Part::new(base, bytes);
            part.census = watched.clone().map(|watched| Box::new(Census::new(watched)));
            part
        })
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
        append_documents(&mut self.documents, part.keys, part.documents);
        if self.units.last().is_none_or(|unit| unit.base != base) {
            self.units.push(UnitParts { base, ..UnitParts::default() });
        }
        if let Some(unit) = self.units.last_mut() {
            unit.streams.append(part.streams);
            part.census.into_iter().for_each(|census| unit.processes.append(*census));
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
    Disk(SpilledRuns),
}

impl Runs {
    /// Every entry of a time, in no particular order.
    fn at(&self, time: i64) -> Vec<Entry> {
        let in_part = |part: &Vec<Entry>| {
            let start = part.partition_point(|entry| entry.time < time);
            let own = part[start..].iter().take_while(|entry| entry.time == time);
            own.copied().collect::<Vec<Entry>>()
        };
        match self {
            Runs::Memory(parts) => parts.iter().flat_map(in_part).collect(),
            Runs::Disk(runs) => runs.at(time).collect(),
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
        let (mut settled, streams, labels) = self.settle(&inputs, config)?;
        let long = std::mem::take(&mut self.long);
        let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
        let labels = labels.iter().map(|labels| (labels.base, &labels.payload));
        let store = &Store::new(payloads.chain(labels), long);
        let order = Order(store);
        let (runs, mut lists) = self.end_reading(store)?;
        let mut delays = find_delays(streams, &settled, &runs, &lists, order);
        let taken_out =
            Copies::take_lists(&mut self.documents, store).take_out(store, |time| runs.at(time));
        let annotations = Annotations::read(&self.documents, &inputs, true, store);
        let mut united = unite_renamed(&self.documents, store, &mut settled.rewrite);
        let mut identity =
            IdentityReport { inputs: settled.describe(&inputs, rules), metadata_dropped: 0 };
        if rules.dedup_metadata {
            let kept = deduplicate(lists, store, &settled.rewrite, config)?;
            self.events -= kept.events;
            self.bytes -= kept.bytes;
            identity.metadata_dropped = kept.events;
            lists = kept.lists;
        }
        let said = rules.provenance.then_some(&*identity.inputs);
        let own = add_own_keys(&mut united, taken_out.still_listed, said);
        let format = match default_format(&self.documents) {
            Format::Array if own => Format::Object,
            format => format,
        };
        let format = output.format.unwrap_or(format);
        let copies = taken_out.offsets.len() as u64;
        let size = (self.events - copies, self.bytes - taken_out.bytes);
        delays.leave_out(taken_out.offsets);
        let mut report = MergeReport {
            inputs: Vec::new(),
            events: size.0,
            bytes: 0,
            format,
            tier: config.tier.unwrap_or_else(Tier::best),
            threads: config.threads,
            spilled_runs: if let Runs::Disk(runs) = &runs { runs.count() } else { 0 },
            spooled_bytes: inputs.spooled,
            delayed_chunks: delays.count(),
            copies,
            keys_lost: if format == Format::Array { united.keys.len() as u64 } else { 0 },
            identity,
            annotations: AnnotationReport::default(),
            warnings: Vec::new(),
        };
        report.warnings.extend(inputs.warnings.iter().cloned());
        warn(&united, &delays, &report.format, &mut report.warnings);
        let profiles = inputs.reports.iter().any(|input| input.profiles > 0);
        if self.browser && profiles && !config.profiles.for_devtools {
            report.warnings.push(HIDDEN.to_owned());
        }
        let timed = match &runs {
            Runs::Memory(parts) => Timed::Buckets(Buckets::over(parts.iter().map(Vec::as_slice))),
            Runs::Disk(runs) => Timed::Merged(Mutex::new(MergedRuns::new(runs, order))),
        };
        let rewrite = Some(settled.rewrite).filter(|rewrite| !rewrite.is_empty());
        let layout = Layout::of(format);
        let emit = Emit { order, layout, delays, lists: &lists, timed, rewrite };
        let written = Written::whole(&emit, config);
        report.annotations = annotations.put(&mut united, &written).report();
        report.warnings.extend(report.annotations.warning());
        let bytes = emit.write_all(&united, size, output, config, &mut report.warnings, || {
            check_intact(&inputs)
        })?;
        report.bytes = bytes;
        report.inputs = inputs.reports;
        Ok(report)
    }

    /// Decides on names, and makes the events that show labels.
    fn settle(
        &mut self,
        inputs: &Inputs,
        config: &Config,
    ) -> Result<(Settled, StreamOrders, Option<Labels>), Error> {
        let rules = &config.identity;
        let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
        let signs = signs_of_parts(&self.documents, &Store::new(payloads, Vec::new()));
        let units = std::mem::take(&mut self.units);
        let (mut settled, streams) = settle(units, &signs, inputs, rules);
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
                Ok((Runs::Disk(runs), lists))
            }
        }
    }
}

/// Adds what the merge itself has to say: copies that other parts repeat, and what was renamed; whether that is anything.
fn add_own_keys(
    united: &mut United<'_>,
    still_listed: Option<Vec<u8>>,
    renamed: Option<&[InputIdentity]>,
) -> bool {
    let own = still_listed.is_some() || renamed.is_some();
    if let Some(list) = still_listed {
        united.keys.push(Key { name: free_name(united), value: vec![Bytes::Made(list)] });
    }
    if let Some(inputs) = renamed {
        let mut said = Vec::new();
        push_provenance(inputs, &mut said);
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
        Runs::Disk(runs) => Box::new(runs.iter()),
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

/// Whether every input was there to the end.
pub(crate) fn check_intact(inputs: &Inputs) -> Result<(), Error> {
    for held in &inputs.payloads {
        if let Payload::Mapped(mapped) = &*held.payload
            && !mapped.is_intact()
        {
            let report = &inputs.reports[held.input];
            let (input, offset) = (report.name.clone(), report.bytes);
            return Err(ErrorKind::Changed { input, offset }.into());
        }
    }
    Ok(())
}
