//! The session: opens the inputs of a run and hands what the scan finds to the index, chunk by chunk.
//!
//! ```text
//!   sources ─ input::expand ─> inputs, one after the other:
//!      open ─ strict? check every byte ─ scan ─> chunks, in input order ─> the index (crate::observe)
//!                                          └ documents that Expand takes ─> their events, as a stream
//!   at the end: what Expand wants to be read last ─> Inputs: payloads, reports, warnings
//! ```
//!
//! A document without events, such as a CPU profile, is scanned like a trace, which finds its keys.
//! [`Expand`] then makes its events, and they are read as a stream after it.
//!
//! Offsets are positions in one address space: the first input begins at [`Needs::reserved`], each
//! other one where the one before ends, and synthetic events are at offsets as if their text were an
//! input. Verbs read through [`Scan`](crate::observe::Scan).

mod expand;
mod numbers;
pub mod pieces;
mod reader;
mod refuse;
pub mod scan;
mod session;
mod sources;
mod warning;

pub use expand::{Expand, Expanded, TracesOnly};
pub use numbers::{EventNumbers, Uncertain};
pub(crate) use reader::Reader;
pub use reader::{
    ChunkStart, Current, InputBytes, InputPayload, InputStart, Inputs, Needs, Starter,
};
pub(crate) use sources::{read_more, read_sources, read_synthetic};
pub use warning::{InputWarning, ProfilePlace};
