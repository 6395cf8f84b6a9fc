//! Computes the calls of CPU profiles in the background, while the page shows a trace by its index.

use crate::build::{All, arrange};
use crate::model::NameSum;
use crate::tracks::Tracks;
use crate::tracks::lane::Lane;
use crate::tracks::names::SharedNames;
use crate::tracks::notes::Notes;
use std::sync::Arc;
use tracemill_index::drawing::LaneKey;
use tracemill_join::config::Config;
use tracemill_trace::{Error, Source};

pub(crate) struct Calls {
    pub(crate) lanes: Vec<(LaneKey, Lane)>,
    pub(crate) tracks: Arc<Tracks>,
    /// Sums of the intervals of each name, by the number of the name.
    pub(crate) sums: Arc<Vec<NameSum>>,
    pub(crate) bounds: Option<(i64, i64)>,
}

impl Calls {
    /// Computes the calls of all threads. Cost: a pass over the trace, and sorting.
    pub(crate) fn read(
        source: &Source,
        names: SharedNames,
        notes: &Notes,
        config: &Config,
    ) -> Result<Self, Error> {
        let mut all = All::new(names, Arc::default(), config);
        all.calls(std::slice::from_ref(source), &config.as_merged())?;
        let keys = all.lanes.all().to_vec();
        let bounds = all.facts.bounds;
        let arranged = arrange(all, |_| Ok(()), Vec::new(), notes, config)?;
        let lanes = keys.into_iter().zip(arranged.lanes).collect();
        Ok(Calls { lanes, tracks: Arc::new(arranged.tracks), sums: arranged.sums, bounds })
    }
}
