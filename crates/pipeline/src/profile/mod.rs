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
//! to streams), `kept` (decoded chunks side by side), `order` (chunks in stream order), `tree` and `assemble` (chunks to one profile), `write` (profile to
//! `.cpuprofile`), `events` and `identity` (`.cpuprofile` to events); `collect` and `verbs` are `profile list` and `profile extract`.

mod assemble;
mod browser;
mod check;
mod chunk;
mod collect;
mod column;
mod events;
mod excerpt;
mod flaws;
mod identity;
mod kept;
mod nested;
mod order;
mod rebase;
mod router;
mod skim;
mod tree;
mod verbs;
mod window;
mod write;

pub(crate) use browser::{Started, browser_events};
pub(crate) use check::{ProfileParts, Verdict};
pub(crate) use chunk::Chunk;
pub use chunk::ProfileSource;
pub(crate) use events::{Events, content, is_profile};
pub use flaws::{Flaw, FlawKind, Flaws};
pub(crate) use identity::Identities;
pub(crate) use kept::{ChunkRef, Chunks};
pub use order::ChunkOrder;
pub(crate) use order::settle;
pub(crate) use router::{
    Detail, Names, Role, StreamKey, Streams, decode_into, printable, push_canonical, stream_key,
};
pub use verbs::{
    ProfileChoice, ProfileInfo, ProfileTarget, ProfilesReport, check_template, extract_profiles,
    list_profiles,
};
pub(crate) use window::{Cut, cut_streams};
