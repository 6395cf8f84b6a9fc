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
//! ```
//! use tracemill_core::envelope::{Collect, Document, Envelope};
//! use tracemill_core::read::{Current, Reader, TracesOnly, read_all};
//! use tracemill_core::{Error, Limits, Source};
//! use tracemill_tokenizer::Event;
//!
//! #[derive(Default)]
//! struct Part {
//!     envelope: Envelope,
//!     metadata: u64,
//! }
//!
//! impl Collect for Part {
//!     fn envelope(&mut self) -> &mut Envelope {
//!         &mut self.envelope
//!     }
//!
//!     fn event(&mut self, event: &Event<'_>) {
//!         self.envelope.event(event);
//!         self.metadata += u64::from(event.is_metadata());
//!     }
//! }
//!
//! #[derive(Default)]
//! struct Metadata(u64, Vec<Document>);
//!
//! impl Reader for Metadata {
//!     type Findings = Part;
//!     const KEEPS_STREAMS: bool = false; // nobody asks for the bytes again
//!     const PROVES: bool = false; // no event is written
//!
//!     fn part(base: u64, _bytes: usize) -> Part {
//!         Part { envelope: Envelope::at(base), metadata: 0 }
//!     }
//!
//!     fn take(&mut self, part: Part, _base: u64, _current: Current<'_>) -> Result<(), Error> {
//!         self.0 += part.metadata;
//!         part.envelope.append_to(&mut self.1);
//!         Ok(())
//!     }
//!
//!     fn documents(&mut self) -> &mut Vec<Document> {
//!         &mut self.1
//!     }
//! }
//!
//! let text = r#"{"traceEvents":[{"ph":"M"},{"ph":"i","ts":1}],"displayTimeUnit":"ms"}"#;
//! let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
//! let mut metadata = Metadata::default();
//! let inputs = read_all(&[Source::bytes("a.json", text)], &limits, &mut TracesOnly, &mut metadata)?;
//! assert_eq!((metadata.0, inputs.reports[0].events), (1, 2));
//! assert_eq!(&*metadata.1[0].keys[0].key, b"\"displayTimeUnit\"");
//! # Ok::<(), Error>(())
//! ```
//!
//! Offsets are those among all inputs: the first input begins at [`Reader::RESERVED`], each other one where the one before ends, and made events
//! have places as if their text were an input.

mod expand;
mod numbers;
mod reader;
mod refuse;
mod session;
mod sources;
mod warning;

pub use expand::{Expand, Expanded, TracesOnly};
pub use numbers::{Numbers, Uncertain};
pub use reader::{Current, InputBytes, InputPayload, Inputs, KnownMaker, Maker, Reader};
pub use sources::{read_all, read_first, read_on, read_pieces, read_synthetic};
pub use warning::{InputWarning, ProfilePlace};
