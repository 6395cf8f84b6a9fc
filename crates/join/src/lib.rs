//! Reads several inputs as one trace: decides which inputs belong to one recording, renames pids
//! and ids, and aligns clocks.
//!
//! ```text
//!   inputs ─ scan ─> facts ─┬─> identity: recordings, new names ─┬─> merge
//!                           └─> clock: one time line ────────────┴─> InputSet: analyses, view
//! ```
//!
//! Every command with several inputs decides by the same facts and rules, so a process gets the
//! same pid in all commands.
//!
//! | module | job |
//! |---|---|
//! | [`config`] | limits of a run, and rules for inputs that differ |
//! | [`inputs`] | the scan of a command, and its observers of clocks, processes and streams |
//! | [`identity`] | recordings; pids, ids and stack frames that must be renamed; labels |
//! | [`clock`] | offsets and scales of clocks |
//! | [`input_set`] | inputs of an analysis, with their CPU profiles |
//! | [`read_plan`] | byte ranges to read, found by an index |
//! | [`report`] | reports and warnings of runs |
#![forbid(unsafe_code)]

pub mod clock;
pub mod config;
pub mod identity;
pub mod input_set;
pub mod inputs;
pub mod read_plan;
pub mod report;
