//! Reads inputs for every command: one scan, an index of the events, and observers.
//!
//! ```text
//!   sources ─ session ─ scan workers ─ event ─┬─ Look::event ────────── found in a chunk ─┐
//!                                             └─ KeepChunk::keep, if all looks are true ──┤
//!                                                                         in input order  v
//!                              Scanned { inputs, index, observed } <─ Observer::merge, Keep::merge
//! ```
//!
//! * An [`Observer`] collects one kind of fact from the events: clocks, threads, profile streams.
//!   Its [`Look`] runs on the worker that scans a chunk, while the event is in cache. Its
//!   [`merge`](Observer::merge) runs on the calling thread, chunk after chunk, in input order.
//!   Tuples of observers are observers; `Option` makes an observer optional, and `()` observes
//!   nothing.
//! * A [`Keep`] decides what the [`EventIndex`] stores per event: [`Sorted`] (16 bytes, by time),
//!   [`InputOrder`] (8 bytes), both, nothing ([`Nothing`], [`TimesOnly`]), or [`Elsewhere`] if an
//!   observer stores the events.
//! * A [`Scan`] runs the observers and fills the index. Its result does not depend on threads,
//!   chunk sizes, read sizes or memory, as long as merging chunks in order is associative.
//!
//! # A command that counts
//!
//! ```
//! use tracemill_trace::observe::{ChunkStart, EventRef, Look, Observer, Scan, SealedChunk, Starter};
//! use tracemill_trace::read::TracesOnly;
//! use tracemill_trace::{Error, Limits, Source};
//! use tracemill_tokenizer::Event;
//!
//! /// Counts metadata events: `Look` in a chunk, `Observer` in all inputs.
//! #[derive(Default)]
//! struct MetadataCount(u64);
//!
//! impl Look for MetadataCount {
//!     fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
//!         self.0 += u64::from(event.is_metadata());
//!         true
//!     }
//! }
//!
//! impl Observer for MetadataCount {
//!     type Chunk = MetadataCount;
//!
//!     fn starter(&self) -> Starter<MetadataCount> {
//!         Box::new(|_: &ChunkStart| MetadataCount::default())
//!     }
//!
//!     fn merge(&mut self, found: MetadataCount, _: &SealedChunk<'_>) -> Result<(), Error> {
//!         self.0 += found.0;
//!         Ok(())
//!     }
//! }
//!
//! let text = r#"{"traceEvents":[{"ph":"M"},{"ph":"i","ts":1}],"displayTimeUnit":"ms"}"#;
//! let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
//! let sources = [Source::bytes("a.json", text)];
//! let count = MetadataCount::default();
//! let scanned = Scan::new(&sources, &limits, &mut TracesOnly).observe(count).run()?;
//! assert_eq!((scanned.observed.0, scanned.index.events), (1, 2));
//! # Ok::<(), Error>(())
//! ```
//!
//! # A command that selects and writes
//!
//! The look returns whether the index keeps an event. [`InputOrder`] stores the places of kept
//! events.
//!
//! ```
//! use std::io::Write;
//! use tracemill_trace::observe::{EventRef, InputOrder, Look, Observer, Scan, SealedChunk, Starter};
//! use tracemill_trace::read::TracesOnly;
//! use tracemill_trace::run::memory::Share;
//! use tracemill_trace::{Error, Limits, Source};
//! use tracemill_tokenizer::{Event, Field};
//!
//! /// Selects events of a category.
//! #[derive(Clone)]
//! struct OfCategory(&'static [u8]);
//!
//! impl Look for OfCategory {
//!     fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
//!         event.is_string(Field::Cat, self.0)
//!     }
//! }
//!
//! impl Observer for OfCategory {
//!     type Chunk = OfCategory;
//!
//!     fn starter(&self) -> Starter<OfCategory> {
//!         let look = self.clone();
//!         Box::new(move |_| look.clone())
//!     }
//!
//!     fn merge(&mut self, _: OfCategory, _: &SealedChunk<'_>) -> Result<(), Error> {
//!         Ok(())
//!     }
//! }
//!
//! let text = r#"[{"cat":"gc","ts":1},{"cat":"v8","ts":2},{"ts":3,"cat":"gc"}]"#;
//! let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
//! let sources = [Source::bytes("a.json", text)];
//! let keep = InputOrder::new(limits.lease("places", Share::of(1, 16)), 0);
//! let mut expand = TracesOnly;
//! let scan = Scan::new(&sources, &limits, &mut expand).keep(keep).observe(OfCategory(b"gc"));
//! let scanned = scan.run()?;
//!
//! let (inputs, index) = (scanned.inputs, scanned.index);
//! let store = inputs.store().with_long(&index.long_events);
//! let (mut out, mut separator) = (Vec::from(b"["), "");
//! let places = index.kept.into_places().finish()?;
//! for place in places.iter() {
//!     write!(out, "{separator}").expect("a vector takes all bytes");
//!     out.extend_from_slice(store.event(place));
//!     separator = ",";
//! }
//! out.push(b']');
//! inputs.check_unchanged()?;
//! assert_eq!(out, br#"[{"cat":"gc","ts":1},{"ts":3,"cat":"gc"}]"#);
//! # Ok::<(), Error>(())
//! ```

mod chunk;
mod compose;
mod index;
mod input_order;
mod keep;
mod look;
mod observer;
mod scan;
mod sorted;
pub mod trace;

pub use crate::read::{ChunkStart, InputStart, Needs, Starter};
pub use chunk::SealedChunk;
pub use index::EventIndex;
pub use input_order::{InputOrder, InputOrderChunk};
pub use keep::{Elsewhere, Keep, KeepChunk, Nothing};
pub use look::{EventRef, Look};
pub use observer::{Observer, PerInput};
pub use scan::{Scan, Scanned};
pub use sorted::{Factors, Sorted, SortedChunk, TimesOnly, TimesOnlyChunk};
