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
//! ([`Cancel`](limits::Cancel)) and show how far it is ([`Progress`](limits::Progress)).
//!
//! # Parts
//!
//! Verbs that sort, filter or cut traces are in `tracemill-pipeline`; they are made of these modules, in the order in which
//! bytes meet them:
//!
//! | modules | job |
//! |---|---|
//! | [`source`], [`input`], [`os`] | names to bytes, whatever they are packed in |
//! | [`read`], [`scan`], [`envelope`] | the session: inputs to chunks, on many cores; documents, keys and losses around the events |
//! | [`observe`], [`trace`] | how verbs read: one scan, an index of the events, and observers; a scan that is kept |
//! | [`place`], [`entry`], [`store`] | where events stand: 8 bytes, 16 bytes, and the bytes themselves |
//! | [`spill`], [`order`] | records and events by time, by a key or as they came, in memory or on disk |
//! | [`shift`], [`factor`], [`attos`], [`time`], [`windows`] | times, exactly |
//! | [`event`] | phases, parts of pairs, and which values are equal: what verbs and indexes share |
//! | [`pairing`], [`json`], [`names`], [`patch`] | which end closes which begin; reading and changing the text of events |
//! | [`target`], [`output`], [`draft`] | bytes to where they go, complete or not at all; or to the next run |
//! | [`losses`], [`flaws`], [`tally`], [`around`], [`error`], [`remedy`] | what was lost, what is wrong, and where |
//! | [`limits`], [`threads`] | what a run may take |

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
