//! The target of `tests/it/fuzzed.rs`, for the fuzzer, with an eye on the heap.
#![allow(dead_code, unused_imports, reason = "the tests use more of the shared module")]

#[path = "../../tests/it/fuzzed.rs"]
mod fuzzed;

use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// What every run is given.
const BUDGET: usize = 64 << 20;

/// See `fuzzed::analysis`; asserts that the heap did not grow beyond the budget on the way.
pub fn analysis(input: &[u8]) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    fuzzed::analysis(input);
    let grown = HEAP.peak_usage().saturating_sub(before);
    assert!(grown <= BUDGET, "{grown} bytes of heap, {BUDGET} allowed");
}
