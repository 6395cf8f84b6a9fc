//! Runs the targets of `tests/it/fuzzed` in a fuzzer, with a limit on the heap.
#![allow(dead_code, unused_imports, reason = "the tests use more of the shared modules")]

#[path = "../../tests/it/check.rs"]
mod check;
#[path = "../../tests/it/convert.rs"]
mod convert;
#[path = "../../tests/it/corpus.rs"]
mod corpus;
#[path = "../../tests/it/extract.rs"]
mod extract;
#[path = "../../tests/it/filter.rs"]
mod filter;
#[path = "../../tests/it/fuzzed/mod.rs"]
mod fuzzed;
#[path = "../../tests/it/index.rs"]
mod index;
#[path = "../../tests/it/indexed_slices.rs"]
mod indexed_slices;
#[path = "../../tests/it/info.rs"]
mod info;
#[path = "../../tests/it/knobs.rs"]
mod knobs;
#[path = "../../tests/it/profiles.rs"]
mod profiles;
#[path = "../../tests/it/run.rs"]
mod run;
#[path = "../../tests/it/slices.rs"]
mod slices;
#[path = "../../tests/it/spans.rs"]
mod spans;
#[path = "../../tests/it/split.rs"]
mod split;
#[path = "../../tests/it/trace.rs"]
mod trace;
#[path = "../../tests/it/viewer.rs"]
mod viewer;

use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Memory limit of each run (`run::config`), and of all runs of a target together.
const BUDGET: usize = 64 << 20;

/// Runs `target` and asserts that the heap grows by at most [`BUDGET`].
fn within_budget(target: impl FnOnce()) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    target();
    let grown = HEAP.peak_usage().saturating_sub(before);
    assert!(grown <= BUDGET, "{grown} bytes of heap, {BUDGET} allowed");
}

/// Fuzz target: see `fuzzed::verbs`.
pub fn verbs(input: &[u8]) {
    within_budget(|| fuzzed::verbs(input));
}

/// Fuzz target: see `fuzzed::damaged`.
pub fn damaged(input: &[u8]) {
    within_budget(|| fuzzed::damaged(input));
}

/// Fuzz target: see `fuzzed::stories`.
pub fn stories(input: &[u8]) {
    within_budget(|| fuzzed::stories(input));
}

/// Fuzz target: see `fuzzed::profiles`.
pub fn profiles(input: &[u8]) {
    within_budget(|| fuzzed::profiles(input));
}

/// Fuzz target: see `fuzzed::indexes`.
pub fn indexes(input: &[u8]) {
    within_budget(|| fuzzed::indexes(input));
}

/// Fuzz target: see `fuzzed::sidecar`.
pub fn sidecar(input: &[u8]) {
    within_budget(|| fuzzed::sidecar(input));
}

/// Fuzz target: see `fuzzed::arguments`.
pub fn arguments(input: &[u8]) {
    within_budget(|| fuzzed::arguments(input));
}
