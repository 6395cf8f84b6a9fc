//! Integration tests of `tracemill-analysis`.

mod bad;
#[path = "../common/mod.rs"]
mod common;
mod cpu_times;
mod exact;
mod golden;
mod groups;
mod idle;
mod laws;
mod live;
mod maps;
mod producers;
mod random;
mod refused;
mod spilled;
mod varied;
