//! Fuzz targets: laws that hold for any bytes. `fuzz/` runs them in a fuzzer; the tests of this
//! module run them over kept inputs, mutations by seed, and inputs of former failures.
//!
//! | target | the bytes are | law |
//! |---|---|---|
//! | [`verbs()`] | a verb with options ([`ask`]), knobs, and up to three inputs | no panic, one result for all knobs ([`laws`]) |
//! | [`damaged()`] | the same, with a seed and a shape of the generator, and damage | the same |
//! | [`stories()`] | events, a few bytes each ([`story`]), and a verb | equals the naive reference, byte for byte |
//! | [`profiles()`] | CPU profile chunks, a few bytes each | equals the naive reassembler, or one result for all knobs |
//! | [`sidecar()`] | a seed of a trace, a change to its index, and bytes of one | changed indexes are refused, forged ones do no harm |
//! | [`indexes()`] | oversized events and times that differ below a nanosecond | an index is built, and slices by it equal those of a scan |
//! | [`arguments()`] | the value of a flag | no panic; times are exact |

mod arguments;
mod ask;
#[cfg(test)]
mod found;
mod indexes;
mod laws;
mod profiles;
mod sidecar;
mod stories;
mod story;

pub(crate) use arguments::arguments;
pub(crate) use indexes::indexes;
pub(crate) use laws::{damaged, verbs};
pub(crate) use profiles::profiles;
pub(crate) use sidecar::sidecar;
pub(crate) use stories::stories;

use arbitrary::Unstructured;

/// Returns a number below `count` from the next one or two bytes; 0 at the end.
fn below(bytes: &mut Unstructured<'_>, count: usize) -> usize {
    bytes.int_in_range(0..=count - 1).unwrap_or(0)
}

fn pick<'p, T: ?Sized>(bytes: &mut Unstructured<'_>, all: &[&'p T]) -> &'p T {
    all[below(bytes, all.len())]
}

/// Separates inputs: a byte that JSON does not contain.
const SEPARATOR: u8 = 0x1e;

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tracemill_testkit::mutate::replay;

    fn try_out(name: &str, target: fn(&[u8]), changed: u64) {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
        replay(&kept, target, changed);
    }

    #[test]
    fn verbs_obey_their_laws() {
        try_out("verbs", verbs, 200);
    }

    #[test]
    fn damaged_traces_obey_their_laws() {
        try_out("damaged", damaged, 80);
    }

    #[test]
    fn stories_obey_their_laws() {
        try_out("stories", stories, 250);
    }

    #[test]
    fn profiles_obey_their_laws() {
        try_out("profiles", profiles, 150);
    }

    #[test]
    fn changed_indexes_obey_their_laws() {
        try_out("sidecar", sidecar, 400);
    }

    #[test]
    fn indexes_of_oversized_events_obey_their_laws() {
        try_out("indexes", indexes, 150);
    }

    #[test]
    fn arguments_obey_their_laws() {
        try_out("arguments", arguments, 5000);
    }

    #[test]
    fn what_was_found() {
        for (name, target, input) in found::FOUND {
            assert!(std::panic::catch_unwind(|| target(input)).is_ok(), "{name}");
        }
    }
}
