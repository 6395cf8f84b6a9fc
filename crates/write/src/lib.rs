//! Writes ordered events as a complete trace.
//!
//! ```text
//!   order, lists ─> batches ─> patches: changes of events ────┐
//!   documents ────> keys, annotations ────────────────────────┼─ layout ─> output
//!   streams that time order would break ─> reordering ────────┘
//! ```
//!
//! | module | job |
//! |---|---|
//! | [`layout`] | formats: text around and between events |
//! | [`keys`] | top-level keys of all documents, merged |
//! | [`annotations`] | DevTools' annotations, which refer to events by index |
//! | [`patch`] | changes in events as they are written |
//! | [`reordering`] | CPU profile chunks that are delayed |
//! | [`emit`] | batches, gathered by several threads at once |
//! | [`trace_writer`] | the plan of an output, and its writer |
//! | [`in_order`] | the writer of commands that keep the order of their inputs |
//! | [`file_names`] | file names from templates |
#![forbid(unsafe_code)]

pub mod annotations;
pub mod emit;
pub mod file_names;
pub mod in_order;
pub mod keys;
pub mod layout;
pub mod patch;
pub mod reordering;
pub mod trace_writer;
