//! Reads the inputs of a run in a session and passes the findings of each chunk to the index.
//!
//! ```text
//!   sources ─ input::expand ─> inputs, one after the other:
//!      open ─ strict? check every byte ─ scan ─> chunks, in input order ─> the index (`observe`)
//!                                          └ documents for Expand ─> their events, as a stream
//!   at the end: last input of Expand ─> Inputs: payloads, reports, warnings
//! ```
//!
//! A document without events, such as a CPU profile, is scanned like a trace to find its keys. Then
//! [`Expand`] derives its events, which are read as a stream after the document.
//!
//! All inputs share one address space. The first input begins at [`Needs::reserved`], each other
//! input begins at the end of the previous input. Synthetic events have an address range of their
//! own. Commands read through [`Scan`](crate::observe::Scan).

mod expand;
mod numbers;
pub mod pieces;
mod reader;
mod refuse;
mod remote;
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
