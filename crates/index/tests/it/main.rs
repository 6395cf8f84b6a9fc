//! The format from outside: what is written is read, and nothing else is.
#![expect(clippy::unwrap_used, reason = "tests")]

mod bytes;
mod fingerprints;
mod forged;
mod naive;
