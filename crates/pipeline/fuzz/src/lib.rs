//! The targets of `tests/it/fuzzed`, for the fuzzer, with an eye on the heap.
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

/// What every run is given (`run::config`), and all runs of a target together hold no more.
const BUDGET: usize = 64 << 20;

/// Runs `target` and asserts that the heap did not grow beyond the budget on the way.
fn within_budget(target: impl FnOnce()) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    target();
    let grown = HEAP.peak_usage().saturating_sub(before);
    assert!(grown <= BUDGET, "{grown} bytes of heap, {BUDGET} allowed");
}

/// See `fuzzed::verbs`.
pub fn verbs(input: &[u8]) {
    within_budget(|| fuzzed::verbs(input));
}

/// See `fuzzed::damaged`.
pub fn damaged(input: &[u8]) {
    within_budget(|| fuzzed::damaged(input));
}

/// See `fuzzed::stories`.
pub fn stories(input: &[u8]) {
    within_budget(|| fuzzed::stories(input));
}

/// See `fuzzed::profiles`.
pub fn profiles(input: &[u8]) {
    within_budget(|| fuzzed::profiles(input));
}

/// See `fuzzed::indexes`.
pub fn indexes(input: &[u8]) {
    within_budget(|| fuzzed::indexes(input));
}

/// See `fuzzed::sidecar`.
pub fn sidecar(input: &[u8]) {
    within_budget(|| fuzzed::sidecar(input));
}

/// See `fuzzed::arguments`.
pub fn arguments(input: &[u8]) {
    within_budget(|| fuzzed::arguments(input));
}
