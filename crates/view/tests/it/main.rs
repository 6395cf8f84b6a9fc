//! Integration tests of the server: as a function of requests, and over sockets.
#![expect(clippy::unwrap_used, reason = "tests")]

mod answers;
mod causes;
mod flows;
mod fuzzed;
mod indexed;
mod joined;
mod notices;
mod packed;
mod page;
mod routes;
mod slices;
mod socket;
mod support;
mod tiles;
mod viewers;
