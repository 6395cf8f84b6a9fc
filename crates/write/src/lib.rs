//! Events in their order to a complete trace.
//!
//! ```text
//!   order, lists ─> batches ─> patch: what changes in events ─┐
//!   documents ────> keys, annotations ────────────────────────┼─ layout ─> output
//!   streams that time order would tear ─> reordering ─────────┘
//! ```
//!
//! | module | job |
//! |---|---|
//! | [`layout`] | formats: what is around and between events |
//! | [`keys`] | top-level keys of all documents, merged |
//! | [`annotations`] | annotations of DevTools, which name events by number |
//! | [`patch`] | changes in events as they are written |
//! | [`reordering`] | chunks of CPU profiles that wait for their predecessors |
//! | [`emit`] | batches, gathered by several threads at once |
//! | [`trace_writer`] | the plan of an output, and its writer |
//! | [`in_order`] | the writer of verbs that keep the order of their inputs |
//! | [`file_names`] | names of files by templates |
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
