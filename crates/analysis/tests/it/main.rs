//! Tests of `tracemill-analysis` from outside.

mod bad;
mod compare;
mod export;
mod fuzzed;
mod golden;
mod insights;
mod maps;
mod perfetto;
mod protobuf;
mod random;
mod report;
