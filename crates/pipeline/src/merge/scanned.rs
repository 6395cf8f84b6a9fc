//! The first step of a merge: every byte of the inputs is looked at once.

use super::browser_watch::BrowserWatch;
use crate::for_viewer::ViewerScan;
use crate::repeated::RepeatWatch;
use std::sync::Arc;
use tracemill_join::config::Config;
use tracemill_join::identity::{UnitFacts, may_be_several};
use tracemill_join::inputs::input_watch::{InputWatch, facts_of, input_watch};
use tracemill_join::inputs::scan;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{EventIndex, Factors, Scanned, Sorted};
use tracemill_trace::order::Sorter;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::store::long_events::LongEvents;
use tracemill_write::trace_writer::EventCount;

/// Creates the index and the observers of a merge whose scan an analysis observes too.
pub(crate) fn observe_beside_analysis(config: &Config) -> (Sorted, MergeObservers) {
    (keep(config, Others::Analysis), observers(config, true, true))
}

/// The observers of a merge.
pub(crate) type MergeObservers = (InputWatch, Option<ViewerScan>, BrowserWatch, RepeatWatch);

/// Creates the observers of a merge of `several` inputs, or of one. Without `viewer` the inputs are
/// read as for no viewer.
pub(super) fn observers(config: &Config, several: bool, viewer: bool) -> MergeObservers {
    let quota = Arc::new(config.limits.table_quota());
    let viewer = viewer.then(|| ViewerScan::new(config, &quota)).flatten();
    let repeated = RepeatWatch::new(&config.limits);
    (input_watch(config, several, &quota), viewer, BrowserWatch::default(), repeated)
}

/// Creates the index of a merge; a part of its memory goes to `others`.
pub(super) fn keep(config: &Config, others: Others) -> Sorted {
    let part = match others {
        Others::None if config.viewer.viewer.is_none() => 1,
        // some events have an index of the viewer's, and so have synthetic events
        Others::None => 2,
        Others::Analysis => 4,
    };
    Sorted::new(config.limits.lease("entries of a merge", Share::of_index(1, part)))
        .scaled(factors(config))
}

/// Who shares the memory of the index with a merge.
pub(super) enum Others {
    None,
    /// An analysis that observes the same scan.
    Analysis,
}

/// Returns what multiplies the times of inputs.
pub(super) fn factors(config: &Config) -> Factors {
    let clocks = config.clocks.clone();
    Box::new(move |name| clocks.factor_of(name))
}

/// What a scan found in the inputs of a merge: entries of events, documents, and facts by which inputs are joined.
///
/// Costs 16 bytes an event, and beyond a quarter of the budget none, for sorted runs on disk.
pub(crate) struct ScannedInputs {
    pub(super) entries: Sorter,
    pub(super) long_events: LongEvents,
    /// Number of events, and their bytes.
    pub(super) count: EventCount,
    pub(super) documents: Vec<Document>,
    pub(super) facts: Vec<UnitFacts>,
    /// Whether any input is the trace of a browser.
    pub(super) browser: bool,
    /// Events that are marked as repeated.
    pub(super) repeated: RepeatWatch,
    /// What the viewer needs, if the merge is for one.
    pub(super) viewer: Option<ViewerScan>,
    /// The interval, in nanoseconds, on which DevTools opens the output, if that is not all of it.
    pub(super) window: Option<(i64, i64)>,
}

impl ScannedInputs {
    /// Reads all sources to their ends.
    ///
    /// # Errors
    /// Returns an error if a source cannot be read, or what must stay in memory exceeds it.
    pub(super) fn read(sources: &[Source], config: &Config) -> Result<(Inputs, Self), Error> {
        let observers = observers(config, may_be_several(sources), true);
        let Scanned { inputs, index, observed } =
            scan(sources, config, keep(config, Others::None), observers)?;
        Ok((inputs, ScannedInputs::new(index, Sorted::into_entries, observed)))
    }

    /// The same, for an output that DevTools opens on a window.
    pub(super) fn opened_on(self, window: Option<(i64, i64)>) -> Self {
        ScannedInputs { window, ..self }
    }

    /// Takes apart what a scan leaves behind; `entries` are those of its index.
    pub(crate) fn new<K>(
        index: EventIndex<K>,
        entries: impl FnOnce(K) -> Sorter,
        observed: MergeObservers,
    ) -> Self {
        let (inputs, viewer, browser, repeated) = observed;
        let EventIndex { kept, long_events, documents, events, bytes, .. } = index;
        let (entries, facts, browser) = (entries(kept), facts_of(inputs), browser.found);
        ScannedInputs {
            entries,
            long_events,
            count: EventCount { events, bytes },
            documents,
            facts,
            browser,
            repeated,
            viewer,
            window: None,
        }
    }
}
