//! CPU profiles: out of traces, into traces.
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
//! | event | ph | what it says |
//! |---|---|---|
//! | `Profile` | P | pid, id, and in `tid` the thread that was sampled; its `ts` is where times begin |
//! | `ProfileChunk` | P | from any thread: `args.data` with `cpuProfile.nodes`, `cpuProfile.samples`, `timeDeltas`, and `lines` or `columns` |
//! | `CpuProfile` | X | a whole profile in `args.data.cpuProfile` |
//!
//! Events of one profile have pid and id in common, nothing else: see [`stream_key`]. Text has microseconds with up to any number of digits;
//! here times are nanoseconds, rounded down ([`FlawKind::Rounded`](tracemill_trace::run::flaws::FlawKind::Rounded) counts where that loses
//! something), in the clock of the events. Offsets are bytes among all inputs, which stand behind each other.
//!
//! Where rules come from: the layout of events from V8 (`CpuProfile::StreamPendingTraceEvents`), that of `.cpuprofile` files from the type
//! `Profiler.Profile` of the Chrome DevTools Protocol, and what a profile means (which event counts, which tree, which order) from how
//! DevTools reads one (`CPUProfileDataModel` and its handler of samples). Where we differ, since DevTools would lose something, it is counted.
//!
//! # Damage and memory
//!
//! What is damaged costs what it touches and no more: a chunk that is no JSON, a sample without a node, times that run backwards. Each is
//! counted by kind with its place ([`tracemill_trace::run::flaws`]), the rest of the profile is put together. Memory is bounded: 36 bytes of heap
//! for each node of a call tree, everything else goes to disk beyond its share of [`Limits::memory`](tracemill_trace::Limits::memory).
//!
//! # Modules
//!
//! A `.cpuprofile` becomes the events that V8 would have streamed, on its way in: so every verb takes it, and there is
//! one way to read a profile.
//!
//! | module | job |
//! |---|---|
//! | `chunk` | the args of one event: decoded to columns, skimmed for times, kept within a budget |
//! | `streams` | routes events to streams by (pid, id), puts chunks in order, collects profiles in parallel |
//! | `tree` | chunks to one profile with its call tree |
//! | `write` | a profile to `.cpuprofile` |
//! | `events` | `.cpuprofile` to events |
//! | `window` | windows of a profile, for `slice` |
//! | `profiles` | all profiles of a trace: [`open`] |
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
