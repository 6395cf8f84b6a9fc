//! Trace events to ordered, complete output, in bounded memory.
//!
//! ```text
//!  file ─ map ──┐                                          ┌─ in memory ─> buckets of time ─┐
//!  pipe ─ read ─┼─> scan (SIMD) ─> walk ─> Part: 16 bytes ─┤                                ├─> gather ─> output
//!  gz/zst ──────┘    tokenizer            an event, sorted └─ on disk ───> loser tree ──────┘
//! ```
//!
//! [`merge()`], [`info()`], [`filter()`], [`split()`] … are whole verbs; the command line only adds flags and messages. Libraries do not print, exit or
//! read the environment: everything a run needs is in [`Config`], everything it did in its report.
//!
//! ```
//! use std::sync::Arc;
//! use tracemill_pipeline::*;
//!
//! let folder = tempfile::tempdir()?;
//! let (input, sorted) = (folder.path().join("in.json"), folder.path().join("out.json"));
//! std::fs::write(&input, r#"[{"ph":"i","ts":2},{"ph":"i","ts":1},"#)?; // its producer was killed
//! let output = OutputConfig {
//!     target: Target::File { path: sorted.clone(), replace: false },
//!     format: None,
//!     compression: Compression::None,
//! };
//! let config = Config {
//!     threads: 2,
//!     memory: 64 << 20,
//!     tmp_dir: std::env::temp_dir(),
//!     tier: None,
//!     read_size: 1 << 18,
//!     strict: false,
//!     progress: Arc::new(Progress::default()),
//!     profiles: ProfileInputs::default(),
//!     identity: IdentityRules::default(),
//!     clocks: ClockRules::default(),
//!     viewer: ViewerRules::default(),
//!     shares: None,
//! };
//! let report = merge(&[Source::Path(input)], &output, &config)?;
//! assert_eq!((report.events, report.lost()), (2, 0));
//! assert_eq!(std::fs::read_to_string(sorted)?, "[\n{\"ph\":\"i\",\"ts\":1},\n{\"ph\":\"i\",\"ts\":2}\n]\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Modules in the order in which bytes meet them: `input` (names to bytes), `read` (inputs to findings), `scan` (one
//! file on many cores), `index` (16 bytes an event), `store` (places to bytes), `order` (sorting and spilling), `streams`
//! (CPU profile chunks), `keys` (what stands beside the events), `annotations` (those of DevTools), `copies` (what parts repeat), `emit` (order to bytes), `output` (bytes to disk).
#![forbid(unsafe_code)]

mod annotations;
mod check;
mod clock;
mod config;
mod convert;
mod copies;
mod early;
mod emit;
mod error;
mod exact;
mod filter;
mod identity;
mod ids;
mod index;
mod info;
mod input;
mod json;
mod kept;
mod keys;
mod layout;
mod merge;
mod names;
mod order;
mod outline;
mod output;
mod patched;
mod profile;
mod read;
mod report;
mod scan;
mod slice;
mod splice;
mod split;
mod store;
mod streams;
mod time;
mod viewer;
mod whole;

pub use check::{CheckFor, CheckReport, Finding, FoundAt, Severity, check};
pub use clock::Factor;
pub use config::{
    Align, ClockRules, Compression, Config, Format, IdPolicy, IdentityRules, OutputConfig,
    PidPolicy, ProfileInputs, Progress, Shares, Source, StatedInput, Style, Target,
};
pub use convert::convert;
pub use error::{Error, ErrorClass, ErrorKind};
pub use filter::{Filter, Glob, Pattern, Preset, filter};
pub use ids::IdSet;
pub use info::{
    Density, Gap, InfoConfig, InfoReport, ProcessInfo, ProfileCount, RealEvent, ThreadInfo,
    TopList, TopRow, Usage, info,
};
pub use merge::merge;
pub use output::{remove_scratch, write_file};
pub use profile::{
    ChunkOrder, Flaw, FlawKind, Flaws, ProfileChoice, ProfileInfo, ProfileSource, ProfileTarget,
    ProfilesReport, check_template, extract_profiles, list_profiles,
};
pub use report::{
    AnnotationDrop, AnnotationReport, ClockMethod, ConvertReport, Dropped, Example, FilterReport,
    IdentityReport, InputClock, InputIdentity, InputReport, Losses, MergeReport, Tally, excerpt,
};
pub use slice::{Edges, Moment, SliceReport, TimeWindow, slice};
pub use split::{SplitBy, SplitConfig, SplitPart, SplitReport, check_split_template, split};
pub use time::{Duration, TimePoint, parse_time};
pub use tracemill_tokenizer::{DamageKind, Tier};
pub use viewer::{Overlaps, ViewerReport, ViewerRules};
