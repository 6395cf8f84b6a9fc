//! Trace events to ordered, complete output, in bounded memory.
//!
//! ```text
//!  file ─ map ──┐                                          ┌─ in memory ─> buckets of time ─┐
//!  pipe ─ read ─┼─> scan (SIMD) ─> walk ─> entry: 16 bytes ┤                                ├─> gather ─> output
//!  gz/zst ──────┘    tokenizer            an event, sorted └─ on disk ───> loser tree ──────┘
//! ```
//!
//! [`merge()`], [`info()`], [`filter()`], [`split()`] … are whole verbs; the command line only adds flags and messages. Libraries do not print, exit or
//! read the environment: everything a run needs is in [`Config`], everything it did in its report.
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
//! Several sources make one trace. As it stands equal pids and ids are one, and clocks are as they are; the command
//! asks for [`PidPolicy::Auto`], [`IdPolicy::Auto`] and [`Align::Auto`].
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
//! [`list_profiles`] says what there is and writes nothing. To read a trace event by event, without any output, take
//! `tracemill-tokenizer`.
//!
//! # Inside
//!
//! Every verb reads through [`tracemill_trace::observe`]: `inputs` runs its scan, `input_watch` has the observers of verbs that join several
//! inputs, `input_set` the inputs of an analysis. `patcher` and `event_rewriter` change events as they are written, `emit` and
//! `whole_trace` write them; `in_order` is the second half of verbs that keep the order of their inputs. `index` has the indexes beside
//! traces, `keys` the top-level keys, `annotations` those of DevTools.

mod annotation_drop;
mod annotations;
mod around;
mod async_times;
mod by_index;
mod check;
mod clock;
mod config;
mod convert;
mod dedup;
pub mod drawing;
mod emit;
mod essential;
mod event_rewriter;
mod extract;
mod file_names;
mod filter;
mod fitted;
mod id_set;
mod identity;
mod in_order_writer;
mod index;
mod info;
mod input_set;
mod input_watch;
mod inputs;
mod key_path;
mod keys;
mod layout;
mod merge;
mod merged_keys;
mod merged_scan;
mod numbered_metadata;
mod overlapped_copy;
mod parts;
mod patcher;
mod pattern;
mod read_plan;
mod redact;
mod reordering;
mod repaired_keys;
mod repeated;
mod report;
mod reported_losses;
mod rows;
mod slice;
mod split;
mod stream_watch;
mod streamed_output;
mod viewer;
mod warning;
mod whole_trace;

pub use around::{EventName, Occurrences, find_events};
pub use async_times::{AsyncReport, AsyncTimes, async_times};
pub use by_index::{info, info_with};
pub use check::{
    CheckReport, Finding, FoundAt, FoundEvent, Lack, ReadOn, Severity, check, check_rules, lacking,
    lacking_of, may_lack,
};
pub use config::{
    Align, CheckFor, ClockRules, Config, IdPolicy, IdentityRules, IndexUse, Overlaps, PidPolicy,
    StatedInput, ViewerRules,
};
pub use essential::{CALLS, HIDDEN_THREADS};
pub use extract::{
    ProfileChoice, ProfileInfo, ProfileTarget, ProfilesReport, check_template, extract_profiles,
    list_profiles,
};
pub use file_names::resolved_path;
pub use filter::{ArgsCriterion, Filter};
pub use fitted::join::{JoinedInputs, join};
pub use fitted::verbs::{convert, filter, slice};
pub use id_set::IdSet;
pub use index::{
    DrawnBin, DrawnCount, DrawnIndex, DrawnName, DrawnSpan, DrawnState, DrawnStretch, IndexConfig,
    IndexReport, IndexSection, Reach, has_index, index, index_path,
};
pub use info::{
    Density, Gap, InfoConfig, InfoReport, KeptWindow, ProcessInfo, ProfileCount, RealEvent,
    ThreadInfo, TopList, TopRow, Unended, Usage,
};
pub use input_set::{InputPlace, InputSet, PieceNode, Pieces, ProfileFacts, ProfilePiece};
pub use key_path::{FoundKey, find_key};
pub use merge::{is_plain_name, merge, plan_merge};
pub use merged_scan::{MergeIndex, PendingMerge, scan_to_merge};
pub use pattern::{Glob, Pattern, Preset};
pub use read_plan::{ReadPlan, Unused};
pub use redact::{RedactReport, Redaction, Secret, redact};
pub use report::{
    AnnotationReport, ClockMethod, ConvertReport, Dropped, FilterReport, IdentityReport,
    InputClock, InputIdentity, MergeReport, Present, RunReport, Unmatched, ViewerReport,
};
pub use rows::WrittenId;
pub use slice::SliceReport;
pub use split::{SplitBy, SplitConfig, SplitPart, SplitReport, check_split_template, split};
pub use tracemill_cpuprofile::ChunkOrder;
pub use tracemill_cpuprofile::ProfileInputs;
pub use tracemill_cpuprofile::ProfileSource;
pub use tracemill_tokenizer::{DamageKind, Lapse, Tier};
pub use tracemill_tokenizer::{survive_lost_pages, temporary_lost};
pub use tracemill_trace::event::hash_texts;
pub use tracemill_trace::input::files_in;
pub use tracemill_trace::input::source::{NamedReader, Source};
pub use tracemill_trace::os::check_temporary;
pub use tracemill_trace::os::{stdin, stdout};
pub use tracemill_trace::output::target::{
    Compression, Format, OutputConfig, SharedWriter, Style, Target,
};
pub use tracemill_trace::output::{
    ScratchRemoved, check as check_output, check_not_input, remove_scratch, write_file,
};
pub use tracemill_trace::read::{InputWarning, ProfilePlace};
pub use tracemill_trace::run::around::Around;
pub use tracemill_trace::run::error::{Error, ErrorClass, ErrorKind};
pub use tracemill_trace::run::flaws::{Flaw, FlawKind, Flaws};
pub use tracemill_trace::run::limits::{Cancel, Limits, Progress, Quota, Shares};
pub use tracemill_trace::run::losses::{Example, InputReport, Lapses, Losses, Tally};
pub use tracemill_trace::run::remedy::Remedy;
pub use tracemill_trace::run::words::{grouped, plural, shell_word};
pub use tracemill_trace::time::factor::Factor;
pub use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};
pub use tracemill_trace::time::{Duration, TimePoint, parse_time};
pub use warning::{AnnotationDrop, DEVTOOLS_TEXT_MAX, TimeSpan, Warning};
