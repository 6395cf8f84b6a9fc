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
//!
//! # Other tables
//!
//! A [`RowScan`] makes the rows of another table from the requested columns of it:
//!
//! | scan | rows |
//! |---|---|
//! | [`SliceScan`] | intervals of threads and async operations, with depth, parent and self time |
//! | [`FlowScan`] | arrows between slices |
//! | [`InstantScan`] | events without duration |
//! | [`CounterScan`], [`CounterTrackScan`] | values of counters; the counters |
//! | [`ThreadScan`] | threads or processes, with names and totals |
//!
//! ```
//! use std::ops::ControlFlow;
//! use tracemill_arrow::{RowScan, SLICE_COLUMNS, SliceScan, TraceInputs};
//! use tracemill_join::config::Config;
//! use tracemill_trace::{Limits, Source};
//!
//! let text = r#"[{"ph":"B","ts":5,"name":"a"},{"ph":"X","ts":6,"dur":1},{"ph":"E","ts":9}]"#;
//! let config = Config::of(Limits::new(1, 64 << 20, std::env::temp_dir()));
//! let sources = [Source::bytes("a.json", text)];
//! let inputs = TraceInputs { sources: &sources, places: &[], config: &config };
//! let named = |name: &str| *SLICE_COLUMNS.iter().find(|column| column.name == name).unwrap();
//! let scan = SliceScan::new(vec![named("dur"), named("depth")], Vec::new());
//! let mut rows = 0;
//! scan.run(&inputs, &mut |batch| {
//!     rows += batch.num_rows();
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(rows, 2);
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

mod builder;
mod column;
mod counters;
mod filter;
mod flow;
mod input;
mod instants;
mod plain;
mod rows;
mod scan;
mod slice;
mod table;
mod text;
mod threads;
mod tracks;

pub use column::EventColumn;
pub use counters::{
    COUNTER_COLUMNS, COUNTER_TRACK_COLUMNS, CounterColumn, CounterScan, CounterTrackColumn,
    CounterTrackScan, CounterTrackValue, CounterValue,
};
pub use filter::{Condition, EventFilter, EventIn, NumberColumn, TextColumn};
pub use flow::{FLOW_COLUMNS, FlowColumn, FlowScan, FlowValue};
pub use input::IDS_PER_INPUT;
pub use instants::{INSTANT_COLUMNS, InstantColumn, InstantScan, InstantValue};
pub use plain::{plain_batches, plain_schema};
pub use rows::EventRows;
pub use scan::{EventScan, ScanEnd, TakeBatch};
pub use slice::{SLICE_COLUMNS, SliceColumn, SliceScan, SliceValue};
pub use table::{ColumnType, RowScan, TableColumn, TraceInputs};
pub use threads::{PROCESS_COLUMNS, THREAD_COLUMNS, ThreadColumn, ThreadScan, ThreadValue};
pub use tracks::TrackKind;
