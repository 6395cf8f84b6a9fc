//! The vocabulary of events that verbs and indexes share: phases, parts of pairs, and which values are
//! equal.

mod key_hash;
mod pair_event;
mod phase;

pub use key_hash::{
    KeyHash, ValueHash, hash_field, hash_short_integer, hash_texts, hash_value, name_key,
};
pub use pair_event::PairEvent;
pub use phase::{PairKind, PairStep, Phase, end_of};
