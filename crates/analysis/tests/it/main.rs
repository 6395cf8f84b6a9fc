//! Tests of `tracemill-analysis` from outside.

mod bad;
mod compare;
mod export;
mod fuzzed;
mod golden;
mod random;
mod report;
