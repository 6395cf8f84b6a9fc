//! Checks whether a trace is valid, sorted and paired, and whether viewers can open it.
//!
//! ```text
//!   scan workers ─ each event: grammar, fields, order ──> tallies by kind ────────────┐
//!        │ 32 bytes per event of a group                                              ├─> findings
//!        └──> runs, on disk beyond the budget ─ by group and time ─> pairs, nesting ──┘
//!   afterwards: text outside the events, top-level keys, CPU profiles
//! ```
//!
//! All rules are rows of one table (`rules`). The scan worker checks each event while it is in
//! cache. Rules about several events use 32-byte records and never read an event again (`walk`).
//! Grammar is checked per event (`text`), so every bad event is found, not only the first. Losses
//! of the scan itself are findings too.
//!
//! All inputs are checked together, as `merge` would see them: ids may clash, and streams may
//! continue in the next file. Only the order of events is checked per input.

mod escapes;
mod look;
mod order;
mod records;
mod report;
mod rules;
mod tallies;
mod text;
mod viewers;
mod walk;

pub use report::{CheckReport, Finding, FoundAt, FoundEvent};
pub use rules::{Severity, check_rules};

use look::{CheckLook, frame_id};
use order::Orders;
use records::{Grouped, RecordRuns, heap, sort, write_run};
use report::{CheckedInputs, InputMap};
use rules::{Kind, Rule};
use std::collections::BTreeMap;
use tallies::Tallies;
use text::{Spot, TextCheck};
use tracemill_cpuprofile::{StreamVerdict, Streams, Suspects};
use tracemill_join::config::{CheckFor, Config, THREADS};
use tracemill_join::input_set::InputSet;
use tracemill_join::inputs::scan;
use tracemill_tokenizer::{Form, members, string_is};
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::{KeyValue, count};
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{
    InputStart, Needs, Nothing, Observer, Scanned, SealedChunk, Starter,
};
use tracemill_trace::read::{InputPayload, Inputs};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::RunFile;
use tracemill_trace::spill::hash::HashSet;
use tracemill_trace::spill::tally::Tally;
use tracemill_trace::store::Store;
use tracemill_trace::time::bounds::Times;
use viewers::Browser;

/// Checks `sources` together, against the general rules and those of `viewers`.
///
/// Cost: one pass at the speed of JSON validation (about 1 GB/s per core, on all cores). Heap: 32
/// bytes per B, E, X, async and flow event, spilled to disk beyond a quarter of the memory budget;
/// a hash per thread and per referenced stack frame; the open slices; and the call trees of as many
/// CPU profiles as there are threads.
///
/// ```
/// use tracemill_join::config::{CheckFor, Config};
/// use tracemill_trace::Source;
/// use tracemill_inspect::check::check;
/// # let folder = tempfile::tempdir()?;
/// # let trace = folder.path().join("trace.json");
/// # std::fs::write(&trace, r#"[{"ph":"B","name":"a","pid":1,"tid":1,"ts":1000},"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let report = check(&[Source::Path(trace)], &[CheckFor::Perfetto], &config)?;
/// let kinds: Vec<_> = report.findings.iter().map(|finding| (&*finding.kind, finding.count)).collect();
/// assert!(kinds.contains(&("begin-without-end", 1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the errors of `merge()`, except for its output. Findings are not errors.
pub fn check(
    sources: &[Source],
    viewers: &[CheckFor],
    config: &Config,
) -> Result<CheckReport, Error> {
    config.limits.check()?;
    match viewers.contains(&CheckFor::Devtools) {
        true => run::<true>(sources, viewers, config),
        false => run::<false>(sources, viewers, config),
    }
}

fn run<const DEVTOOLS: bool>(
    sources: &[Source],
    viewers: &[CheckFor],
    config: &Config,
) -> Result<CheckReport, Error> {
    let places = InputSet::places(sources, config)?;
    let recordings = places.iter().map(|place| place.recording() as u64).collect();
    let checker = Checker::<DEVTOOLS>::new(recordings, &config.limits);
    let Scanned { inputs, observed: mut checker, .. } = scan(sources, config, Nothing, checker)?;
    checker.end_input();
    let runs = checker.end_records()?;
    checker.profiles.finish()?;
    let long = std::mem::take(&mut checker.profiles.long);
    let store = &inputs.store().with_long(&long);
    let ground = InputMap::new(&inputs);
    let suspects = Suspects::of(&checker.profiles);
    let judge = |number| suspects.judge(number, store, &config.limits);
    let quota = &config
        .limits
        .quota("begins that are open", Share::of(1, 2).divided(config.limits.threads));
    let (tallies, judged) =
        walk::walk(&runs, config.limits.threads, quota, suspects.count(), judge)?;
    let verdict = suspects.verdict(&judged.into_iter().collect::<Result<Vec<_>, _>>()?);
    drop(runs);
    checker.tallies.append(&tallies);
    checker.judge_text(&inputs, &ground, store);
    checker.judge_shape(store, &inputs, &ground, viewers);
    checker.note_profiles(&verdict);
    let flaws = verdict.flaws;
    let start_ns = checker.times.bounds().map(|bounds| bounds.start);
    let read = CheckedInputs { inputs: &inputs, ground: &ground, store };
    let severity = |rule: &Rule| rule.severity(viewers, config.limits.strict);
    let report = report::assemble(&checker.tallies, checker.spots, flaws, &read, severity);
    // the report quotes the inputs, so they must be unchanged
    inputs.check_unchanged()?;
    Ok(CheckReport { start_ns, ..report })
}

struct InputText {
    base: u64,
    text: TextCheck,
    documents: u64,
    ndjson: bool,
    last: Option<Form>,
    separators: u64,
    unclosed: u64,
}

/// Collects all facts that the rules need. Results do not depend on chunk boundaries.
struct Checker<const DEVTOOLS: bool> {
    /// For each input, the id of its recording. Empty for a single input.
    recordings: Vec<u64>,
    recording: u64,
    lease: Lease,
    tallies: Tallies,
    orders: Orders,
    quota: Quota,
    records: Vec<Vec<Grouped>>,
    heap: u64,
    spill: RunFile,
    profiles: Streams,
    frames: BTreeMap<u64, (u64, u64)>,
    browser: Browser,
    events: u64,
    times: Times,
    inputs: Vec<InputText>,
    /// Top-level keys to inspect, with the offsets of their values.
    keys: Vec<KeyValue>,
    /// Names of the top-level keys in the current document.
    seen: HashSet<Box<[u8]>>,
    spots: Vec<Spot>,
}

impl<const DEVTOOLS: bool> Checker<DEVTOOLS> {
    fn new(recordings: Vec<u64>, limits: &Limits) -> Self {
        Checker {
            recordings,
            recording: 0,
            lease: limits.lease("records of events to be checked", Share::of_index(1, 1)),
            tallies: Tallies::default(),
            orders: Orders::default(),
            quota: limits.table_quota(),
            records: Vec::new(),
            heap: 0,
            spill: RunFile::new(&limits.tmp_dir),
            profiles: Streams::new(
                limits.lease("chunks of CPU profiles", Share::of_index(3, 4)),
                limits,
            ),
            frames: BTreeMap::new(),
            browser: Browser::default(),
            events: 0,
            times: Times::NONE,
            inputs: Vec::new(),
            keys: Vec::new(),
            seen: HashSet::default(),
            spots: Vec::new(),
        }
    }

    /// Returns the state of the input at `base`. Ends the previous input if this input is new.
    fn input(&mut self, base: u64) -> &mut InputText {
        if self.inputs.last().is_none_or(|input| input.base != base) {
            self.end_input();
            let text = TextCheck::of_input(base);
            self.inputs.push(InputText {
                base,
                text,
                documents: 0,
                ndjson: false,
                last: None,
                separators: 0,
                unclosed: 0,
            });
        }
        let last = self.inputs.len() - 1;
        &mut self.inputs[last]
    }

    fn end_input(&mut self) {
        self.orders.end_input();
        // the next input starts a new document
        self.seen.clear();
    }

    fn spill(&mut self) -> Result<(), Error> {
        let runs = RecordRuns::memory(std::mem::take(&mut self.records));
        self.heap = 0;
        write_run(&mut self.spill, &runs)
    }

    fn end_records(&mut self) -> Result<RecordRuns, Error> {
        if self.spill.is_empty() {
            return Ok(RecordRuns::memory(std::mem::take(&mut self.records)));
        }
        self.spill()?;
        RecordRuns::disk(std::mem::replace(&mut self.spill, RunFile::new(self.lease.tmp_dir())))
    }

    /// Checks the text around the events of each input in which the scan found no damage.
    fn judge_text(&mut self, inputs: &Inputs, ground: &InputMap, store: &Store<'_>) {
        for input in &mut self.inputs {
            self.spots.append(&mut input.text.spots);
            let Some(place) = ground.input_at(input.base) else { continue };
            let report = &inputs.reports[place.number];
            let untouched = report.losses.count() + input.separators + input.unclosed == 0;
            // the text of a CPU profile may not be kept; its synthetic events are valid
            if untouched
                && place.is_kept
                && place.start == input.base
                && let Some(spot) = input.text.around_events(place.start..place.end, store)
            {
                self.tallies.add(spot.kind, spot.offset);
                self.spots.push(spot);
            }
        }
    }

    /// Checks documents, top-level keys, stack frames, and the rules that depend on all events.
    fn judge_shape(
        &mut self,
        store: &Store<'_>,
        inputs: &Inputs,
        ground: &InputMap,
        viewers: &[CheckFor],
    ) {
        for input in &self.inputs {
            for _ in 1..input.documents {
                self.tallies.add(Kind::SeveralDocuments, input.base);
            }
            if input.ndjson {
                self.tallies.add(Kind::Ndjson, input.base);
            }
            if input.unclosed > 0 && input.last == Some(Form::Object) {
                self.tallies.add(Kind::UnclosedObject, input.base);
            }
        }
        report::check_inputs(inputs, ground, store, viewers, &mut self.tallies);
        if self.events == 0 {
            self.tallies.add(Kind::NoEvents, 0);
        }
        self.judge_keys(store, inputs);
        self.orders.note_pairs(&mut self.tallies);
        if DEVTOOLS {
            self.browser.judge(&self.orders.processes(), self.events, &mut self.tallies);
        }
    }

    fn judge_keys(&mut self, store: &Store<'_>, inputs: &Inputs) {
        let mut frames = HashSet::default();
        // skip keys of CPU profiles that are not kept
        let is_kept = |offset: u64| {
            let holds = |held: &InputPayload| {
                held.base <= offset && offset < held.base + held.payload.len()
            };
            inputs.payloads.iter().any(holds)
        };
        for KeyValue { key, offset, len } in &self.keys {
            if !is_kept(*offset) {
                continue;
            }
            let value = store.slice(*offset, *len);
            if string_is(key, b"stackFrames") {
                frames.extend(members(value).map(|(id, _)| frame_id(id)));
            } else if DEVTOOLS && string_is(key, b"metadata") {
                let tallies = &mut self.tallies;
                viewers::check_annotations(value, *offset, self.events, tallies);
            }
        }
        for (frame, &(count, first)) in &self.frames {
            if !frames.contains(frame) {
                let mut tally = Tally::default();
                tally.add(first);
                tally.count = count;
                self.tallies.append_one(Kind::MissingFrame, &tally);
            }
        }
    }

    fn note_profiles(&mut self, verdict: &StreamVerdict) {
        self.tallies.append_one(Kind::ChunkOrder, &verdict.reordered);
        self.tallies.append_one(Kind::ProfileParents, &verdict.by_parent);
        self.tallies.append_one(Kind::ProfilesPerThread, &verdict.further);
        self.tallies.append_one(Kind::ManySamples, &verdict.large);
        self.tallies.append_one(Kind::ChunkLengths, &verdict.uneven);
        self.tallies.append_one(Kind::UnsignedDeltas, &verdict.unsigned);
    }
}

impl<const DEVTOOLS: bool> Observer for Checker<DEVTOOLS> {
    type Chunk = CheckLook<DEVTOOLS>;

    fn needs(&self) -> Needs {
        Needs { input_bytes: true, synthetic_bytes: true, ..Needs::NONE }
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        self.recording = self.recordings.get(input.number).copied().unwrap_or(0);
    }

    fn starter(&self) -> Starter<CheckLook<DEVTOOLS>> {
        let recording = self.recording;
        Box::new(move |chunk| CheckLook::new(chunk.base, recording))
    }

    fn merge(&mut self, part: CheckLook<DEVTOOLS>, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let input = self.input(chunk.base);
        input.separators += chunk.stats.odd_separators;
        input.unclosed += chunk.stats.unclosed;
        let documents = chunk.new_documents();
        input.documents += count(documents);
        input.ndjson |= documents.iter().any(|document| document.form == Form::Ndjson);
        input.last = documents.last().map(|document| document.form).or(input.last);
        input.text.append(part.text);
        self.judge_names(chunk);
        self.events += chunk.stats.events;
        self.tallies.append(&part.tallies);
        self.times = self.times.unite(part.times);
        self.orders.append(part.orders, &mut self.tallies);
        self.quota.check(self.orders.heap(), THREADS)?;
        self.profiles.append(part.profiles, chunk.base)?;
        self.browser.append(part.browser);
        for (frame, (count, first)) in part.frames {
            let seen = self.frames.entry(frame).or_insert((0, first));
            seen.0 += count;
            seen.1 = first.min(seen.1);
        }
        self.heap += heap(&part.records);
        if !part.records.is_empty() {
            debug_assert!({
                let mut sorted = part.records.clone();
                sort(&mut sorted);
                sorted == part.records
            });
            self.records.push(part.records);
        }
        if self.heap > self.lease.bytes() {
            self.spill()?;
        }
        Ok(())
    }
}

impl<const DEVTOOLS: bool> Checker<DEVTOOLS> {
    /// Reports duplicate top-level keys, and collects the keys `stackFrames` and `metadata` for
    /// later checks of their values.
    fn judge_names(&mut self, chunk: &SealedChunk<'_>) {
        let later = chunk.new_documents().iter().map(|new_document| (true, &*new_document.keys));
        for (begins, keys) in std::iter::once((false, chunk.more_keys())).chain(later) {
            if begins {
                self.seen.clear();
            }
            for key in keys {
                if !self.seen.insert(key.key.clone()) {
                    self.tallies.add(Kind::DuplicateKey, key.offset);
                }
                if string_is(&key.key, b"stackFrames") || string_is(&key.key, b"metadata") {
                    self.keys.push(key.clone());
                }
            }
        }
    }
}
