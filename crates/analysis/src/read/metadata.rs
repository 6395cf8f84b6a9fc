//! Facts in the top-level keys `metadata` and `distributedInfo`.

use crate::events::devices::integer;
use crate::value::{member, number};
use tracemill_join::input_set::InputSet;
use tracemill_tokenizer::string_is;

/// Returns whether metadata is that of a CPU profile.
pub(crate) fn is_of_profile(metadata: &[u8]) -> bool {
    let origin = member(metadata, b"dataOrigin");
    origin.is_some_and(|text| string_is(text, b"CPUProfile"))
}

/// Returns the physical pixels per CSS pixel of the recording machine. Returns `None` unless the
/// trace has one input.
pub(crate) fn host_ratio(metadata: &[Vec<u8>], inputs: usize) -> Option<f64> {
    match metadata {
        [metadata] if inputs == 1 => member(metadata, b"hostDPR").and_then(number),
        _ => None,
    }
}

/// Returns the rank of each input in its job.
pub(crate) fn job_ranks(inputs: &InputSet) -> Vec<Option<u64>> {
    let mut ranks = vec![None; inputs.reports().len()];
    for (input, value) in inputs.values_by_input(b"distributedInfo") {
        ranks[input] =
            member(&value, b"rank").and_then(integer).and_then(|rank| rank.try_into().ok());
    }
    ranks
}
