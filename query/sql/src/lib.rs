//! SQL over traces of any size, by DataFusion.
//!
//! ```text
//!   SQL ─ statements ─> plan ─ rules ─> physical plan ─> batches ─ formats ─> output
//!                                            │
//!                                       leaf ─ TraceScan ─> scans of tracemill-arrow
//! ```
//!
//! * [`session`] has the settings: the PostgreSQL dialect, NULL as the smallest value, the memory limit
//!   and the folder of temporary files.
//! * [`statements`] accepts one SELECT after CREATE VIEW statements, and refuses everything that writes.
//! * [`params`] inserts the values of `--param` in its SQL.
//! * [`rules`] make answers independent of threads: exact averages of integers, a total order of sorted
//!   rows.
//! * [`tables`] has the tables. Each is a [`tables::table::TraceTable`], which says its columns and returns a scan
//!   for some of them.
//! * [`tables::views`] has the views of PerfettoSQL over them.
//! * [`leaf`] is the leaf of a plan: a [`leaf::TraceScan`] that sends batches to the operators.
//! * [`tables::pushdown`] translates conditions of a query to conditions of a scan.
//! * Functions such as `trace_start()` are constants that the planner computes; `extract_arg` becomes
//!   a look into the args of the same row.
//! * [`formats`] write results.
#![forbid(unsafe_code)]

mod engine;
mod errors;
pub mod formats;
mod functions;
pub mod leaf;
pub mod params;
pub mod rules;
pub mod session;
pub mod statements;
pub mod tables;
pub mod traces;

pub use engine::SqlEngine;
