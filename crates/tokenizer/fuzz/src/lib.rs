//! Fuzz targets of `tests/it/fuzzed`.
#![allow(dead_code, reason = "the tests use more of the shared modules")]

#[path = "../../tests/it/fuzzed/mod.rs"]
mod fuzzed;
#[path = "../../tests/it/scanned.rs"]
mod scanned;

/// Runs `fuzzed::scan`.
pub fn scan(input: &[u8]) {
    fuzzed::scan(input);
}

/// Runs `fuzzed::shapes`.
pub fn shapes(input: &[u8]) {
    fuzzed::shapes(input);
}

/// Runs `fuzzed::grammar`.
pub fn grammar(input: &[u8]) {
    fuzzed::grammar(input);
}

/// Runs `fuzzed::values`.
pub fn values(input: &[u8]) {
    fuzzed::values(input);
}
