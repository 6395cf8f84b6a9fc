//! What all inputs of a merge have, while they are read: entries in memory or on disk, and what tells who they are.

use super::runs::Runs;
use crate::clock::{ClockWatch, Shift, Sightings};
use crate::config::{ClockRules, Config, Source};
use crate::error::Error;
use crate::identity::{Census, UnitParts, Watched, watched};
use crate::index::{METADATA, Part, UNTIMED};
use crate::order::{Entry, Lists, Order, Spill};
use crate::outline::Document;
use crate::read::{Current, Maker, Reader};
use crate::store::{Long, Place, Store};
use crate::viewer;
use std::path::PathBuf;
use std::sync::Arc;

/// The findings of all inputs.
pub(super) struct Index {
    pub(super) tmp_dir: PathBuf,
    /// Bytes of entries that may be in memory.
    pub(super) limit: u64,
    pub(super) timed: Vec<Vec<Entry>>,
    pub(super) lists: [Vec<Vec<Place>>; 2],
    pub(super) heap: u64,
    pub(super) long: Vec<Long>,
    /// Events and their bytes.
    pub(super) events: u64,
    pub(super) bytes: u64,
    pub(super) documents: Vec<Document>,
    pub(super) watched: Option<Arc<Watched>>,
    pub(super) clocks: ClockRules,
    pub(super) clock_watch: Option<Arc<ClockWatch>>,
    /// What the times of the input at hand are multiplied by.
    pub(super) factor: Option<Arc<Shift>>,
    pub(super) units: Vec<UnitParts>,
    /// Whether there is the trace of a browser.
    pub(super) browser: bool,
    pub(super) spill: Option<Spill>,
    /// What matters to a viewer, if it is for one.
    pub(super) viewer: Option<viewer::Found>,
}

impl Index {
    pub(super) fn new(config: &Config, sources: &[Source]) -> Self {
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

    /// Ends the index: what is in memory stays there, unless some of it went to disk already.
    pub(super) fn end_reading(&mut self, store: &Store<'_>) -> Result<(Runs, Lists), Error> {
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

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    const KEEPS_STREAMS: bool = true;

    fn take(&mut self, part: Part, base: u64, current: Current<'_>) -> Result<(), Error> {
        self.heap += part.heap() as u64;
        self.events += part.outline.facts.events;
        self.bytes += part.bytes;
        self.long.extend(part.long);
        if let (Some(viewer), Some(found)) = (&mut self.viewer, part.viewer) {
            self.events -= viewer.take(*found, base, || current.store(self.long.clone()))?;
        }
        part.outline.append_to(&mut self.documents);
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
