//! Reading all inputs of a run: open, scan, hand the findings on, chunk by chunk. The same for every verb.
//!
//! Documents that hold something else than events, CPU profiles, are scanned like a trace, which finds their keys and no
//! events; then their events are made, by who knows how ([`Expand`]), and read as a stream behind them.

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
