//! The program `tracemill-query`: `tracemill` with an engine for SQL.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tracemill::main(std::env::args_os(), Some(&tracemill_sql::SqlEngine)))
}
