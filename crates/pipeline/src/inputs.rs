//! The inputs of a verb: traces and CPU profiles, which become events on their way in.

use crate::config::{CheckFor, Config, PidPolicy};
use crate::warning::Warning;
use tracemill_core::error::Error;
use tracemill_core::limits::Limits;
use tracemill_core::pieces::Chosen;
use tracemill_core::read::{Inputs, Reader};
use tracemill_core::source::Source;
use tracemill_profile::ProfileReader;

/// Reads every source to its end.
pub(crate) fn read_all<R: Reader>(
    sources: &[Source],
    config: &Config,
    reader: &mut R,
) -> Result<Inputs, Error> {
    let (limits, mut profiles) = told(config);
    tracemill_core::read::read_all(sources, &limits, &mut profiles, reader)
}

/// Reads pieces of a file.
pub(crate) fn read_pieces<R: Reader>(
    source: &Source,
    pieces: &Chosen,
    config: &Config,
    reader: &mut R,
) -> Result<Inputs, Error> {
    let (limits, mut profiles) = told(config);
    tracemill_core::read::read_pieces(source, pieces, &limits, &mut profiles, reader)
}

/// What those that read are told.
pub(crate) fn told(config: &Config) -> (Limits, ProfileReader) {
    let one_process = config.identity.pid == PidPolicy::One;
    let for_devtools = config.viewer.viewer == Some(CheckFor::Devtools);
    let profiles = ProfileReader::new(&config.profiles, one_process, for_devtools);
    // viewers refuse what is not JSON: all that can be mended is
    let repair = config.repair || config.viewer.viewer.is_some();
    let limits = Limits { repair, ..config.limits.clone() };
    (limits, profiles)
}

/// What there is to say of the inputs.
pub(crate) fn of_inputs(inputs: &Inputs) -> impl Iterator<Item = Warning> {
    inputs.warnings.iter().cloned().map(Warning::from)
}
