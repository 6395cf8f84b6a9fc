//! Seeded random mutation of inputs, for running fuzz targets in the test suite.
//!
//! [`replay`] runs a target on its stored inputs and on mutations of them. A target that would fail
//! in the fuzzer within minutes thus fails in the tests within seconds.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use crate::{Rng, seeds};

/// Tokens of traces, and text that is difficult for readers.
#[rustfmt::skip]
pub const WORDS: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\\"", "\\u", "\\ud83d", "\\u0022", "\n", "\r\n",
    " ", "\0", "\u{feff}", "\u{7f}", "é", "null", "true", "NaN", "-Infinity", "0", "-", "1e400",
    "0.001", "18446744073709551615", "9223372036854775.8", "{}", "[]", "{\"", "},{", "}]", "}]}",
    "]}", "\"traceEvents\":[", "{\"traceEvents\":[", "{\"tracemill\":{", "\"ph\":\"X\"",
    "\"ph\":\"B\"", "\"ph\":\"E\"", "\"ph\":\"M\"", "\"ph\":\"P\"", "\"ts\":1", "\"ts\":\"2.5\"",
    "\"dur\":3", "\"pid\":1", "\"tid\":2", "\"id\":\"0x1\"", "\"name\":\"ProfileChunk\"",
    "\"name\":\"a\"", "\"cat\":\"c\"", "\"args\":{\"data\":{", "\"nodes\":[", "\"samples\":[1]",
    "\"timeDeltas\":[1]",
];

/// Returns a copy of `input` with one to four changes; `other` provides text to insert.
#[must_use]
pub fn mutated(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..rng.range(1, 4) {
        change(rng, &mut bytes, other);
    }
    bytes
}

fn change(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = rng.index(bytes.len() + 1);
    let word = WORDS[rng.index(WORDS.len())].as_bytes();
    match rng.below(9) {
        0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
        1 if at < bytes.len() => bytes[at] = rng.bits() as u8,
        2 => bytes.insert(at, rng.bits() as u8),
        3 => drop(bytes.splice(at..at, word.iter().copied())),
        4 => {
            let end = (at + word.len()).min(bytes.len());
            bytes.splice(at..end, word.iter().copied());
        }
        5 => {
            let end = at + length(rng, bytes.len() - at);
            bytes.drain(at..end);
        }
        6 => bytes.truncate(at),
        7 => {
            let end = at + length(rng, bytes.len() - at);
            let copy = bytes[at..end].to_vec();
            let to = rng.index(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        _ => {
            let from = rng.index(other.len() + 1);
            let end = from + length(rng, other.len() - from);
            bytes.splice(at..at, other[from..end].iter().copied());
        }
    }
}

/// Returns a random length of at most `most`, often short.
fn length(rng: &mut Rng, most: usize) -> usize {
    let limit = if rng.chance(70) { most.min(16) } else { most };
    rng.index(limit + 1)
}

/// Runs `target` on each file in `kept`, then on `changed` seeded mutations of these files. As in
/// [`seeds`], the number of mutations is multiplied.
///
/// # Panics
///
/// Panics if there is no file, or if `target` panics; the input is then saved as
/// `tracemill-failed-…` in the temporary folder.
pub fn replay(kept: &Path, target: impl Fn(&[u8]), changed: u64) {
    let entries = std::fs::read_dir(kept).unwrap_or_else(|e| panic!("{}: {e}", kept.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{}: nothing is kept", kept.display());
    let inputs: Vec<Vec<u8>> =
        files.iter().map(|file| std::fs::read(file).expect("a readable file")).collect();
    let name = kept.file_name().unwrap_or_default().to_string_lossy();
    inputs.iter().for_each(|input| run(&name, input, &target));
    for seed in seeds(0, changed) {
        let mut rng = Rng::new(seed);
        let (input, other) = (rng.index(inputs.len()), rng.index(inputs.len()));
        run(&name, &mutated(&mut rng, &inputs[input], &inputs[other]), &target);
    }
}

fn run(name: &str, input: &[u8], target: &impl Fn(&[u8])) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(input))) {
        let file = std::env::temp_dir().join(format!("tracemill-failed-{name}"));
        std::fs::write(file, input).expect("the temp folder takes files");
        resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn mutations_are_varied_and_determined_by_the_seed() {
        let (input, other) = (b"{\"a\":[1,2,3]}".as_slice(), b"0123456789".as_slice());
        let all = |seed: u64| {
            let mut rng = Rng::new(seed);
            (0..500).map(|_| mutated(&mut rng, input, other)).collect::<Vec<_>>()
        };
        let mut found = all(1);
        assert_eq!(found, all(1));
        found.sort();
        found.dedup();
        assert!(found.len() > 400, "{}", found.len());
        assert!(found.iter().any(|bytes| bytes.len() < input.len()));
        assert!(found.iter().any(|bytes| bytes.len() > 2 * input.len()));
        assert_ne!(found, all(2));
    }

    #[test]
    fn replay_runs_stored_inputs_first() {
        let folder = std::env::temp_dir().join(format!("tracemill-replay-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("b"), b"second").unwrap();
        std::fs::write(folder.join("a"), b"first").unwrap();
        let seen = RefCell::new(Vec::new());
        replay(&folder, |input| seen.borrow_mut().push(input.to_vec()), 10);
        std::fs::remove_dir_all(&folder).unwrap();
        let seen = seen.into_inner();
        assert_eq!((&seen[0][..], &seen[1][..], seen.len()), (&b"first"[..], &b"second"[..], 12));
    }
}
