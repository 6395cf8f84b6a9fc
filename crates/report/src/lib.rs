//! Reports what is slow in a trace, in sections that depend on the producer of the trace. Also
//! compares runs with other runs.
//!
//! ```text
//!  Trace ─┬─ events of pages, devices, compilers ─────> sections ─┐
//!         └─ threads ─ flame chart ─ one walk ─> survey ──────────┴─> Report
//!  Trace ─── threads ─ flame chart ─ one walk ─> Run ─┬─ compare_runs ─> Comparison
//!                                         other runs ─┘
//! ```
//!
//! [`report`] examines the threads of a [`Trace`](tracemill_analysis::Trace). [`Run::of`] sums
//! times by function, and [`compare_runs`] finds the changes that are not due to chance.
//!
//! ```
//! use tracemill_analysis::{ReadRules, TableRules, ThreadChoice, Trace};
//! use tracemill_pipeline::{Config, Source};
//! use tracemill_report::{ReportRules, report};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("trace.json");
//! # std::fs::write(&path, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":50},
//! #   {"ph":"X","name":"b","pid":1,"tid":2,"ts":2000,"dur":9000}]"#)?;
//!
//! let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
//! let trace = Trace::read(&[Source::Path(path)], ReadRules::default(), &config)?;
//! let rules = ReportRules {
//!     rows: 5,
//!     producer: None,
//!     tables: TableRules::default(),
//!     window: None,
//!     devices: Default::default(),
//! };
//! let report = report(&trace, &trace.choose(&ThreadChoice::default()), &rules)?;
//! let rows = report.hot.expect("there are events").table.rows;
//! let hot = rows.get(0).expect("a row");
//! assert_eq!((&*hot.id, hot.own), ("b", 9.0)); // milliseconds
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | job |
//! |---|---|
//! | `sections` | the report: sections of each thread, then of the whole trace |
//! | `survey` | all sections of one thread, from one walk |
//! | `found` | the types of sections |
//! | `web`, `navigations`, `interactions`, `shifts`, `network`, `parties` | pages of Chrome |
//! | `insights` | DevTools' advice for each visit of a page |
//! | `tracks`, `frames`, `timings`, `memory` | tracks of DevTools above the threads |
//! | `tasks`, `reflows`, `blocks` | long tasks, forced layouts, busy times of CPU profiles |
//! | `services`, `by_service` | folders or processes with CPU profiles, compared |
//! | `spread` | durations of single events with the same name |
//! | `bazel`, `compiler`, `gpu` | builds by Bazel and clang, devices of PyTorch |
//! | `why` | causes of the listed events |
//! | `compare` | comparison of runs |
#![forbid(unsafe_code)]

mod bazel;
mod compare;
mod compiler;
mod found;
mod gpu;
mod main_thread;
mod paths;
mod sections;
mod spread;
mod survey;
mod web;
mod why;

pub use compare::{
    Certainty, CompareRules, Comparison, Difference, Judged, MatchBy, Normalize, Pair, Run,
    Verdict, compare_runs,
};
pub use found::ranks::{Collective, Rank, Ranks};
pub use found::services::{Service, Services, SlowService};
pub use found::{
    Blocks, Build, Chain, Compiled, CompiledSource, Costly, Counted, Device, DeviceRules, Devices,
    Header, Kernel, KindTime, Reflow, Reflows, Report, ReportRules, StreamIdle, Stretch, Tasks,
    ThreadSums,
};
pub use sections::report;
pub use spread::Spread;
pub use web::initiated::{ReasonFinder, Reasons, initiated_requests};
pub use web::insights::cache::{Caching, ShortLived};
pub use web::insights::charset::CharacterSet;
pub use web::insights::dom_size::{Dom, DomSize, LargeUpdate};
pub use web::insights::fonts::{FontDisplay, SlowFont};
pub use web::insights::found::{Offender, State};
pub use web::insights::http::ModernHttp;
pub use web::insights::images::{ImageDelivery, LargeImage, Optimization};
pub use web::insights::largest::LcpDiscovery;
pub use web::insights::latency::DocumentLatency;
pub use web::insights::selectors::{Selector, SelectorCosts};
pub use web::insights::viewport::Viewport;
pub use web::insights::{Details, Insight};
pub use web::interactions::Interaction;
pub use web::network::Request;
pub use web::parties::Party;
pub use web::shifts::ShiftCluster;
pub use web::tracks::memory::{CounterChange, PageMemory};
pub use web::tracks::rows::{RowVisit, Track, TrackRow};
pub use web::tracks::{TrackSummary, TrackTotal, track_rows, track_totals};
pub use web::{LargestPaint, LargestParts, Metric, Visit, page_visits};
