//! Tests of SQL over traces: against a second implementation, by laws, and as users run it.
#![allow(clippy::unwrap_used)]

mod analysed;
mod args;
mod convert;
mod facts;
mod flows;
mod formats;
mod indexed;
mod laws;
mod mutated;
mod params;
mod program;
mod reference;
mod refused;
mod remote;
mod slices;
mod support;
mod threads;
mod traces;
