//! Tests of `tracemill-analysis` from outside.

mod bad;
mod golden;
