//! Scans the inputs of a command: traces, and CPU profiles converted to the events that V8 would
//! stream.

pub mod input_watch;
pub mod stream_watch;

use crate::config::{CheckFor, Config, PidPolicy};
use crate::report::warning::Warning;
use tracemill_cpuprofile::ProfileReader;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{Keep, Observer, Scan, Scanned};
use tracemill_trace::read::Inputs;
use tracemill_trace::read::pieces::ChosenPieces;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Limits;

/// Scans every source to its end.
///
/// # Errors
/// Returns the errors of [`Scan::run`].
pub fn scan<K: Keep, O: Observer>(
    sources: &[Source],
    config: &Config,
    keep: K,
    observer: O,
) -> Result<Scanned<K, O>, Error> {
    let (limits, mut profiles) = reader_options(config);
    Scan::new(sources, &limits, &mut profiles).keep(keep).observe(observer).run()
}

/// Scans byte ranges of a file.
///
/// # Errors
/// Returns the errors of [`Scan::run`].
pub(crate) fn scan_pieces<K: Keep, O: Observer>(
    source: &Source,
    pieces: &ChosenPieces,
    config: &Config,
    keep: K,
    observer: O,
) -> Result<Scanned<K, O>, Error> {
    let (limits, mut profiles) = reader_options(config);
    let scan = Scan::new(std::slice::from_ref(source), &limits, &mut profiles);
    scan.only(pieces).keep(keep).observe(observer).run()
}

/// Returns the limits of the scan, and the reader that converts CPU profiles to events.
pub fn reader_options(config: &Config) -> (Limits, ProfileReader) {
    let one_process = config.identity.pid == PidPolicy::One;
    let for_devtools = config.viewer.viewer == Some(CheckFor::Devtools);
    let profiles = ProfileReader::new(&config.profiles, one_process, for_devtools);
    // viewers reject invalid JSON, so repair everything possible
    let repair = config.limits.repair || config.viewer.viewer.is_some();
    let limits = Limits { repair, ..config.limits.clone() };
    (limits, profiles)
}

/// Returns the warnings about inputs.
pub fn of_inputs(inputs: &Inputs) -> impl Iterator<Item = Warning> {
    inputs.warnings.iter().cloned().map(Warning::from)
}
