//! The program; all of it is in the library, which other programs call.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tracemill::main(std::env::args_os()))
}
