//! Events of traces as Arrow columns.
//!
//! ```text
//!   inputs ─ scan workers ─ event ─ EventFilter ─ ColumnBuilder … ─ batches of a chunk ─┐
//!                                                                        in file order  v
//!                                              take(RecordBatch) <─ numbers, utid, upid ┘
//! ```
//!
//! The workers that scan a chunk also build its columns, so the text of an event is read once, while
//! it is in cache. Numbers that depend on earlier chunks (`number`, `utid`, `upid`) are added when a
//! chunk is passed on. Only requested columns are decoded.
//!
//! The schema never depends on the data: `pid` is an integer or null, and `pid_text` has the pid as
//! written. Times are nanoseconds, rounded down. Text is copied, because another process may write to
//! a mapped file. [`plain_batches`] makes text for files and other programs, without views.
//!
//! [`EventScan`] reads events in file order. Programs that read them in another order pass them to
//! [`EventRows`].
//!
//! ```
//! use std::ops::ControlFlow;
//! use tracemill_arrow::{EventColumn, EventScan};
//! use tracemill_join::config::Config;
//! use tracemill_trace::{Limits, Source};
//!
//! let text = r#"[{"ph":"X","ts":5,"dur":1.5,"name":"a"},{"ph":"i","ts":7,"name":"b"}]"#;
//! let config = Config::of(Limits::new(1, 64 << 20, std::env::temp_dir()));
//! let scan = EventScan::new([EventColumn::Name, EventColumn::Duration]);
//! let mut rows = 0;
//! let end = scan.run(&[Source::bytes("a.json", text)], &config, |batch| {
//!     rows += batch.num_rows();
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!((rows, end.inputs[0].events), (2, 2));
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

mod builder;
mod column;
mod filter;
mod plain;
mod rows;
mod scan;
mod text;

pub use column::EventColumn;
pub use filter::{Condition, EventFilter, EventIn, NumberColumn, TextColumn};
pub use plain::{plain_batches, plain_schema};
pub use rows::EventRows;
pub use scan::{EventScan, ScanEnd};
