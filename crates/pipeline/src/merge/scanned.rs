//! First step of a merge: scans the inputs.

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

/// Creates the index and the observers of a merge that shares its scan with an analysis.
pub(crate) fn observe_beside_analysis(config: &Config) -> (Sorted, MergeObservers) {
    (keep(config, Others::Analysis), observers(config, true, true))
}

pub(crate) type MergeObservers = (InputWatch, Option<ViewerScan>, BrowserWatch, RepeatWatch);

/// Creates the observers of a merge. `several`: whether there are several inputs. `viewer`: whether
/// to observe facts for the viewer.
pub(super) fn observers(config: &Config, several: bool, viewer: bool) -> MergeObservers {
    let quota = Arc::new(config.limits.table_quota());
    let viewer = viewer.then(|| ViewerScan::new(config, &quota)).flatten();
    let repeated = RepeatWatch::new(&config.limits);
    let offsets =
        several.then(|| config.limits.lease("offsets of pids and ids", Share::of_index(1, 16)));
    (input_watch(config, several, &quota, offsets), viewer, BrowserWatch::default(), repeated)
}

/// Creates the index of a merge, which shares its memory with `others`.
pub(super) fn keep(config: &Config, others: Others) -> Sorted {
    let part = match others {
        Others::None if config.viewer.viewer.is_none() => 1,
        // the viewer's events and synthetic events have indexes of their own
        Others::None => 2,
        Others::Analysis => 4,
    };
    Sorted::new(config.limits.lease("entries of a merge", Share::of_index(1, part)))
        .scaled(factors(config))
}

/// The users of memory in addition to the index.
pub(super) enum Others {
    None,
    /// An analysis that observes the same scan.
    Analysis,
}

/// Returns the factors by which the times of inputs are multiplied.
pub(super) fn factors(config: &Config) -> Factors {
    let clocks = config.clocks.clone();
    Box::new(move |name| clocks.factor_of(name))
}

/// The results of scanning the inputs of a merge: entries of events, documents, and facts for
/// joining inputs.
///
/// Takes 16 bytes per event, which spill to disk.
pub(crate) struct ScannedInputs {
    pub(super) entries: Sorter,
    pub(super) long_events: LongEvents,
    pub(super) count: EventCount,
    pub(super) documents: Vec<Document>,
    pub(super) facts: Vec<UnitFacts>,
    pub(super) browser: bool,
    pub(super) repeated: RepeatWatch,
    /// Facts about the trace that a viewer needs, if the merge is for a viewer.
    pub(super) viewer: Option<ViewerScan>,
    /// The time range in nanoseconds that DevTools shows when it opens the output; `None` for the
    /// whole trace.
    pub(super) window: Option<(i64, i64)>,
}

impl ScannedInputs {
    /// Scans all sources.
    ///
    /// # Errors
    /// Returns an error if a source cannot be read or the memory limit is exceeded.
    pub(super) fn read(sources: &[Source], config: &Config) -> Result<(Inputs, Self), Error> {
        let observers = observers(config, may_be_several(sources), true);
        let Scanned { inputs, index, observed } =
            scan(sources, config, keep(config, Others::None), observers)?;
        Ok((inputs, ScannedInputs::new(index, Sorted::into_entries, observed)))
    }

    pub(super) fn opened_on(self, window: Option<(i64, i64)>) -> Self {
        ScannedInputs { window, ..self }
    }

    /// Unpacks the results of a scan; `entries` converts its index.
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
