//! The fuzz targets: laws that hold for any bytes. `fuzz/` runs them in a fuzzer for as long as one likes; the tests here
//! run them over the kept inputs, over changed ones by seed, and over all that a fuzzer ever found.
//!
//! | target | the bytes are | law |
//! |---|---|---|
//! | [`verbs()`] | a verb with its options ([`ask`]), knobs, and up to three inputs | no panic, one answer whatever the knobs ([`laws`]) |
//! | [`damaged()`] | the same, with a seed and a shape of the generator, and damage | the same |
//! | [`stories()`] | events, a few bytes each ([`story`]), and a verb | what the naive reference says, byte for byte |
//! | [`profiles()`] | chunks of CPU profiles, a few bytes each | what the naive reassembler says; else one answer |
//! | [`sidecar()`] | a seed of a trace, what becomes of its index, and bytes of one | what is changed is refused and the answer that of a scan; what is forged does no harm |
//! | [`indexes()`] | oversized events and times that differ below a nanosecond, a few bytes an event | an index is built, and slices by it are those of a scan |
//! | [`arguments()`] | what a user may write after a flag | no panic; times are exact |

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

/// A number below `count`, from the next byte or two; 0 when the bytes are used up.
fn below(bytes: &mut Unstructured<'_>, count: usize) -> usize {
    bytes.int_in_range(0..=count - 1).unwrap_or(0)
}

/// One of `all`.
fn pick<'p, T: ?Sized>(bytes: &mut Unstructured<'_>, all: &[&'p T]) -> &'p T {
    all[below(bytes, all.len())]
}

/// Separates inputs: a byte that no JSON holds.
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
    fn kept_and_changed_inputs_to_all_verbs() {
        try_out("verbs", verbs, 200);
    }

    #[test]
    fn kept_and_changed_seeds_of_damaged_traces() {
        try_out("damaged", damaged, 80);
    }

    #[test]
    fn kept_and_changed_stories() {
        try_out("stories", stories, 250);
    }

    #[test]
    fn kept_and_changed_profiles() {
        try_out("profiles", profiles, 150);
    }

    #[test]
    fn kept_and_changed_indexes() {
        try_out("sidecar", sidecar, 400);
    }

    #[test]
    fn kept_and_changed_indexes_of_oversized_events() {
        try_out("indexes", indexes, 150);
    }

    #[test]
    fn kept_and_changed_arguments() {
        try_out("arguments", arguments, 5000);
    }

    #[test]
    fn what_was_found() {
        for (name, target, input) in found::FOUND {
            assert!(std::panic::catch_unwind(|| target(input)).is_ok(), "{name}");
        }
    }
}
