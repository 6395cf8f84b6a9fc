//! Observer of a scan that joins the index data of all chunks.

use super::drawn::{AllDrawn, DrawnTables, PartDrawn, PartNumbers};
use super::granules::{AllGranules, Granules};
use super::lasting::LastingEvents;
use super::look::{IndexLook, ListedEvent};
use super::span::NO_THREAD;
use super::spans::{AllSpans, Spans};
use super::streams::{AllStreams, StreamTable};
use crate::drawing::Seen;
use crate::format::bins::NO_NAME;
use crate::packed::{FileToIndex, RATIO};
use crate::sound::TOP;
use std::sync::Arc;
use tracemill_inspect::info::{InfoAccumulator, InfoConfig, InfoReport, UsageTable};
use tracemill_join::config::Config;
use tracemill_join::inputs::scan;
use tracemill_tokenizer::Tier;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::input::packed::{Restart, members};
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{
    Elsewhere, EventIndex, Needs, Observer, Scanned, SealedChunk, Starter,
};
use tracemill_trace::order::Order;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::run::threads::both;
use tracemill_trace::spill::{SpillVec, SpilledVec};
use tracemill_trace::time::bounds::{Bounds, Times, widen};

/// Everything that an index of one input contains.
pub(super) struct Built {
    pub(super) report: InfoReport,
    pub(super) granules: Granules,
    pub(super) threads: UsageTable,
    pub(super) documents: Vec<Document>,
    pub(super) places: SpilledVec<ListedEvent>,
    /// Long slices; `None` for packed inputs that can only be unpacked as a whole.
    pub(super) spans: Option<Spans>,
    /// CPU profile streams; `None` under the same condition as `spans`.
    pub(super) streams: Option<StreamTable>,
    /// View summary; `None` under the same condition as `spans`.
    pub(super) drawn: Option<DrawnTables>,
    pub(super) bounds: Option<Bounds>,
    /// Least and greatest `ts` of all events.
    pub(super) times: Option<(i64, i64)>,
    pub(super) has_profiles: bool,
    pub(super) has_lapses: bool,
    /// Offsets where unpacking can begin: at least two, or none.
    pub(super) restarts: Vec<Restart>,
}

struct Build {
    info: InfoAccumulator,
    granules: AllGranules,
    places: SpillVec<ListedEvent>,
    spans: AllSpans,
    streams: AllStreams,
    drawn: Option<AllDrawn>,
    /// Receiver of the progress of reading, if requested.
    seen: Option<Arc<Seen>>,
    bounds: Times,
    times: Option<(i64, i64)>,
    tier: Tier,
    has_parts: bool,
    restarts: Vec<Restart>,
    has_profiles: bool,
    has_lapses: bool,
}

/// Reads an input and returns the contents of its index. Reports progress to `seen`.
///
/// Cost: as `info`, plus a checksum and a JSON check of each event, and sorting 50 bytes per pair
/// event. Each list spills beyond 1/16 of the index share. Unpacked text is kept like the text of a
/// pipe.
pub(super) fn build(
    source: &Source,
    file_bytes: u64,
    seen: Option<&Arc<Seen>>,
    config: &Config,
) -> Result<Built, Error> {
    let packing = packing(source);
    let packed_text = file_bytes.saturating_mul(RATIO);
    let (text, restarts, has_parts) = match &packing {
        FileToIndex::Plain => (file_bytes, &[][..], true),
        FileToIndex::Frames(restarts, text) => (*text, &restarts[..], restarts.len() > 1),
        FileToIndex::Whole => (packed_text, &[][..], false),
        FileToIndex::Members(_) => (packed_text, &[][..], true),
    };
    let mut build = Build::new(text, restarts, has_parts, config);
    seen.iter().for_each(|seen| seen.clear());
    build.seen = seen.cloned();
    let sources = std::slice::from_ref(source);
    let FileToIndex::Members(file) = packing else {
        let Scanned { inputs, index, .. } = scan(sources, config, Elsewhere, &mut build)?;
        inputs.check_unchanged()?;
        return build.finish(&inputs, index, config.limits.threads);
    };
    // another thread finds the members during the scan
    let read = || scan(sources, config, Elsewhere, build);
    let (scanned, restarts) = both(2, read, || members(&file));
    let Scanned { inputs, index, observed: mut build } = scanned?;
    build.restarts = restarts.filter(|all| all.len() > 1).unwrap_or_default();
    build.has_parts = !build.restarts.is_empty();
    inputs.check_unchanged()?;
    build.finish(&inputs, index, config.limits.threads)
}

impl Build {
    /// Creates an observer for about `text` bytes. `has_parts`: whether parts of the text can be
    /// read individually.
    fn new(text: u64, restarts: &[Restart], has_parts: bool, config: &Config) -> Self {
        let lease = config.limits.lease("lists of the index", Share::of_index(7, 16)).divided(7);
        let granules = SpillVec::new(lease.clone());
        let drawn = has_parts.then(|| AllDrawn::new(text, granules, config.limits.table_quota()));
        let wanted = InfoConfig { top: TOP, full: false, self_times: true };
        Build {
            info: InfoAccumulator::new(wanted, config),
            granules: AllGranules::new(SpillVec::new(lease.clone())),
            places: SpillVec::new(lease.clone()),
            spans: AllSpans::new(text, &lease, config.limits.threads, config.limits.open_quota()),
            streams: AllStreams::new(SpillVec::new(lease.clone())),
            drawn,
            seen: None,
            bounds: Times::NONE,
            times: None,
            tier: config.limits.tier.unwrap_or_else(Tier::best),
            has_parts,
            restarts: if has_parts { restarts.to_vec() } else { Vec::new() },
            has_profiles: false,
            has_lapses: false,
        }
    }

    /// Pairs slices and finishes the counts on two threads; returns the contents of the index.
    fn finish(
        self,
        inputs: &Inputs,
        EventIndex { documents, long_events, .. }: EventIndex<Elsewhere>,
        threads: usize,
    ) -> Result<Built, Error> {
        let text = inputs.reports.iter().map(|input| input.bytes).sum();
        let Build { has_parts, spans, streams, info, mut drawn, mut places, .. } = self;
        let pair = || {
            let store = inputs.store().with_long(&long_events);
            has_parts.then(|| spans.finish(Order(&store), drawn.as_mut())).transpose()
        };
        let count = || {
            let report = info.report(inputs, &documents)?;
            let streams = has_parts.then(|| streams.finish()).transpose()?;
            Ok::<_, Error>((report, streams))
        };
        let (spans, counted) = both(threads, pair, count);
        let (spans, ((report, threads), streams)) = (spans?, counted?);
        Ok(Built {
            report,
            granules: self.granules.finish(text)?,
            threads,
            documents,
            places: places.take()?,
            spans,
            streams,
            drawn: drawn.filter(|_| has_parts).map(AllDrawn::finish).transpose()?,
            bounds: self.bounds.bounds(),
            times: self.times,
            has_profiles: self.has_profiles,
            has_lapses: self.has_lapses,
            restarts: self.restarts,
        })
    }

    fn rows_of(&mut self, part: &IndexLook) -> Vec<u32> {
        let mut row = |key| u32::try_from(self.info.threads.row(key)).unwrap_or(NO_THREAD);
        part.info.threads.entries().map(|thread| row(thread.key)).collect()
    }

    /// Appends the slices of a chunk; `rows` are the numbers of the chunk's threads.
    fn append_lasting(
        &mut self,
        lasting: &mut LastingEvents,
        rows: &[u32],
        numbers: Option<&PartNumbers>,
        chunk: &SealedChunk<'_>,
    ) -> Result<(), Error> {
        self.bounds = self.bounds.unite(lasting.times);
        self.has_profiles |= lasting.has_profiles;
        self.has_lapses |= lasting.has_lapses;
        if !self.has_parts {
            return Ok(());
        }
        let row = |thread: u32| rows.get(thread as usize).copied().unwrap_or(NO_THREAD);
        let drawn = |track: u32, name: u32| {
            numbers.map_or((0, NO_NAME), |all| (all.track(track), all.name(name)))
        };
        for span in &mut lasting.complete {
            span.thread = row(span.thread);
            span.name = drawn(0, span.name).1;
        }
        for part in &mut lasting.parts {
            part.thread = row(part.thread);
            (part.track, part.name) = drawn(part.track, part.name);
        }
        self.spans.extend(&lasting.complete)?;
        self.spans.extend_parts(&lasting.parts);
        if self.spans.is_full() {
            self.spans.spill(Order(&chunk.store()))?;
        }
        Ok(())
    }
}

impl Observer for Build {
    type Chunk = IndexLook;

    fn needs(&self) -> Needs {
        Needs { input_bytes: self.has_parts, ..Needs::NONE }
    }

    fn starter(&self) -> Starter<IndexLook> {
        let start = self.info.starter();
        let (tier, floor) = (self.tier, self.spans.floor());
        let bins = self.drawn.as_ref().map(AllDrawn::floor);
        Box::new(move |chunk| {
            let lasting = LastingEvents::new(tier, Arc::clone(&floor));
            let drawn = bins.as_ref().map(|floor| PartDrawn::new(floor));
            IndexLook::new(start(chunk), lasting, drawn)
        })
    }

    fn merge(&mut self, mut part: IndexLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.granules.append(std::mem::take(&mut part.granules))?;
        self.places.extend(&part.places)?;
        if let Some((least, greatest)) = part.times {
            widen(&mut self.times, least, greatest);
        }
        let rows = self.rows_of(&part);
        self.streams.append(std::mem::take(&mut part.streams))?;
        if let (Some(seen), Some(part_drawn)) = (&self.seen, &part.drawn) {
            part_drawn.show(&part.info.threads, &part.lasting, seen);
        }
        let numbers = match (&mut self.drawn, part.drawn.take()) {
            (Some(drawn), Some(part_drawn)) => {
                Some(drawn.append(part_drawn, &rows, &part.info.names)?)
            }
            _ => None,
        };
        self.append_lasting(&mut part.lasting, &rows, numbers.as_ref(), chunk)?;
        self.info.merge(part.info, chunk)
    }
}

fn packing(source: &Source) -> FileToIndex {
    let Some(path) = source.file() else { return FileToIndex::Plain };
    // the scan reports read errors
    crate::fresh::map(path).ok().flatten().map_or(FileToIndex::Plain, FileToIndex::of)
}
