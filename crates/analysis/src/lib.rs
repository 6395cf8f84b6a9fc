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

mod asked;
mod bounds;
mod call_rows;
mod calls;
mod chart;
mod choose;
mod clock;
mod compare;
mod compiled;
mod counters;
mod counts;
mod details;
mod devices;
mod entities;
mod entries;
mod export;
mod facts;
mod frames;
mod functions;
mod groups;
mod hiding;
mod ignored;
mod images;
mod kinds;
mod labels;
mod lacks;
mod made;
mod maps;
mod matcher;
mod meta;
mod model;
mod modifications;
mod opening;
mod ordered;
mod pages;
mod parts;
mod peek;
mod perfetto;
mod picks;
mod picture;
mod placing;
mod producer;
mod profiles;
mod proto;
mod query;
mod raw;
mod read;
mod reading;
mod record;
mod reflows;
mod refusals;
mod refused;
mod report;
mod requests;
mod rows;
mod samples;
mod sorting;
mod space;
mod stretches;
mod styles;
mod table;
mod trace;
mod tree;
mod tree_rows;
mod uncounted;
mod united;
mod urls;
mod value;
mod views;
mod walk;
mod written;

pub use chart::Flame;
pub use choose::ThreadChoice;
pub use clock::{Times, Window};
pub use compare::{
    Certainty, CompareRules, Comparison, Difference, Judged, MatchBy, Normalize, Pair, Run,
    Verdict, compare_runs,
};
pub use details::Wanted;
pub use entities::Entities;
pub use export::{Export, ExportForm, Exported};
pub use groups::GroupBy;
pub use maps::{MapFault, Mapped, SourceMaps, UnusedMap};
pub use matcher::Matcher;
pub use model::Weights;
pub use ordered::{RowOrder, Table};
pub use peek::Peek;
pub use perfetto::{Perfetto, PerfettoDraft};
pub use picks::Picks;
pub use picture::{ChangeRules, Drawn, Order, Picture, PictureRules};
pub use producer::Producer;
pub use query::{Entries, Per, Query, RowKey, RowLimit, RowThreshold, Shape, TableRules};
pub use refusals::Refusal;
pub use report::{
    Blocks, Build, Chain, Compiled, CompiledSource, Costly, Counted, Device, DeviceRules, Devices,
    Header, Interaction, Kernel, KindTime, LargestPaint, LargestParts, Party, Reflow, Reflows,
    Report, ReportRules, Request, ShiftCluster, Spread, StreamIdle, Stretch, Tasks, ThreadSums,
    Told, Visit,
};
pub use rows::{CallRow, FlameRow, Location, TreePath, TreeRow};
pub use sorting::Pairs;
pub use styles::{names_titled, title_of};
pub use table::View;
pub use trace::{ReadRules, Thread, ThreadKind, Trace, Track, id_text};
pub use tracemill_trace::event::names::Names;
pub use tree_rows::{TreeRows, TreeRowsIter};
pub use uncounted::UncountedProfiles;
pub use united::Part;
pub use written::WrittenCalls;
