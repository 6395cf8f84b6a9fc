//! The target of `tests/it/fuzzed.rs`, for the fuzzer, with an eye on the heap.
#![allow(dead_code, unused_imports, reason = "the tests use more of the shared module")]

#[path = "../../tests/it/fuzzed.rs"]
mod fuzzed;

use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Memory budget in bytes of each of the two sites in a run.
const BUDGET: usize = 64 << 20;

/// Runs `fuzzed::requests`, and asserts that the heap stays within the budgets.
pub fn requests(input: &[u8]) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    fuzzed::requests(input);
    let grown = HEAP.peak_usage().saturating_sub(before);
    assert!(grown <= 2 * BUDGET, "{grown} bytes of heap, {} allowed", 2 * BUDGET);
}
