//! What all inputs of a merge have, while they are read: entries in memory or on disk, and what tells who they are.

use super::chunk::ChunkFindings;
use crate::clock::{ClockSamples, ClockWatch};
use crate::config::{ClockRules, Config, THREADS};
use crate::identity::{IdFilter, ProcessFindings, Processes, UnitFacts, watched};
use crate::viewer;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracemill_core::envelope::Document;
use tracemill_core::error::Error;
use tracemill_core::hash::HashMap;
use tracemill_core::limits::Quota;
use tracemill_core::long_events::LongEvents;
use tracemill_core::losses::InputReport;
use tracemill_core::order::{METADATA, UNTIMED};
use tracemill_core::order::{Order, Sorter};
use tracemill_core::read::{Current, KnownMaker, Maker, Reader};
use tracemill_core::shift::Shift;
use tracemill_profile::StreamKey;

/// What decisions need of an input, so that it need not be read.
#[derive(Clone)]
pub(crate) struct KnownInput {
    pub(crate) report: InputReport,
    /// Its one document, with places in the input.
    pub(crate) document: Document,
    pub(crate) processes: Processes,
    /// CPU profile streams, and when each began, as [`tracemill_profile::StreamOrders::begins`] says it.
    pub(crate) streams: Vec<(StreamKey, Option<i64>)>,
    pub(crate) browser: bool,
}

/// The findings of all inputs.
pub(crate) struct Index {
    pub(super) entries: Sorter,
    pub(super) long: LongEvents,
    /// Events and their bytes.
    pub(super) events: u64,
    pub(super) bytes: u64,
    pub(super) documents: Vec<Document>,
    pub(super) watched: Option<Arc<IdFilter>>,
    pub(super) clocks: ClockRules,
    pub(super) clock_watch: Option<Arc<ClockWatch>>,
    /// What the times of the input at hand are multiplied by.
    pub(super) factor: Option<Arc<Shift>>,
    pub(super) units: Vec<UnitFacts>,
    pub(super) quota: Quota,
    /// Bytes of heap of the processes of units that have been read.
    pub(super) processes: u64,
    /// Whether there is the trace of a browser.
    pub(super) browser: bool,
    /// What matters to a viewer, if it is for one.
    pub(super) viewer: Option<viewer::ViewerScan>,
    /// Whether nothing is written: then it need not be known where events stand.
    pub(super) is_plan: bool,
    /// Inputs that need not be read, by their paths.
    pub(super) known: HashMap<PathBuf, KnownInput>,
}

impl Index {
    /// Of `several` inputs, or of one.
    pub(crate) fn new(config: &Config, several: bool) -> Self {
        let viewer = viewer::ViewerScan::new(config);
        // for a viewer some events have an index of their own, and so have those made of them
        let share = if viewer.is_some() { 2 } else { 1 };
        Index {
            entries: Sorter::new(config.shares().index / share, &config.tmp_dir),
            long: LongEvents::new(config),
            events: 0,
            bytes: 0,
            documents: Vec::new(),
            watched: watched(several, &config.identity),
            clocks: config.clocks.clone(),
            clock_watch: config.clocks.watch(several),
            factor: None,
            units: Vec::new(),
            quota: config.table_quota(),
            processes: 0,
            browser: false,
            viewer,
            is_plan: false,
            known: HashMap::default(),
        }
    }

    /// The same where most of the room is taken by others.
    pub(crate) fn beside_others(config: &Config, several: bool) -> Self {
        let entries = Sorter::new(config.shares().index / 4, &config.tmp_dir);
        Index { entries, ..Index::new(config, several) }
    }

    /// The unit at hand is read to its end.
    fn end_unit(&mut self) {
        if let Some(last) = self.units.last_mut() {
            last.processes.finish();
            self.processes += last.processes.heap();
        }
    }
}

impl Reader for Index {
    type Findings = ChunkFindings;

    fn part(base: u64, bytes: usize) -> ChunkFindings {
        ChunkFindings::new(base, bytes)
    }

    fn maker(&self) -> Maker<ChunkFindings> {
        let (watched, factor) = (self.watched.clone(), self.factor.clone());
        let clock_watch = self.clock_watch.clone();
        let viewer = self.viewer.as_ref().map(viewer::ViewerScan::viewer);
        Box::new(move |base, bytes| {
            let mut part = ChunkFindings::new(base, bytes);
            part.factor.clone_from(&factor);
            part.sightings = clock_watch.clone().map(|watch| Box::new(ClockSamples::new(watch)));
            part.processes = watched.clone().map(|watched| Box::new(ProcessFindings::new(watched)));
            part.viewer = viewer.map(|viewer| Box::new(viewer::Scanned::new(viewer, base)));
            part
        })
    }

    fn known_events(&self) -> Option<KnownMaker<ChunkFindings>> {
        let looks = self.watched.is_some()
            || self.clock_watch.is_some()
            || self.factor.is_some()
            || self.viewer.is_some();
        (!looks).then_some(ChunkFindings::of_known)
    }

    fn begin(&mut self, name: &str) {
        self.factor = self.clocks.factor_of(name);
    }

    fn known(&mut self, path: &Path, base: u64) -> Option<InputReport> {
        let KnownInput { report, mut document, processes, streams, browser } =
            self.known.get(path)?.clone();
        document.keys.iter_mut().for_each(|key| key.offset += base);
        self.documents.push(document);
        self.end_unit();
        let processes = self.watched.as_ref().map_or_else(Processes::default, |_| processes);
        self.units.push(UnitFacts {
            base,
            processes,
            known_streams: streams,
            ..UnitFacts::default()
        });
        self.browser |= browser;
        self.events += report.events;
        Some(report)
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    const KEEPS_STREAMS: bool = true;

    const PROVES: bool = true;

    fn take(&mut self, part: ChunkFindings, base: u64, current: Current<'_>) -> Result<(), Error> {
        self.events += part.envelope.stats.events;
        self.bytes += part.bytes;
        self.long.append(&part.envelope.long)?;
        if let (Some(viewer), Some(found)) = (&mut self.viewer, part.viewer) {
            self.events -= viewer.take(*found, base, || current.store(&self.long))?;
        }
        part.envelope.append_to(&mut self.documents);
        if self.units.last().is_none_or(|unit| unit.base != base) {
            self.end_unit();
            self.units.push(UnitFacts { base, ..UnitFacts::default() });
        }
        if let Some(unit) = self.units.last_mut() {
            unit.streams.append(part.streams);
            part.processes.into_iter().for_each(|processes| unit.processes.append(*processes));
            if let Some(sightings) = part.sightings {
                unit.sightings.get_or_insert_default().append(*sightings);
            }
        }
        let current_unit = self.units.last().map_or(0, |unit| unit.processes.heap());
        let shown = self.viewer.as_ref().map_or(0, viewer::ViewerScan::heap);
        self.quota.check(self.processes + current_unit + shown, THREADS)?;
        self.browser |= part.browser;
        if self.is_plan {
            return Ok(());
        }
        let [metadata, untimed] = part.lists;
        self.entries.push(part.timed);
        self.entries.list(METADATA, &metadata)?;
        self.entries.list(UNTIMED, &untimed)?;
        if self.entries.is_full() {
            let store = current.store(&self.long);
            self.entries.spill(Order(&store))?;
        }
        Ok(())
    }
}
