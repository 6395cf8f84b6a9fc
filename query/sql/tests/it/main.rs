//! Tests of SQL over traces: against a second implementation, by laws, and as users run it.
#![allow(clippy::unwrap_used)]

mod formats;
mod laws;
mod params;
mod program;
mod reference;
mod refused;
mod support;
