//! The target of `tests/it/fuzzed.rs`, for the fuzzer, with an eye on the heap.
#![allow(dead_code, unused_imports, reason = "the tests use more of the shared module")]

#[path = "../../tests/it/fuzzed.rs"]
mod fuzzed;

use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// What each of the two sites of a run is given.
const BUDGET: usize = 64 << 20;

/// See `fuzzed::requests`; asserts that the heap did not grow beyond the budgets on the way.
pub fn requests(input: &[u8]) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    fuzzed::requests(input);
    let grown = HEAP.peak_usage().saturating_sub(before);
    assert!(grown <= 2 * BUDGET, "{grown} bytes of heap, {} allowed", 2 * BUDGET);
}
