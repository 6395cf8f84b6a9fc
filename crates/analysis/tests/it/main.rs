//! Tests of `tracemill-analysis` from outside.

mod golden;
