//! Opens traces: reads inputs of any size and indexes their events. Provides the building blocks of
//! tracemill's commands.
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
//! Libraries do not print, exit or read the environment. [`Limits`] holds the resources of a run,
//! its [`Cancel`](run::limits::Cancel) flag and its [`Progress`](run::limits::Progress) counters.
//!
//! # Modules
//!
//! Commands that sort, filter or cut traces are in `tracemill-pipeline`. They use these modules, in
//! the order of the data flow:
//!
//! | module | job |
//! |---|---|
//! | [`os`] | maps, files, descriptors |
//! | [`run`] | limits, threads, cancelling; errors, losses, remedies |
//! | [`input`] | opens sources: files, pipes, gzip, zstd |
//! | [`read`] | scans inputs in chunks on all cores |
//! | [`event`] | phases, pairs, names, metadata; top-level keys; JSON checks |
//! | [`observe`] | how commands read: one scan, an index, observers; [`Trace`] |
//! | [`store`] | positions of events, and the bytes of all inputs |
//! | [`spill`], [`order`] | records and events, sorted in memory or on disk |
//! | [`time`] | exact times, factors, offsets, windows, bounds |
//! | [`json`] | members and values in the text of events, and patches |
//! | [`output`] | outputs that appear complete or not at all |

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
