//! One scan for two: a merge, and who makes of its inputs what the merge adds.
//!
//! ```text
//!   scan workers ─ each event ─┬─> Findings (yours) ─> take ─> Scanned ─> what you make, as sources ─┐
//!                              └─> entries of the merge ────────────────────────────> Merging ───────┴─> output
//! ```
//!
//! So each byte of an input is looked at once, proved once, and a pipe is kept once.

use crate::config::Config;
use crate::findings::{CpuprofileInputs, Door, Findings, Looked, Scanned, Stretch};
use crate::inputs::told;
use crate::merge::{ChunkFindings, Index};
use crate::report::MergeReport;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracemill_core::envelope::{Document, Envelope};
use tracemill_core::error::Error;
use tracemill_core::limits::Limits;
use tracemill_core::read::{Current, Expand, Expanded, Inputs, Maker, Reader, read_first, read_on};
use tracemill_core::scan::Collect;
use tracemill_core::source::Source;
use tracemill_core::store::Payload;
use tracemill_core::target::OutputConfig;
use tracemill_profile::ProfileReader;
use tracemill_tokenizer::Event;

/// What was found in the inputs, and the merge of them.
pub struct ScannedToMerge {
    scanned: Scanned,
    index: Index,
    profiles: ProfileReader,
    limits: Limits,
    config: Config,
}

/// A merge whose inputs were read, and that waits for what is made of them.
pub struct Merging {
    index: Index,
    inputs: Inputs,
    profiles: ProfileReader,
    limits: Limits,
    config: Config,
}

/// Reads every source to its end, once, as [`crate::scan_inputs`] does, and for a merge too.
///
/// Events that a merge leaves out, since they are no JSON, are not shown. Heap: beside what [`crate::scan_inputs`] takes 16 bytes an event,
/// and beyond a 16th of the budget none, for sorted runs on disk.
///
/// # Errors
/// As [`crate::merge()`], and what `take` says.
pub fn scan_to_merge<F: Findings>(
    sources: &[Source],
    config: &Config,
    new: impl Fn() -> F + Send + Sync + 'static,
    take: impl FnMut(F, Stretch) -> Result<(), Error>,
) -> Result<ScannedToMerge, Error> {
    config.check()?;
    let (limits, profiles) = told(config);
    let are_made = Arc::new(AtomicBool::new(false));
    let wholes = CpuprofileInputs::new(config);
    let mut expand = Expanding { profiles, wholes, are_made: Arc::clone(&are_made) };
    let index = Index::beside_others(config, true);
    let mut reader = Both { index, door: Door::new(sources, config, new, take), are_made };
    let inputs = read_first(sources, &limits, &mut expand, &mut reader)?;
    let Both { mut index, door, .. } = reader;
    let documents = std::mem::take(index.documents());
    let scanned = door.finish((inputs, documents), expand.wholes, config)?;
    let (profiles, config) = (expand.profiles, config.clone());
    Ok(ScannedToMerge { scanned, index, profiles, limits, config })
}

impl ScannedToMerge {
    /// What was found.
    pub fn scanned(&self) -> &Scanned {
        &self.scanned
    }

    /// Leaves what the merge needs.
    pub fn into_merging(self) -> Merging {
        let ScannedToMerge { scanned, mut index, profiles, limits, config } = self;
        let (inputs, documents) = scanned.into_inputs();
        *index.documents() = documents;
        Merging { index, inputs, profiles, limits, config }
    }
}

impl Merging {
    /// Merges the inputs and what was `made` of them, as [`crate::merge()`] would merge all of these sources. The reports of the inputs come first.
    ///
    /// # Errors
    /// As [`crate::merge()`].
    pub fn merge(self, made: &[Source], output: &OutputConfig) -> Result<MergeReport, Error> {
        let Merging { mut index, inputs, mut profiles, limits, config } = self;
        let inputs = read_on(inputs, made, &limits, &mut profiles, &mut index)?;
        index.write(inputs, output, &config)
    }
}

/// The findings of a stretch.
struct BothFindings<F> {
    base: u64,
    merge: ChunkFindings,
    /// `None` for events that were made of profiles.
    looked: Option<Looked<F>>,
}

impl<F: Findings> Collect for BothFindings<F> {
    fn envelope(&mut self) -> &mut Envelope {
        self.merge.envelope()
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        let number = self.envelope().stats.events;
        self.merge.event(event);
        if let Some(looked) = &mut self.looked {
            looked.event(event, number, self.base + event.offset);
        }
    }

    fn seal(&mut self) {
        self.merge.seal();
        self.looked.iter_mut().for_each(Looked::seal);
    }
}

struct Both<F, T> {
    index: Index,
    door: Door<F, T>,
    /// Whether events are read that were made of profiles.
    are_made: Arc<AtomicBool>,
}

impl<F: Findings, T: FnMut(F, Stretch) -> Result<(), Error>> Reader for Both<F, T> {
    type Findings = BothFindings<F>;

    fn part(base: u64, bytes: usize) -> BothFindings<F> {
        BothFindings { base, merge: Index::part(base, bytes), looked: None }
    }

    fn maker(&self) -> Maker<BothFindings<F>> {
        let (merge, looks) = (self.index.maker(), self.door.looks());
        let are_read = !self.are_made.load(Ordering::Relaxed);
        Box::new(move |base, bytes| BothFindings {
            base,
            merge: merge(base, bytes),
            looked: are_read.then(&looks),
        })
    }

    fn begin(&mut self, name: &str) {
        self.are_made.store(false, Ordering::Relaxed);
        self.index.begin(name);
        self.door.begin_input();
    }

    fn take(
        &mut self,
        part: BothFindings<F>,
        base: u64,
        current: Current<'_>,
    ) -> Result<(), Error> {
        let BothFindings { mut merge, looked, .. } = part;
        let events = merge.envelope().stats.events;
        self.index.take(merge, base, current)?;
        looked.map_or(Ok(()), |looked| self.door.take_looked(looked, events, base))
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        self.index.documents()
    }

    const KEEPS_STREAMS: bool = true;

    const PROVES: bool = true;
}

/// Makes events of profiles for the merge, and keeps these for who looks at them as they are.
struct Expanding {
    profiles: ProfileReader,
    wholes: CpuprofileInputs,
    are_made: Arc<AtomicBool>,
}

impl Expand for Expanding {
    fn begin(&mut self, paths: &mut dyn Iterator<Item = &Path>) {
        let paths: Vec<&Path> = paths.collect();
        self.profiles.begin(&mut paths.iter().copied());
        self.wholes.begin(&mut paths.into_iter());
    }

    fn may_take(&self, first: &[u8]) -> bool {
        self.profiles.may_take(first)
    }

    fn takes(&self, document: &Document) -> bool {
        self.profiles.takes(document)
    }

    fn expand(&mut self, path: &Path, payload: &Arc<Payload>, document: &Document) -> Expanded {
        self.are_made.store(true, Ordering::Relaxed);
        // both tell it from the others by the same rules
        self.wholes.expand(path, payload, document);
        self.profiles.expand(path, payload, document)
    }

    fn last(&mut self, _first: Option<i64>) -> Option<(&'static str, Vec<u8>)> {
        // the merge asks for it behind all that is made
        None
    }
}
