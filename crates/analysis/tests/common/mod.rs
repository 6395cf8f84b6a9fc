//! Helpers for the tests of analysis, report and export.
#![allow(dead_code, reason = "each of these crates uses a part")]

pub(crate) mod engine;
pub(crate) mod files;
pub(crate) mod idle;
pub(crate) mod many_rows;
pub(crate) mod random;
pub(crate) mod recordings;
pub(crate) mod tables;
