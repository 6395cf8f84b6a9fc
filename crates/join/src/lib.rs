//! Several inputs read as one trace: which of them belong to one recording, whose pids and ids change, and by how much clocks move.
//!
//! ```text
//!   inputs ─ scan ─> facts: processes, ids, clocks, CPU profiles ─> identity: recordings, new names ─┬─> merge
//!                                                                ─> clock: one time line ────────────┴─> InputSet: analyses, view
//! ```
//!
//! Every verb of several inputs decides by these facts and rules, so that a process has the same pid in all of them.
//!
//! | module | job |
//! |---|---|
//! | [`config`] | what a run may take, and its rules for inputs that differ |
//! | [`inputs`] | the scan of a verb, and what it observes of each input |
//! | [`identity`] | recordings; pids, ids and stack frames that must be renamed; labels |
//! | [`clock`] | offsets and scales of clocks |
//! | [`input_set`] | inputs of an analysis, with their CPU profiles |
//! | [`read_plan`] | byte ranges that an index says are enough |
//! | [`report`] | reports and warnings of runs |
#![forbid(unsafe_code)]

pub mod clock;
pub mod config;
pub mod identity;
pub mod input_set;
pub mod inputs;
pub mod read_plan;
pub mod report;
