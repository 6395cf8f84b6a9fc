//! Tests of `tracemill-analysis` from outside.

mod bad;
mod compare;
mod export;
mod fuzzed;
mod golden;
mod insights;
mod maps;
mod random;
mod report;
