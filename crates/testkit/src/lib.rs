//! Tools for tests and benchmarks of the other crates: naive reference implementations of the
//! commands, a seeded trace generator, stream cutting, damage injection and mutation.
//!
//! This crate depends on none of the other crates. The reference implements the documentation with
//! `serde_json` and no shared code, so that agreement is meaningful. It reads whole traces into
//! memory and is slow.
//!
//! | module | contents |
//! |---|---|
//! | [`generate`] | traces of any shape: forms, layouts, odd spellings, CPU profiles, clocks, annotations |
//! | [`cut`] | readers that return a text in pieces, stop, or fail |
//! | [`damage`], [`mutate`] | texts with one known defect, and with random changes |
//! | [`vary`] | real traces with realistic variations |
//! | [`mod@reference`] | the expected output of each command |
//! | [`devtools`] | the engine of DevTools, built for comparison |
//! | [`world`], [`heap`] | folders for running the built command, its results, memory |
//! | [`web`] | a web server with faults |
//! | [`packing`] | gzip and zstd without the code under test |
//! | [`rng`], [`rounds`] | seeded random numbers, and the number of seeds per test |
#![forbid(unsafe_code)]

pub mod cut;
pub mod damage;
pub mod devtools;
pub mod generate;
pub mod heap;
pub mod mutate;
pub mod packing;
pub mod reference;
pub mod rng;
pub mod rounds;
pub mod vary;
pub mod web;
pub mod world;

pub use rng::Rng;
pub use rounds::seeds;
pub use world::{Folder, Run};
