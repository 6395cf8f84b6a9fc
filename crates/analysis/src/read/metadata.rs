//! Facts in the top-level keys `metadata` and `distributedInfo`.

use crate::events::devices::integer;
use crate::value::{member, number, string};
use tracemill_join::input_set::InputSet;
use tracemill_tokenizer::string_is;

/// Returns whether metadata is that of a CPU profile.
pub(crate) fn is_of_profile(metadata: &[u8]) -> bool {
    let origin = member(metadata, b"dataOrigin");
    origin.is_some_and(|text| string_is(text, b"CPUProfile"))
}

/// Returns the physical pixels per CSS pixel of the recording machine, and the date and time of the
/// recording. Both are `None` unless the trace has one input.
pub(crate) fn facts_of(metadata: &[Vec<u8>], inputs: usize) -> (Option<f64>, Option<String>) {
    match metadata {
        [metadata] if inputs == 1 => {
            (member(metadata, b"hostDPR").and_then(number), recorded(metadata))
        }
        _ => (None, None),
    }
}

/// Returns the date and time of the recording, as written.
fn recorded(metadata: &[u8]) -> Option<String> {
    let text = |key: &[u8]| String::from_utf8(string(member(metadata, key)?)?).ok();
    // DevTools writes the first moment of 1970 where it knows no time
    let start = text(b"startTime").filter(|time| !time.starts_with("1970-01-01T00:00"));
    let time = start.or_else(|| text(b"trace-capture-datetime"))?;
    let seconds = time.split('.').next().unwrap_or(&time);
    Some(seconds.trim_end_matches('Z').replace('T', " "))
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
