//! What the Python package `tracemill` is made of: the command, its verbs as calls, and events as tables.
//!
//! ```text
//!   tracemill/_verbs.py ─ words of a command line ─> verbs ─> tracemill::call ─> JSON, messages
//!   tracemill/_events.py ─ words ─> events ─ open ─> Trace ─> rows ─> Arrow batches ─> polars, pandas, pyarrow, duckdb
//! ```
//!
//! `generate.py` writes `_verbs.py`, the verbs as functions with typed keywords, from the command's flags before a wheel is built.
#![forbid(unsafe_code)]

mod errors;
mod events;
mod rows;
mod verbs;
mod watched;

/// The part of the package that is not Python.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::events::{Events, open_events};
    #[pymodule_export]
    use super::verbs::{call, main};

    /// That of the command.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
