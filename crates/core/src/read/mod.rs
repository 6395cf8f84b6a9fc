//! Reading all inputs of a run: open, scan, hand the findings on, chunk by chunk. The same for every verb.
//!
//! Documents that hold something else than events, CPU profiles, are scanned like a trace, which finds their keys and no
//! events; then their events are made, by who knows how ([`Expand`]), and read as a stream behind them.
//!
//! ```text
//!   sources ─ input::expand ─> inputs, one after the other:
//!      open ─ strict? check every byte ─ scan ─> findings ─> Reader::take, in input order
//!                                          └ documents that Expand takes ─> their events, as a stream
//!   at the end: what Expand has to be read last ─> Inputs: payloads, reports, warnings
//! ```
//!
//! Every verb has a [`Reader`]: it says what is found in a chunk ([`Reader::Findings`], see [`crate::scan`] for an example), and takes that.
//! [`Trace::open`](crate::Trace::open) has one too.
//!
//! Offsets are those among all inputs: the first input begins at [`Reader::RESERVED`], each other one where the one before ends, and made events
//! have places as if their text were an input.

mod expand;
mod numbers;
mod reader;
mod refuse;
mod session;
mod warning;

pub use expand::{Expand, Expanded, TracesOnly};
pub use numbers::{Numbers, Uncertain};
pub use reader::{Current, InputBytes, InputPayload, Inputs, Maker, Reader};
pub use session::{read_all, read_pieces, read_synthetic};
pub use warning::{InputWarning, ProfilePlace};
