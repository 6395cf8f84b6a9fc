//! Event semantics shared by commands and indexes: phases, pairs, and equality of values.

pub mod envelope;
mod key_hash;
pub mod metadata;
pub mod names;
mod pair_event;
pub mod pairing;
mod phase;
pub mod proof;
pub mod thread_table;

pub use key_hash::{
    KeyHash, ValueHash, hash_field, hash_short_integer, hash_texts, hash_value, name_key,
};
pub use pair_event::PairEvent;
pub use phase::{PairKind, PairStep, Phase, end_of};
