//! Computes call trees, bottom-up trees and profile calls of performance traces. The numbers equal
//! those of Chrome DevTools to the last bit.
//!
//! ```text
//!  scan (parallel, 1 pass) ─> records of events, by thread ─┬─> merged ─> tree ─> walk ─> tables
//!          samples of profiles ─> calls, by thread ─────────┘
//! ```
//!
//! [`Trace::read`] reads inputs, and [`Trace::track`] computes the flame chart of a thread. A
//! [`View`] of the flame chart yields its rows ([`View::flame`]). [`View::call_tree`],
//! [`View::bottom_up`] and [`View::log`] yield [`Table`]s of [`TreeRow`]s.
//!
//! [`Trace::choose`] selects threads, and [`Trace::parts`] computes their tables in parallel, one
//! per thread or one for all. [`Table::peek`] and [`Table::heaviest`] answer questions about a call
//! tree.
//!
//! The crates `tracemill-report` and `tracemill-export` build on this crate, and use its public
//! modules.
//!
//! ```
//! use tracemill_analysis::{GroupBy, Per, Picks, Query, ReadRules, Shape, TableRules, ThreadChoice, Trace};
//! use tracemill_pipeline::{Config, Source};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("trace.json");
//! # std::fs::write(&path, r#"[{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000,"dur":5000},
//! #   {"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":2000,"dur":3000}]"#)?;
//!
//! let config = Config::new(2, 256 << 20, std::env::temp_dir()); // threads, bytes of heap
//! let trace = Trace::read(&[Source::Path(path)], ReadRules::default(), &config)?;
//! let query = Query {
//!     shape: Shape::BottomUp { levels: 1 },
//!     by: GroupBy::None,
//!     rules: TableRules::default(),
//!     per: Per::All,
//!     windows: Vec::new(),
//!     picks: Picks::default(),
//!     key: None,
//! };
//! let parts = trace.parts(&trace.choose(&ThreadChoice::default()), &query)?;
//! let rows: Vec<_> = parts[0].table.rows.iter().map(|row| (row.id.clone(), row.own, row.total)).collect();
//! assert_eq!(rows, [("b".to_owned(), 3.0, 3.0), ("a".to_owned(), 2.0, 5.0)]); // milliseconds
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All times are doubles, and sums are added in the order in which DevTools adds them, so the
//! results are equal to the last bit. Where DevTools has a defect, the numbers here are correct,
//! unless `as_devtools` requests the defect ([`ReadRules`], [`TableRules`]).
//!
//! | module | job |
//! |---|---|
//! | `value` | numbers and texts as JavaScript reads them; records, clocks, lists |
//! | `events` | kinds of events, data in `args` (pages, requests, GPUs); producer of the trace |
//! | `profile` | CPU profiles: functions, source maps, call tree, samples, calls |
//! | `entries` | events and calls of a thread as one flame chart, and the walk over it |
//! | `tree` | rows of call trees while they are counted |
//! | `trace` | an opened trace: threads, tracks, profiles, selection of threads |
//! | `names` | how DevTools groups and titles rows |
//! | `read` | the scan: records of 32 bytes per event, by thread and time |
//! | `query` | windows, filters, limits, keys of rows |
//! | `table` | tables of rows, of one thread or merged |
#![forbid(unsafe_code)]

pub mod entries;
pub mod events;
pub mod names;
pub mod profile;
pub mod query;
mod read;
pub mod table;
mod trace;
pub mod tree;
pub mod value;

pub use entries::sorting::Pairs;
pub use events::details::Wanted;
pub use events::entities::Entities;
pub use events::producer::Producer;
pub use events::styles::{names_titled, names_with_categories, title_of};
pub use names::groups::GroupBy;
pub use names::labels::categories;
pub use profile::maps::{MapFault, Mapped, SourceMaps, UnusedMap};
pub use profile::model::Weights;
pub use profile::refusals::Refusal;
pub use query::picks::Picks;
pub use query::rows::{CallRow, FlameRow, Location, TreePath, TreeRow};
pub use query::{Entries, Per, Query, RowKey, RowLimit, RowThreshold, Shape, TableRules};
pub use read::texts::{EventText, event_texts};
pub use table::View;
pub use table::chart::Flame;
pub use table::ordered::{RowOrder, Table};
pub use table::peek::Peek;
pub use table::tree_rows::{TreeRows, TreeRowsIter};
pub use table::united::Part;
pub use trace::choose::ThreadChoice;
pub use trace::uncounted::UncountedProfiles;
pub use trace::{ReadRules, Thread, ThreadKind, Trace, Track, id_text};
pub use tracemill_trace::event::names::Names;
pub use tree::async_callers::AsyncCallers;
pub use value::clock::{Times, Window};
pub use value::matcher::Matcher;
