//! The program `tracemill`. All code is in the library, so that other programs can call it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tracemill::main(std::env::args_os(), None))
}
