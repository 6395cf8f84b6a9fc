//! Reads CPU profiles from traces and `.cpuprofile` files, and writes them as `.cpuprofile`.
//!
//! ```text
//!   trace ─ scan ─> router ─> streams ─ order ─> assemble ─> Profile ─> write ─> .cpuprofile
//!                   (pid, id)  chunks            columns
//!   .cpuprofile ─> events ─> trace text ─> scan ─> like any other trace
//! ```
//!
//! ```
//! use tracemill_trace::{Limits, Source};
//! let text = r#"[{"ph":"P","name":"Profile","pid":7,"tid":8,"id":"0x1","ts":1,"args":{"data":{"startTime":1}}},
//!   {"ph":"P","name":"ProfileChunk","pid":7,"tid":9,"id":"0x1","ts":2,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,
//!   "callFrame":{"functionName":"parse","scriptId":0}}],"samples":[1,1]},"timeDeltas":[5,7]}}}]"#;
//!
//! let limits = Limits::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap, folder for what exceeds them
//! let opened = tracemill_cpuprofile::open(&[Source::bytes("a.json", text)], &limits)?;
//! for profile in opened.profiles()?.iter() {
//!     let profile = profile?;
//!     let hottest = &profile.hot()[0];
//!     println!("{} {}: {} samples, most in {}", profile.pid(), profile.tid(), profile.samples(), hottest.name);
//!     # assert_eq!((&*profile.pid(), &*profile.tid(), profile.samples()), ("7", "8", 2));
//!     assert_eq!((&*hottest.name, hottest.self_ns), ("parse", 7_000));
//! }
//! # Ok::<(), tracemill_trace::Error>(())
//! ```
//!
//! # What is read
//!
//! | event | ph | contents |
//! |---|---|---|
//! | `Profile` | P | pid, id, the sampled thread in `tid`, and the start of the profile in `ts` |
//! | `ProfileChunk` | P | from any thread: `args.data` with `cpuProfile.nodes`, `cpuProfile.samples`, `timeDeltas`, and `lines` or `columns` |
//! | `CpuProfile` | X | a whole profile in `args.data.cpuProfile` |
//!
//! Events belong to the same profile if their pid and id are equal: see [`stream_key`]. Times are
//! nanoseconds, rounded down from the microseconds of the text
//! ([`FlawKind::Rounded`](tracemill_trace::run::flaws::FlawKind::Rounded) counts inexact times).
//! Offsets are byte offsets in the concatenated inputs.
//!
//! Sources: V8 (`CpuProfile::StreamPendingTraceEvents`) for events, the Chrome DevTools Protocol
//! (`Profiler.Profile`) for `.cpuprofile`, and DevTools (`CPUProfileDataModel`, samples handler)
//! for the choice of events, tree and order. Data that DevTools would lose is kept, and the
//! difference is counted.
//!
//! # Damage and memory
//!
//! Damage such as an invalid chunk, a sample without a node, or a negative time step affects only
//! that element. It is counted by kind and offset ([`tracemill_trace::run::flaws`]). A call tree
//! takes about 36 bytes of heap per node; everything else spills to disk beyond its share of
//! [`Limits::memory`](tracemill_trace::Limits::memory).
//!
//! # Modules
//!
//! | module | job |
//! |---|---|
//! | `chunk` | decodes the args of one event into columns, or reads only their times |
//! | `streams` | routes events to streams by (pid, id), orders chunks, collects profiles in parallel |
//! | `tree` | builds one profile with its call tree from chunks |
//! | `write` | writes a profile as `.cpuprofile` |
//! | `events` | converts a `.cpuprofile` to events |
//! | `window` | cuts windows out of a profile, for `slice` |
//! | `profiles` | opens all profiles of a trace: [`open`] |
#![forbid(unsafe_code)]

mod chunk;
mod events;
mod profiles;
mod streams;
mod tree;
mod window;
mod write;

pub use chunk::decoded_chunks::{ChunkRef, DecodedChunks};
pub use chunk::key::{StreamKey, StreamNumbers, push_canonical, stream_key};
pub use chunk::skim::{FARTHEST, Skim, is_far};
pub use chunk::source::ProfileSource;
pub use chunk::text::TextSpan;
pub use chunk::{Chunk, NO_ID};
pub use events::browser::FOR_DEVTOOLS;
pub use events::content;
pub use events::identity::{Identities, Identity, ProfileInputs};
pub use events::inputs::ProfileReader;
pub use profiles::{CpuProfile, HotFunction, ProfiledTrace, Profiles, open};
pub use streams::check::{StreamVerdict, Suspects};
pub use streams::collect::{Collector, PlacedProfile, head_of, source_of};
pub use streams::contents::{Contents, decode_into};
pub use streams::known::{KnownChunk, KnownChunks};
pub use streams::order::{ChunkOrder, chunk_order_lease, order_chunks};
pub use streams::profile_parts::ProfileParts;
pub use streams::router::{Detail, Role, Router};
pub use streams::time_order::StreamOrders;
pub use streams::{ProfileGroup, Streams};
pub use tree::assemble::Assembly;
pub use tree::assembled::text_of;
pub use window::{Cut, cut_streams};
pub use write::write;
