//! CPU profiles: out of traces, into traces (contract C6).
//!
//! ```text
//!   trace ─ scan ─> router ─> streams ─ order ─> assemble ─> Profile ─> write ─> .cpuprofile
//!                   (pid, id)  chunks            columns
//!   .cpuprofile ─> events ─> trace text ─> scan ─> like any other trace
//! ```
//!
//! A `.cpuprofile` becomes the events that V8 would have streamed, on its way in: so every verb takes it, and there is
//! one way to read a profile. Modules in the order in which bytes meet them: `chunk` (args to columns), `router` (events
//! to streams, on the worker that finds them), `kept` and `contents` (decoded chunks, side by side or made again), `streams`
//! and `gathered` (all streams, and the profiles in them), `series` (places of chunks, on disk beyond the budget), `order`
//! (chunks in stream order), `tree` and `assemble` (chunks to one profile), `write` (profile to `.cpuprofile`), `events` and
//! `identity` (`.cpuprofile` to events); `collect` and `verbs` are `profile list` and `profile extract`; `skim`, `excerpt`,
//! `window` and `rebase` serve slices.
#![forbid(unsafe_code)]

mod assemble;
mod browser;
mod check;
mod chunk;
mod collect;
mod column;
mod contents;
mod events;
mod excerpt;
mod gathered;
mod identity;
mod in_force;
mod inputs;
mod kept;
mod key;
mod names;
mod nested;
mod order;
mod rebase;
mod router;
mod series;
mod skim;
mod streams;
mod time_order;
mod tree;
mod window;
mod write;

pub use assemble::{Keep, text_of};
pub use browser::FOR_DEVTOOLS;
pub use check::{Suspects, Verdict};
pub use chunk::{Chunk, NO_ID, ProfileSource, Text};
pub use collect::{Collector, Whole, head_of, source_of};
pub use contents::{Contents, decode_into};
pub use events::content;
pub use identity::{Identities, Identity, ProfileInputs};
pub use inputs::ProfileReader;
pub use kept::{ChunkRef, Kept};
pub use key::{StreamKey, printable, push_canonical, stream_key};
pub use names::Names;
pub use order::ChunkOrder;
pub use order::{SortSpace, settle};
pub use router::{Detail, Role, Router};
pub use series::{Records, Series, Shelf};
pub use streams::{Group, Room, Streams};
pub use time_order::StreamOrders;
pub use window::{Cut, cut_streams};
pub use write::write;
