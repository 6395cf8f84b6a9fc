//! Rules of Chrome DevTools and Perfetto about traces: essential events, required args, limits of
//! ids, reserved colours.
//!
//! `check` reports violations, `merge --for` repairs them, `slice` and `split` keep essential
//! events, and analyses follow the rules. Sources: the DevTools engine 1.0.1705227 and Perfetto's
//! `trace_processor`.
#![forbid(unsafe_code)]

pub mod color;
pub mod essential;
pub mod ids;
pub mod pages;
pub mod required_args;
