//! The vocabulary of events that verbs and indexes share: which values are equal.

mod key_hash;

pub use key_hash::{
    KeyHash, ValueHash, hash_field, hash_short_integer, hash_texts, hash_value, name_key,
};
