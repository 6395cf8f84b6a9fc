//! Scans inputs once for both an analysis and a merge.
//!
//! ```text
//!   scan workers ─ event ─┬─> caller's observer ─> InputSet ─> synthetic events ────┐
//!                         └─> entries ─> MergeIndex ─ with_inputs ─> PendingMerge ──┴─ merge
//! ```

use crate::merge::{MergeObservers, ScannedInputs, observe_beside_analysis, write};
use std::path::Path;
use std::sync::Arc;
use tracemill_cpuprofile::ProfileReader;
use tracemill_join::config::Config;
use tracemill_join::input_set::{CpuprofileInputs, InputSet, observers};
use tracemill_join::inputs::reader_options;
use tracemill_join::report::MergeReport;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{EventIndex, Observer, Scan, Scanned, Sorted};
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::read::{Expand, Expanded};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::store::Payload;

/// The merge's findings in inputs that an analysis owns.
pub struct MergeIndex {
    index: EventIndex<Sorted>,
    observed: MergeObservers,
    profiles: ProfileReader,
    limits: Limits,
    config: Config,
}

/// A merge whose inputs were read, and which waits for synthetic events.
pub struct PendingMerge {
    scanned: Scanned<Sorted, MergeObservers>,
    profiles: ProfileReader,
    limits: Limits,
    config: Config,
}

/// Reads every source once, like [`InputSet::read`], and collects the entries for a merge.
///
/// The observer does not see events that the merge drops because they are not JSON. Takes 16 bytes
/// of memory per event more than [`InputSet::read`], which spill to disk.
///
/// # Errors
/// Returns the errors of [`crate::merge()`] and of the observer.
pub fn scan_to_merge<O: Observer>(
    sources: &[Source],
    config: &Config,
    observer: O,
) -> Result<(InputSet, MergeIndex), Error> {
    config.limits.check()?;
    let (limits, profiles) = reader_options(config);
    let mut expand = Both { profiles, wholes: CpuprofileInputs::new(config) };
    let (keep, merge) = observe_beside_analysis(config);
    let both = (merge, observers(sources, config, observer));
    let scan = Scan::new(sources, &limits, &mut expand).keep(keep).observe(both);
    let Scanned { inputs, mut index, observed: (observed, of_set) } = scan.run_first()?;
    let documents = std::mem::take(&mut index.documents);
    let set = InputSet::new(inputs, documents, of_set, expand.wholes, config)?;
    let (profiles, config) = (expand.profiles, config.clone());
    Ok((set, MergeIndex { index, observed, profiles, limits, config }))
}

impl MergeIndex {
    /// Takes the inputs from the analysis when it is finished with them.
    pub fn with_inputs(self, set: InputSet) -> PendingMerge {
        let MergeIndex { mut index, observed, profiles, limits, config } = self;
        let (inputs, documents) = set.into_inputs();
        index.documents = documents;
        PendingMerge { scanned: Scanned { inputs, index, observed }, profiles, limits, config }
    }
}

impl PendingMerge {
    /// Merges the inputs and `synthetic` sources like [`crate::merge()`]. Reports of the inputs
    /// come first.
    ///
    /// # Errors
    /// Returns the same errors as [`crate::merge()`].
    pub fn merge(self, synthetic: &[Source], output: &OutputConfig) -> Result<MergeReport, Error> {
        let PendingMerge { scanned, mut profiles, limits, config } = self;
        let Scanned { inputs, index, observed } =
            scanned.read_more(synthetic, &limits, &mut profiles)?;
        let scanned = ScannedInputs::new(index, Sorted::into_entries, observed);
        write(scanned, inputs, output, &config)
    }
}

/// Converts `.cpuprofile` inputs to events for the merge, and keeps the profiles for the analysis.
struct Both {
    profiles: ProfileReader,
    wholes: CpuprofileInputs,
}

impl Expand for Both {
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
        self.wholes.expand(path, payload, document);
        self.profiles.expand(path, payload, document)
    }

    /// Returns `None`; the merge asks for its last input after the synthetic sources.
    fn last(&mut self, _first: Option<i64>) -> Option<(&'static str, Vec<u8>)> {
        None
    }
}
