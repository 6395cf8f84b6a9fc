//! Native module of the Python package `tracemill`: runs verbs, and reads events as tables.
//!
//! ```text
//!   tracemill/_verbs.py ─ command-line words ─> verbs ─> tracemill::call ─> JSON, messages
//!   tracemill/_events.py ─ words ─> events ─ open ─> Trace ─> columns ─> stream ─> polars, …
//!   tracemill/_sql.py ─ words ─> sql ─> program ─> Arrow IPC ─> stream ─> polars, …
//! ```
//!
//! Before a wheel is built, `generate.py` writes `_verbs.py`, which has a typed function for each
//! command.
#![forbid(unsafe_code)]

mod columns;
mod errors;
mod events;
mod program;
mod sql;
mod stream;
mod verbs;
mod watched;

/// The native module of the package.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::events::{Events, open_events};
    #[pymodule_export]
    use super::sql::{Rows, open_query, query_text};
    #[pymodule_export]
    use super::verbs::{call, main};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
