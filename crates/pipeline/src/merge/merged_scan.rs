//! One scan for an analysis and a merge: each byte is looked at once, proved once, and a pipe is kept
//! once.
//!
//! ```text
//!   scan workers ─ event ─┬─> your observer ─> InputSet ─> events that you make, as sources ─┐
//!                         └─> entries ───────> MergeIndex ─ with_inputs ─> PendingMerge ─────┴─ merge ─> output
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

/// What a merge has found in inputs that an analysis holds.
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

/// Reads every source to its end, once, as [`InputSet::read`] does, and for a merge too.
///
/// The observer does not see events that the merge loses because they are not JSON. Heap: 16 bytes per
/// event beside that of [`InputSet::read`]; beyond a 16th of the budget sorted runs on disk.
///
/// # Errors
/// As [`crate::merge()`], and those of the observer.
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
    /// Takes over the inputs from the analysis, which needs them no longer.
    pub fn with_inputs(self, set: InputSet) -> PendingMerge {
        let MergeIndex { mut index, observed, profiles, limits, config } = self;
        let (inputs, documents) = set.into_inputs();
        index.documents = documents;
        PendingMerge { scanned: Scanned { inputs, index, observed }, profiles, limits, config }
    }
}

impl PendingMerge {
    /// Merges the inputs and `synthetic` sources as [`crate::merge()`] would merge all of them. The
    /// reports of the inputs come first.
    ///
    /// # Errors
    /// As [`crate::merge()`].
    pub fn merge(self, synthetic: &[Source], output: &OutputConfig) -> Result<MergeReport, Error> {
        let PendingMerge { scanned, mut profiles, limits, config } = self;
        let Scanned { inputs, index, observed } =
            scanned.read_more(synthetic, &limits, &mut profiles)?;
        let scanned = ScannedInputs::new(index, Sorted::into_entries, observed);
        write(scanned, inputs, output, &config)
    }
}

/// Makes events from `.cpuprofile` inputs for the merge, and keeps the profiles for the analysis. Both
/// recognise them by the same rules.
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

    /// Returns nothing: the merge asks for its last input after the synthetic sources.
    fn last(&mut self, _first: Option<i64>) -> Option<(&'static str, Vec<u8>)> {
        None
    }
}
