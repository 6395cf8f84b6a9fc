//! Development only: naive second implementations of the verbs, a seeded generator of traces, a cutter of streams, a damage
//! injector and random changes of bytes, for the tests and benches of the other crates.
//!
//! It depends on none of them. What the reference says is computed from the documentation alone, with `serde_json` and no shared
//! code, so that an agreement of the two means something. It reads whole traces into memory and is as slow as it is plain.
//!
//! | module | what it makes |
//! |---|---|
//! | [`generate`] | traces of any shape: forms, layouts, odd spellings, CPU profiles, clocks, annotations |
//! | [`cut`] | readers that give a text in pieces, stop, or fail |
//! | [`damage`], [`mutate`] | texts with one known defect, and with random changes |
//! | [`vary`] | real traces changed as people's files vary |
//! | [`mod@reference`] | what each verb should write or say |
//! | [`devtools`] | what the engine of DevTools said of recorded traces |
//! | [`world`], [`heap`] | folders in which the built command runs, what a run did, its memory |
//! | [`packing`] | gzip and zstd without the code under test |
//! | [`rng`], [`rounds`] | random numbers by a seed, and how many seeds a test tries |
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
pub mod world;

pub use rng::Rng;
pub use rounds::seeds;
pub use world::{Folder, Run};
