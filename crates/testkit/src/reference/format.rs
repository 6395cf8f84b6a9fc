//! Container formats of traces.

/// The container format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `{"traceEvents":[…],"key":value}`.
    Object,
    /// `[…]`, which cannot hold top-level keys.
    Array,
    /// One event per line; a first line `{"tracemill":{…}}` holds the top-level keys.
    Ndjson,
}
