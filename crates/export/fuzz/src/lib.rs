//! Fuzz target of `tests/it/fuzzed.rs`, with a check of heap use.
#![allow(dead_code, unused_imports, reason = "the tests use more of the shared module")]

#[path = "../../tests/it/fuzzed.rs"]
mod fuzzed;

use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Memory budget of each run in bytes.
const BUDGET: usize = 64 << 20;

/// Runs `fuzzed::analysis`, and asserts that the heap grows by at most the budget.
pub fn analysis(input: &[u8]) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    fuzzed::analysis(input);
    let grown = HEAP.peak_usage().saturating_sub(before);
    assert!(grown <= BUDGET, "{grown} bytes of heap, {BUDGET} allowed");
}
