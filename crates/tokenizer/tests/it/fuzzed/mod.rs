//! The fuzz targets: laws that hold for any bytes. `fuzz/` runs them in a fuzzer for as long as one likes; the tests here
//! run them over the kept inputs, over changed ones by seed, and over all that a fuzzer ever found.
//!
//! | target | law |
//! |---|---|
//! | [`scan()`] | every tier, cut and chunking finds the same; nothing vanishes; sound JSON is read as the naive reader reads it |
//! | [`grammar()`] | what is JSON is JSON to every tier, to the slow reader and to serde_json |
//! | [`values()`] | numbers are exact, strings say what they say, other white space changes nothing |

#[cfg(test)]
mod found;
mod grammar;
mod scan;
mod values;

pub(crate) use grammar::grammar;
pub(crate) use scan::scan;
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
    fn kept_and_changed_inputs_to_the_scan() {
        try_out("scan", scan, 800);
    }

    #[test]
    fn kept_and_changed_inputs_to_the_grammar() {
        try_out("grammar", grammar, 5000);
    }

    #[test]
    fn kept_and_changed_values() {
        try_out("values", values, 5000);
    }

    #[test]
    fn what_was_found() {
        for (name, input) in found::FOUND {
            let all = std::panic::catch_unwind(|| [scan, grammar, values].map(|run| run(input)));
            assert!(all.is_ok(), "{name}");
        }
    }
}
