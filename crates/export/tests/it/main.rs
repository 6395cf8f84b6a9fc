//! Tests of `tracemill-export` from outside.

mod calls;
#[path = "../../../analysis/tests/common/mod.rs"]
mod common;
mod export;
mod fuzzed;
mod known_calls;
mod perfetto;
mod pictures;
mod protobuf;
mod spilled;
