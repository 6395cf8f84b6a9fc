//! An opened trace: inputs of any size, their events in order, and what whole verbs are made of.
//!
//! ```
//! use tracemill_trace::{EventOrder, Limits, Source, Trace};
//! use tracemill_tokenizer::Field;
//! let text = r#"[{"ph":"X","ts":7,"dur":2,"tid":1,"name":"b"},{"ph":"X","ts":5,"dur":1,"tid":2,"name":"a"},"#;
//!
//! let limits = Limits::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap, folder for what exceeds them
//! let trace = Trace::open(&[Source::bytes("a.json", text)], &limits)?; // or Source::Path, Source::reader, Source::Stdin
//! for event in trace.events(EventOrder::Time) {
//!     println!("{:?} {:?}", event.fields().ts(), event.fields().field(Field::Name));
//! }
//! let from_six: Vec<u64> = trace.events(EventOrder::Time).within(6_000..i64::MAX).map(|e| e.offset).collect();
//! assert_eq!((trace.len(), trace.threads().len(), trace.span(), from_six), (2, 2, Some((5_000, 7_000)), vec![1]));
//! # Ok::<(), tracemill_trace::Error>(())
//! ```
//!
//! Libraries do not print, exit or read the environment: what a run may take is in [`Limits`], which also end it
//! ([`Cancel`](run::limits::Cancel)) and show how far it is ([`Progress`](run::limits::Progress)).
//!
//! # Modules
//!
//! Verbs that sort, filter or cut traces are in `tracemill-pipeline`. They are made of these modules, in the order in which
//! bytes meet them:
//!
//! | module | job |
//! |---|---|
//! | [`os`] | maps, files, descriptors: what differs between systems |
//! | [`run`] | limits, threads and cancelling of a run; errors, losses, remedies |
//! | [`input`] | sources to bytes: files, pipes, gzip, zstd |
//! | [`read`] | the session: inputs to chunks on many cores; chunks are scanned on guesses that the chunk before proves |
//! | [`event`] | phases, pairs, names, metadata; documents with their top-level keys; the proof that an event is JSON |
//! | [`observe`] | how verbs read: one scan, an index of the events, and observers; [`Trace`], a scan that is kept |
//! | [`store`] | where events are: a place has 8 bytes, an entry 16, and the store has the bytes |
//! | [`spill`], [`order`] | records and events by time, by a key or as they came, in memory or on disk |
//! | [`time`] | exact times, factors, shifts, windows, bounds |
//! | [`json`] | members and values in the text of events, and patches of it |
//! | [`output`] | targets, drafts; bytes to where they go, complete or not at all |

pub mod event;
pub mod input;
pub mod json;
pub mod observe;
pub mod order;
pub mod os;
pub mod output;
pub mod read;
pub mod run;
pub mod spill;
pub mod store;
pub mod time;

pub use input::source::Source;
pub use observe::trace::{EventOrder, Events, Thread, Trace, TraceEvent};
pub use run::error::{Error, ErrorKind};
pub use run::limits::Limits;
