//! Decodes the args of one event of a CPU profile to columns, or reads only their times.

mod decode;
pub(crate) mod decoded_chunks;
pub(crate) mod in_force;
pub(crate) mod key;
pub(crate) mod numbers;
pub(crate) mod skim;
pub(crate) mod source;
pub(crate) mod text;

pub use decode::Chunk;
pub(crate) use decode::{Decoder, Extra, NO_HITS, Node, TraceId};
pub use numbers::NO_ID;
