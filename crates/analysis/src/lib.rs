//! Call trees, bottom-up and profile calls of performance traces, with the numbers of Chrome DevTools to the bit.
//!
//! ```text
//!  scan (parallel, 1 pass) ─> 32 bytes an event, by thread, sorted ─> calls of samples ─> merged ─> nested ─> walk ─> tables
//! ```
//!
//! [`Trace::read`] reads inputs; [`Trace::track`] makes a thread's flame chart; a [`View`] of it gives its rows
//! ([`View::flame`]), [`View::call_tree`], [`View::bottom_up`] and [`View::log`] as [`Table`]s of [`TreeRow`]s.
//!
//! [`Trace::choose`] and [`Trace::parts`] do that for many threads side by side, each with a table of its own or all with one;
//! [`Table::peek`] and [`Table::heaviest`] answer questions about a call tree; [`Trace::export`] writes it for other programs.
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
//! All times are doubles, and every sum is made in the order in which DevTools makes it: so the numbers are its own, to the last
//! bit. Where DevTools has a defect ours is right unless `as_devtools` asks for the defect ([`ReadRules`], [`TableRules`]).
//!
//! Modules in the order in which bytes meet them: `facts` (events to `record`s; `asked` is once a kind), `bounds` (from when to when), `producer` (whose rules decide that), `details` (what `args` say), `meta` (names and
//! pages), `sorting` (by thread and time; B and E), `functions`, `raw`, `model` and `samples` (a profile), `calls`, `frames` and `made` (samples to calls), `entries` (the flame chart), `walk`,
//! `maps` (functions as their sources have them), `views` and `tree` (rows), `groups`, `styles` and `entities` (what DevTools calls them), `query`, `picks`, `stretches`, `modifications`, `hiding`, `ignored` and `opening` (what counts), `rows`, `tree_rows`, `ordered`, `counts`, `table`, `united` and `parts`, `clock` (in which unit) and `placing`, `refusals` and `refused` (what DevTools does not open),
//! `written` (calls as events), `export` (trees for other programs), `perfetto` (traces for Perfetto), `picture` (trees to be looked at), `compare` (runs against runs),
//! `report` (what is slow; of the scan `counters`, `pages`, `compiled`, `devices` and `reflows`), `images` (what URLs they are of).
//! `space` is what lists have of the budget.
#![forbid(unsafe_code)]

mod compare;
mod entries;
mod events;
mod export;
mod maps;
mod names;
mod perfetto;
mod picture;
mod profile;
mod proto;
mod query;
mod read;
mod report;
mod table;
mod trace;
mod tree;
mod value;

pub use compare::{
    Certainty, CompareRules, Comparison, Difference, Judged, MatchBy, Normalize, Pair, Run,
    Verdict, compare_runs,
};
pub use entries::sorting::Pairs;
pub use events::details::Wanted;
pub use events::entities::Entities;
pub use events::producer::Producer;
pub use events::styles::{names_titled, title_of};
pub use export::{Export, ExportForm, Exported};
pub use maps::{MapFault, Mapped, SourceMaps, UnusedMap};
pub use names::groups::GroupBy;
pub use perfetto::{Perfetto, PerfettoDraft};
pub use picture::{ChangeRules, Drawn, Order, Picture, PictureRules};
pub use profile::model::Weights;
pub use profile::refusals::Refusal;
pub use query::picks::Picks;
pub use query::rows::{CallRow, FlameRow, Location, TreePath, TreeRow};
pub use query::{Entries, Per, Query, RowKey, RowLimit, RowThreshold, Shape, TableRules};
pub use report::{
    Blocks, Build, Chain, Compiled, CompiledSource, Costly, Counted, Device, DeviceRules, Devices,
    Header, Interaction, Kernel, KindTime, LargestPaint, LargestParts, Party, Reflow, Reflows,
    Report, ReportRules, Request, ShiftCluster, Spread, StreamIdle, Stretch, Tasks, ThreadSums,
    Told, Visit,
};
pub use table::View;
pub use table::chart::Flame;
pub use table::ordered::{RowOrder, Table};
pub use table::peek::Peek;
pub use table::tree_rows::{TreeRows, TreeRowsIter};
pub use table::united::Part;
pub use table::written::WrittenCalls;
pub use trace::choose::ThreadChoice;
pub use trace::uncounted::UncountedProfiles;
pub use trace::{ReadRules, Thread, ThreadKind, Trace, Track, id_text};
pub use tracemill_trace::event::names::Names;
pub use value::clock::{Times, Window};
pub use value::matcher::Matcher;
