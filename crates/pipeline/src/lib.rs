//! The commands that write traces: merge, split, slice, filter, convert, redact, and the extraction
//! of CPU profiles.
//!
//! ```text
//!  file ─ map ──┐                                   ┌─ memory ─> time buckets ─┐
//!  pipe ─ read ─┼─> scan (SIMD) ─> walk ─> entries ─┤                          ├─ gather ─> output
//!  gz/zst ──────┘   (tokenizer)          16 bytes   └─ disk ─> loser tree ─────┘
//! ```
//!
//! [`merge()`], [`filter()`], [`split()`] … are complete commands; the command line adds flags and
//! messages. Libraries do not print, exit or read the environment: [`Config`] has all options of a
//! run, and the report of the run has all results.
//!
//! # Sort, merge
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use tracemill_pipeline::{Config, OutputConfig, Source, merge};
//! # let folder = tempfile::tempdir()?;
//! # let (a, b) = (folder.path().join("a.json"), folder.path().join("b.json"));
//! # std::fs::write(&a, r#"[{"ph":"i","ts":2},"#)?; // its producer was killed
//! # std::fs::write(&b, r#"[{"ph":"i","ts":1}]"#)?;
//!
//! let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
//! let sorted = Arc::new(Mutex::new(Vec::new())); // OutputConfig::file(path) makes a file
//! let output = OutputConfig::writer(Arc::clone(&sorted));
//! let report = merge(&[Source::Path(a), Source::Path(b)], &output, &config)?;
//! assert_eq!((report.run.events, report.run.lost()), (2, 0));
//! assert_eq!(*sorted.lock().unwrap(), b"[\n{\"ph\":\"i\",\"ts\":1},\n{\"ph\":\"i\",\"ts\":2}\n]\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! By default equal pids and ids are the same and clocks are unchanged. The command line uses
//! [`PidPolicy::Auto`], [`IdPolicy::Auto`] and [`Align::Auto`].
//!
//! # Collect CPU profiles
//!
//! ```
//! use tracemill_pipeline::{Config, ProfileChoice, ProfileTarget, Source, extract_profiles};
//! # let folder = tempfile::tempdir()?;
//! # let (trace, dir) = (folder.path().join("trace.json"), folder.path().join("profiles"));
//! # std::fs::write(&trace, r#"[{"ph":"P","name":"Profile","pid":7,"tid":8,"id":"0x1","ts":1,"args":{"data":{"startTime":1}}},
//! #   {"ph":"P","name":"ProfileChunk","pid":7,"tid":9,"id":"0x1","ts":2,"args":{"data":{"cpuProfile":{"nodes":
//! #   [{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}}],"samples":[1,1]},"timeDeltas":[5,5]}}}]"#)?;
//!
//! let config = Config::new(2, 64 << 20, std::env::temp_dir());
//! let target = ProfileTarget::Folder { dir, template: None, replace: false, reserved: None };
//! let report = extract_profiles(&[Source::Path(trace)], &ProfileChoice::default(), &target, &config)?;
//! for profile in &report.profiles {
//!     assert_eq!((&*profile.pid, &*profile.tid, profile.samples), ("7", "8", 2));
//!     assert!(profile.file.as_ref().is_some_and(|file| file.exists())); // CPU.….7.8.001.cpuprofile
//! }
//! # assert_eq!(report.profiles.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`list_profiles`] writes nothing. To read a trace event by event, use `tracemill-tokenizer`.
//!
//! # Inside
//!
//! | module | job |
//! |---|---|
//! | `merge` | several traces to one, in named steps |
//! | `split`, `slice`, `filter`, `convert`, `redact`, `extract` | one command each |
//! | `for_viewer` | changes for DevTools or Perfetto |
//! | `fitted` | other commands for a viewer or with several inputs |
//! | `repeated` | events that parts of a split repeat, and equal metadata events |
//!
//! Commands read through [`tracemill_trace::observe`] and write through `TraceWriter` of
//! `tracemill-write`.
#![forbid(unsafe_code)]

mod convert;
mod extract;
mod filter;
mod fitted;
mod for_viewer;
mod merge;
mod redact;
mod repeated;
mod slice;
mod split;

pub use extract::{
    ProfileChoice, ProfileInfo, ProfileTarget, ProfilesReport, check_template, extract_profiles,
    list_profiles, profiles_planned,
};
pub use filter::{ArgsCriterion, EventList, EventLister, Filter, ListedBy, ListedEvent};
pub use fitted::join::{JoinedInputs, join};
pub use fitted::verbs::{convert, filter, slice, slice_planned};
pub use merge::merged_scan::{MergeIndex, PendingMerge, scan_to_merge};
pub use merge::{is_plain_name, merge, plan_merge};
pub use redact::{RedactReport, Redaction, Secret, redact};
pub use slice::{SliceReport, SliceRun};
pub use split::{SplitBy, SplitConfig, SplitPart, SplitReport, check_split_template, split};
// re-exports for callers of the commands
pub use tracemill_join::config::{
    Align, CheckFor, Config, IdPolicy, Overlaps, PidPolicy, ViewerRules,
};
pub use tracemill_join::report::{ConvertReport, FilterReport, MergeReport, RunReport};
pub use tracemill_trace::output::target::{Compression, Format, OutputConfig, Style};
pub use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};
pub use tracemill_trace::{Error, ErrorKind, Limits, Source};
