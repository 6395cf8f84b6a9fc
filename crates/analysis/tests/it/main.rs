//! Tests of `tracemill-analysis` from outside.

mod bad;
mod clang;
mod compare;
mod devices;
mod exact;
mod export;
mod fuzzed;
mod golden;
mod idle;
mod insights;
mod known_calls;
mod laws;
mod live;
mod maps;
mod pages;
mod perfetto;
mod producers;
mod protobuf;
mod random;
mod refused;
mod report;
mod spilled;
mod varied;
mod varied_pages;
