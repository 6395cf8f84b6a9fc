//! The container of a trace.

/// The container a trace is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `{"traceEvents":[…],"key":value}`
    Object,
    /// `[…]`, which has no room for top-level keys
    Array,
    /// one event per line; a first line `{"tracemill":{…}}` carries the top-level keys
    Ndjson,
}
