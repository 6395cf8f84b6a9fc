//! Fuzz targets: laws that hold for any bytes. `fuzz/` runs them in a fuzzer. The tests of this
//! module run them on stored inputs, seeded mutations, and everything that a fuzzer has found.
//!
//! | target | law |
//! |---|---|
//! | [`scan()`] | findings do not depend on tier, cuts or chunks; no bytes vanish; valid JSON is read like the naive reader |
//! | [`shapes()`] | shapes change no findings, even for events with one changed byte |
//! | [`grammar()`] | every tier, the slow reader and serde_json agree whether a text is JSON |
//! | [`values()`] | numbers are exact, strings unescape correctly, white space changes nothing |

#[cfg(test)]
mod found;
mod grammar;
mod scan;
mod shapes;
mod values;

pub(crate) use grammar::grammar;
pub(crate) use scan::scan;
pub(crate) use shapes::{check_change, shapes};
pub(crate) use values::values;

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
    fn scan_holds_on_stored_and_mutated_inputs() {
        try_out("scan", scan, 800);
    }

    #[test]
    fn shapes_hold_on_stored_and_mutated_inputs() {
        try_out("shapes", shapes, 2000);
    }

    #[test]
    fn grammar_holds_on_stored_and_mutated_inputs() {
        try_out("grammar", grammar, 5000);
    }

    #[test]
    fn values_hold_on_stored_and_mutated_inputs() {
        try_out("values", values, 5000);
    }

    #[test]
    fn what_was_found() {
        for (name, input) in found::FOUND {
            let all =
                std::panic::catch_unwind(|| [scan, shapes, grammar, values].map(|run| run(input)));
            assert!(all.is_ok(), "{name}");
        }
    }
}
