//! Development only: a naive reference merge, a seeded trace generator, a chunk cutter, a damage
//! injector and random changes of bytes for the tests and benches of the other crates.
//!
//! It depends on none of them: what the reference says is computed from the contracts alone, with
//! `serde_json` and no shared code, so that an agreement between the two means something.
#![forbid(unsafe_code)]

pub mod cut;
pub mod damage;
pub mod devtools;
pub mod generate;
pub mod mutate;
pub mod reference;
pub mod rng;
pub mod rounds;

pub use rng::Rng;
pub use rounds::seeds;
