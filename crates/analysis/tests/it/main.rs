//! Tests of `tracemill-analysis` from outside.

mod bad;
mod fuzzed;
mod golden;
mod random;
