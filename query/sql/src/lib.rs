//! SQL over traces of any size, by DataFusion.
//!
//! ```text
//!   SQL ─ statements ─> plan ─ rules ─> physical plan ─> batches ─ formats ─> output
//!                                            │
//!                        DataSourceExec(TraceSource) ─ opener ─> EventScan (tracemill-arrow)
//! ```
//!
//! * [`session`] has the settings: the PostgreSQL dialect, NULL as the smallest value, the memory limit
//!   and the folder of temporary files.
//! * [`statements`] accepts one SELECT after CREATE VIEW statements, and refuses everything that writes.
//! * [`params`] inserts the values of `--param` in its SQL.
//! * [`rules`] make answers independent of threads: exact averages of integers, a total order of sorted
//!   rows.
//! * [`events`] is the table `events`. Its leaf in a plan is a [`DataSourceExec`], the only leaf that
//!   Ballista divides among tasks.
//! * [`pushdown`] translates conditions of a query to conditions of the scan.
//! * [`formats`] write results.
//!
//! [`DataSourceExec`]: datafusion::datasource::source::DataSourceExec
#![forbid(unsafe_code)]

mod engine;
mod errors;
pub mod events;
pub mod formats;
pub mod params;
pub mod pushdown;
pub mod rules;
pub mod session;
pub mod statements;

pub use engine::SqlEngine;
