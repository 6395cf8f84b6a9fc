//! The server from outside: as a function of requests, and over a socket.
#![expect(clippy::unwrap_used, reason = "tests")]

mod flows;
mod fuzzed;
mod indexed;
mod joined;
mod packed;
mod page;
mod routes;
mod slices;
mod socket;
mod support;
mod tiles;
mod told;
mod viewers;
