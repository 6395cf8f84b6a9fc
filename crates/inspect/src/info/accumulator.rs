//! Sums the counts of all chunks in input order.

use super::ledger::{Ledger, TopEntries, Totals};
use super::look::{AtZero, CountedEvent, InfoLook, InfoNeeds, LETTERS, text_of_key};
use super::needs::InfoConfig;
use super::nesting::self_times;
use super::profiles::ProfileCounts;
use super::rank::Ranks;
use super::report::{InfoReport, RealEvent, TopList, Usage};
use super::slices::SliceRuns;
use super::table::{UsageTable, hash};
use super::threads::{as_written, processes};
use super::timeline::Timeline;
use super::window::WindowTimes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracemill_join::config::{Config, THREADS};
use tracemill_join::input_set::InputPlace;
use tracemill_join::inputs::of_inputs;
use tracemill_join::report::reported_losses::MOST;
use tracemill_tokenizer::Form;
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::{self, Document};
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::event::thread_table::ids_of_key;
use tracemill_trace::json::printable;
use tracemill_trace::observe::{InputStart, Observer, SealedChunk, Starter};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::hash::HashSet;
use tracemill_trace::time::bounds::Times;

/// Estimated bytes that a thread and its process take in the report.
const ROW: usize = 600;

/// Collects all results of `info`. Results do not depend on chunk boundaries. Tables beyond the
/// memory limit are spilled to disk and merged at the end.
pub struct InfoAccumulator {
    wanted: InfoConfig,
    /// Set when there are too many events for self times; later chunks then skip slices.
    too_many: Arc<AtomicBool>,
    nameless: u64,
    uncategorised: u64,
    bare_starts: u64,
    reported_losses: Vec<String>,
    limits: Limits,
    counts: Lease,
    events: u64,
    bytes: u64,
    metadata: u64,
    untimed: u64,
    times: Times,
    window: WindowTimes,
    zero: ZeroTime,
    ranks: Ranks,
    timeline: Timeline,
    first: Option<EventAtOffset>,
    last: Option<EventAtOffset>,
    letters: [u64; LETTERS],
    odd_phases: UsageTable,
    /// One row per thread.
    pub threads: UsageTable,
    names: Ledger,
    cats: Ledger,
    args: Ledger,
    slices: SliceRuns,
    titles: MetadataNames,
    profiles: ProfileCounts,
    places: Vec<InputPlace>,
    place: InputPlace,
}

/// Events at time 0. Whether they count as real events is known only at the end.
#[derive(Default)]
struct ZeroTime {
    events: u64,
    end: i64,
    first: Option<EventAtOffset>,
    last: Option<EventAtOffset>,
}

struct EventAtOffset {
    event: RealEvent,
    offset: u64,
}

impl InfoAccumulator {
    /// Creates an accumulator for the requested results.
    pub fn new(wanted: InfoConfig, config: &Config) -> Self {
        let counts =
            config.limits.lease("counts by name, category and key of args", Share::of_index(5, 8));
        let counts = counts.divided(5);
        let ledger = || Ledger::new(counts.clone());
        let slices = config.limits.lease("events that lie in each other", Share::of_index(1, 2));
        InfoAccumulator {
            wanted,
            too_many: Arc::new(AtomicBool::new(!wanted.full && !wanted.self_times)),
            nameless: 0,
            bare_starts: 0,
            reported_losses: Vec::new(),
            uncategorised: 0,
            limits: config.limits.clone(),
            counts: counts.clone(),
            events: 0,
            bytes: 0,
            metadata: 0,
            untimed: 0,
            times: Times::NONE,
            window: WindowTimes::default(),
            zero: ZeroTime::default(),
            ranks: Ranks::default(),
            timeline: Timeline::default(),
            first: None,
            last: None,
            letters: [0; LETTERS],
            odd_phases: UsageTable::default(),
            threads: UsageTable::default(),
            names: ledger(),
            cats: ledger(),
            args: ledger(),
            slices: SliceRuns::new(slices),
            titles: MetadataNames::default(),
            profiles: ProfileCounts::default(),
            places: Vec::new(),
            place: InputPlace::default(),
        }
    }

    pub(super) fn with_places(self, places: Vec<InputPlace>) -> Self {
        InfoAccumulator { places, ..self }
    }

    fn args_room(&self) -> Option<Share> {
        self.wanted.full.then_some(Share::of(1, 4))
    }

    fn append(&mut self, later: InfoLook, events: u64) -> Result<(), Error> {
        if let Some(share) = self.args_room() {
            let room = self.limits.quota("keys of args of a chunk", share);
            room.check(later.args.heap(), "keys of args that stand side by side")?;
        }
        self.note_moments(&later);
        self.events += events;
        self.bytes += later.bytes;
        self.metadata += later.metadata;
        self.untimed += later.untimed;
        self.times = self.times.unite(later.times);
        self.ranks.append(later.ranks);
        self.window.append(later.window);
        self.timeline.append(later.timeline);
        for (letter, more) in self.letters.iter_mut().zip(later.letters) {
            *letter += more;
        }
        self.odd_phases.append(&later.odd_phases);
        self.threads.append(&later.threads);
        self.names.append(&later.names)?;
        self.cats.append(&later.cats)?;
        self.args.append(&later.args)?;
        self.nameless += later.nameless;
        self.bare_starts += later.bare_starts;
        let more = MOST.saturating_sub(self.reported_losses.len());
        self.reported_losses.extend(later.reported_losses.into_iter().take(more));
        self.uncategorised += later.uncategorised;
        if !self.wanted.full && self.bytes > InfoConfig::SELF_TIMES_MAX && self.nests() {
            self.too_many.store(true, Ordering::Relaxed);
            self.slices.clear();
        }
        if self.nests() {
            self.slices.push(later.slices)?;
        }
        let place = &self.place;
        self.titles.append(match place.is_as_written() {
            true => later.titles,
            false => later.titles.with_pids(|pid| place.pid(pid).into()),
        });
        self.profiles.append(later.profiles.placed(place));
        let rows = (self.threads.len() * ROW) as u64;
        let heap = self.threads.heap() + rows + self.titles.heap() + self.profiles.heap();
        self.limits.table_quota().check(heap, THREADS)
    }

    /// Returns whether self times are computed.
    fn nests(&self) -> bool {
        !self.too_many.load(Ordering::Relaxed)
    }

    fn note_moments(&mut self, later: &InfoLook) {
        self.zero.append(later);
        let Some([first, last]) = &later.moments else { return };
        if self.first.as_ref().is_none_or(|known| first.ts < known.event.ts_ns) {
            self.first = Some(found(later, first));
        }
        if self.last.as_ref().is_none_or(|known| last.ts >= known.event.ts_ns) {
            self.last = Some(found(later, last));
        }
    }

    /// Counts the events at time 0 as real events.
    fn count_zero(&mut self) {
        let ZeroTime { events, end, first, last } = std::mem::take(&mut self.zero);
        if events > 0 {
            self.timeline.note_all(events, 0, end);
        }
        let at = |found: &EventAtOffset| (found.event.ts_ns, found.offset);
        self.first = self.first.take().into_iter().chain(first).min_by_key(at);
        self.last = self.last.take().into_iter().chain(last).max_by_key(at);
    }

    /// Returns the report, and the table of threads.
    ///
    /// # Errors
    /// Returns [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file
    /// cannot be read.
    pub fn report(
        mut self,
        inputs: &Inputs,
        documents: &[Document],
    ) -> Result<(InfoReport, UsageTable), Error> {
        let bounds = self.times.bounds();
        let at_zero = self.zero.events;
        if bounds.is_some_and(|bounds| bounds.start <= 0) {
            self.count_zero();
        }
        let top = self.wanted.top;
        let has_self = self.nests();
        let mut self_names = Ledger::new(self.counts.clone());
        let (thread_times, unended) =
            self_times(&self.slices.finish()?, &mut self_names, &self.limits.open_quota())?;
        let of_thread = |thread: u64| {
            let at = thread_times.binary_search_by_key(&thread, |&(hash, _)| hash);
            at.map_or(0, |at| thread_times[at].1)
        };
        let keys_of_args = self.args.finish()?;
        let place = |found: EventAtOffset| {
            let (input, offset) = inputs.locate(found.offset);
            RealEvent { input, offset, ..found.event }
        };
        let report = InfoReport {
            events: self.events,
            event_bytes: self.bytes,
            metadata: self.metadata,
            untimed: self.untimed,
            at_zero,
            start_ns: bounds.map(|bounds| bounds.start),
            end_ns: bounds.map(|bounds| bounds.end),
            window: Some(self.window)
                .filter(|_| envelope::count(documents) == 1)
                .and_then(WindowTimes::kept),
            first: self.first.map(place),
            last: self.last.map(place),
            density: self.timeline.density(),
            gaps: self.timeline.gaps(top),
            least_gap_ns: self.timeline.least_gap(),
            sorted: self.ranks.inversions == 0,
            inversions: self.ranks.inversions,
            phases: phases(&self.letters, &self.odd_phases),
            processes: processes(&self.threads, &self.titles, of_thread),
            names: names(&self.names.finish()?, &self_names.finish()?, top),
            categories: categories(&self.cats.finish()?, top, self.counts.clone())?,
            has_self,
            unended,
            nameless: self.nameless,
            bare_starts: self.bare_starts,
            reported_losses: self.reported_losses,
            uncategorised: self.uncategorised,
            is_lines: documents.iter().any(|document| document.form == Form::Ndjson),
            documents: envelope::count(documents),
            args: self.wanted.full.then(|| args(&keys_of_args, top)),
            profiles: self.profiles.finish(),
            keys: keys(documents),
            warnings: of_inputs(inputs).collect(),
            inputs: inputs.reports.clone(),
            index: None,
            index_unused: None,
        };
        Ok((report, self.threads))
    }
}

impl ZeroTime {
    fn append(&mut self, later: &InfoLook) {
        let AtZero { events, end, moments } = later.at_zero;
        self.events += events;
        self.end = self.end.max(end);
        if let Some([first, last]) = &moments {
            self.first.get_or_insert_with(|| found(later, first));
            self.last = Some(found(later, last));
        }
    }
}

fn found(part: &InfoLook, moment: &CountedEvent) -> EventAtOffset {
    let (pid, tid) = ids_of_key(part.threads.key(moment.thread));
    let phase = match moment.phase.checked_sub(LETTERS) {
        None => char::from(moment.phase as u8).to_string(),
        Some(row) => text_of_key(part.odd_phases.key(row)).unwrap_or_else(|| "none".to_owned()),
    };
    let event = RealEvent {
        ts_ns: moment.ts,
        name: text_of_key(part.names.key(moment.name)),
        phase,
        pid: as_written(pid),
        tid: as_written(tid),
        input: String::new(),
        offset: 0,
    };
    EventAtOffset { event, offset: moment.offset }
}

fn phases(letters: &[u64; LETTERS], odd: &UsageTable) -> Vec<(String, u64)> {
    let mut phases: BTreeMap<String, u64> = BTreeMap::new();
    let letters = (0..LETTERS as u8).map(|letter| char::from(letter).to_string()).zip(*letters);
    let odd = odd.entries().map(|entry| {
        let name = text_of_key(entry.key).unwrap_or_else(|| "none".to_owned());
        (name, entry.usage.events)
    });
    for (phase, events) in letters.chain(odd).filter(|(_, events)| *events > 0) {
        *phases.entry(phase).or_default() += events;
    }
    let mut phases: Vec<(String, u64)> = phases.into_iter().collect();
    phases.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    phases
}

/// Returns the top names, with their self times from `self_times`. Both tables are sorted by hash.
fn names(names: &Totals, self_times: &Totals, top: usize) -> TopList {
    let mut tops = TopEntries::new(top);
    let mut times = self_times.iter().peekable();
    for entry in names.iter() {
        while times.next_if(|time| time.hash < entry.hash).is_some() {}
        let time = times.peek().filter(|time| time.hash == entry.hash);
        let self_ns = time.map_or(0, |time| time.usage.self_ns);
        tops.note(entry.key, &Usage { self_ns, ..entry.usage }, text_of_key);
    }
    tops.finish()
}

/// Splits lists of categories at commas, and returns the top categories.
fn categories(lists: &Totals, top: usize, lease: Lease) -> Result<TopList, Error> {
    let mut single = Ledger::new(lease);
    for entry in lists.iter() {
        let [b'"', list @ .., b'"'] = entry.key else {
            single.add(entry.hash, entry.key, &entry.usage)?;
            continue;
        };
        let mut members: Vec<&[u8]> =
            list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
        members.sort_unstable();
        members.dedup();
        for member in members {
            let key = [b"\"", member, b"\""].concat();
            single.add(hash(&key), &key, &entry.usage)?;
        }
    }
    let mut tops = TopEntries::new(top);
    single.finish()?.iter().for_each(|entry| tops.note(entry.key, &entry.usage, text_of_key));
    Ok(tops.finish())
}

fn args(keys: &Totals, top: usize) -> TopList {
    let mut tops = TopEntries::new(top);
    let text = |path: &[u8]| Some(String::from_utf8_lossy(path).into_owned());
    keys.iter().for_each(|entry| tops.note(entry.key, &entry.usage, text));
    tops.finish()
}

fn keys(documents: &[Document]) -> Vec<String> {
    let mut seen = HashSet::default();
    let keys = documents.iter().flat_map(|document| &document.keys);
    let names = keys.map(|key| printable(&key.key));
    names.filter(|name| seen.insert(name.clone())).collect()
}

impl Observer for InfoAccumulator {
    type Chunk = InfoLook;

    fn begin(&mut self, input: &InputStart<'_>) {
        self.place = self.places.get(input.number).cloned().unwrap_or_default();
    }

    fn starter(&self) -> Starter<InfoLook> {
        let room = self.args_room().map(|share| self.limits.bytes(share));
        let (args, too_many) = (room, Arc::clone(&self.too_many));
        let place = self.place.clone();
        Box::new(move |_| {
            let nesting = !too_many.load(Ordering::Relaxed);
            InfoLook::new(InfoNeeds { args, nesting }, place.clone())
        })
    }

    fn merge(&mut self, found: InfoLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.append(found, chunk.stats.events)
    }
}
