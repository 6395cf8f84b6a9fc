//! The command `tracemill`: flags, messages, reports, exit codes and signals around `tracemill-pipeline`.
//!
//! ```text
//!   args ─> inputs, output, limits ─> commands/* ─> pipeline ─> report ─> messages, JSON ─> exit code
//! ```
//!
//! stdout carries data only, stderr all talk. This is the only crate that prints, exits, or reads the environment; it
//! knows nothing of the bytes of a trace.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod exit;
mod hints;
mod inputs;
mod manifest;
mod memory;
mod messages;
mod pointer;
mod progress;
mod remedies;
mod report;
mod signal;
mod similar;
mod size;
mod table;
mod times;
mod whole_file;
mod wrap;

use clap::Parser;
use exit::Exit;
use messages::Messages;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return messages::usage(&error).into(),
    };
    tracemill_pipeline::survive_lost_pages();
    cli.verb.take_regions();
    let messages = Messages::new(cli.verb.messages());
    if let Err(error) = signal::watch() {
        // temporary files without a name vanish all the same
        messages.warning(&format!("cannot watch for signals: {error}"));
    }
    let exit = match commands::run(&cli.verb, &messages) {
        Ok(exit) => exit,
        Err(failure) => {
            let exit = Exit::of(&failure);
            if exit != Exit::Complete {
                messages.failure(&failure);
            }
            exit
        }
    };
    exit.into()
}
