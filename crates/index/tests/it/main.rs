//! Tests of the index format through its public interface.
#![expect(clippy::unwrap_used, reason = "tests")]

mod bytes;
mod fingerprints;
mod forged;
mod naive;
