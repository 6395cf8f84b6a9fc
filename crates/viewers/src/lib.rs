//! What Chrome DevTools and Perfetto need of a trace: names of events, required args, limits of ids.
//!
//! `check` reports where a trace breaks these rules, `merge --for` repairs it, `slice` and `split` keep what the rules name, and
//! analyses show what DevTools shows. Sources: the DevTools engine 1.0.1705227 and Perfetto's `trace_processor`.
#![forbid(unsafe_code)]

pub mod essential;
pub mod ids;
pub mod pages;
pub mod required_args;
