//! The observers of every command with several inputs: clocks, processes and CPU profile streams.

use crate::clock::{ClockWatch, Clocks};
use crate::config::{ClockRules, Config};
use crate::identity::{IdentityWatch, UnitFacts};
use crate::inputs::stream_watch::StreamWatch;
use crate::report::warning::Warning;
use std::sync::Arc;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::Lease;
use tracemill_trace::store::Store;

/// Observes the facts that are needed to join inputs. All commands decide by these facts, with
/// [`decide_names`](crate::identity::decide_names) and [`Clocks`].
pub type InputWatch = (Option<ClockWatch>, Option<IdentityWatch>, StreamWatch);

/// Creates the observers. `several` tells whether there are several inputs; `offsets` is for the
/// offsets of pids and ids, if events are renamed.
pub fn input_watch(
    config: &Config,
    several: bool,
    quota: &Arc<Quota>,
    offsets: Option<Lease>,
) -> InputWatch {
    let clocks = ClockWatch::new(&config.clocks, several);
    let identities = IdentityWatch::new(config, several, quota, offsets);
    (clocks, identities, StreamWatch::default())
}

/// Returns the facts about each input that has chunks.
pub fn facts_of(watch: InputWatch) -> Vec<UnitFacts> {
    let (clocks, identities, streams) = watch;
    let mut clocks = clocks.into_iter().flat_map(ClockWatch::into_samples).peekable();
    let mut identities = identities.into_iter().flat_map(IdentityWatch::into_processes).peekable();
    let facts = streams.into_streams().map(|(base, streams)| UnitFacts {
        base,
        processes: identities
            .next_if(|found| found.0 == base)
            .map(|found| found.1)
            .unwrap_or_default(),
        streams,
        samples: clocks.next_if(|found| found.0 == base).map(|found| Box::new(found.1)),
    });
    facts.collect()
}

/// Aligns the clocks of inputs, and takes the clock samples out of `facts`. The warnings name
/// inputs whose clocks could not be aligned.
///
/// # Errors
/// Returns [`tracemill_trace::run::error::ErrorKind::Usage`] if a path in `rules` matches no input,
/// or no input has the requested marker.
pub fn decide_clocks(
    facts: &mut [UnitFacts],
    documents: &[Document],
    inputs: &Inputs,
    store: &Store<'_>,
    rules: &ClockRules,
) -> Result<(Clocks, Vec<Warning>), Error> {
    let samples = facts.iter_mut();
    let samples = samples.filter_map(|input| Some((input.base, *input.samples.take()?)));
    Clocks::decide_offsets(samples, documents, inputs, store, rules)
}
