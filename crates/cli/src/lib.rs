//! The command `tracemill`: flags, messages, reports, exit codes and signals.
//!
//! ```text
//!   args ─> inputs, output, limits ─> commands ─> pipeline ─> report ─> text, JSON ─> exit code
//! ```
//!
//! Standard output has only data, and standard error has messages. This crate is the only one that
//! prints, exits or reads the environment. It does not parse traces.
//!
//! [`main()`] runs the program. [`call`] runs a command for another program, such as the Python
//! package, and returns the output that the command would print.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let trace = folder.path().join("trace.json");
//! # std::fs::write(&trace, r#"[{"ph":"i","ts":2},{"ph":"i","ts":1}]"#)?;
//! let caller = tracemill::Caller::default();
//! let words = ["info".into(), "--json".into(), trace.into()];
//! let answer = tracemill::call(words, &caller).map_err(|why| why.text)?;
//! let report: serde_json::Value = serde_json::from_str(&answer.json)?;
//! assert_eq!((&report["events"], &report["sorted"]), (&2.into(), &false.into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod args;
#[cfg(test)]
mod catalogue;
mod commands;
pub mod engine;
mod files;
mod messages;
mod outcome;
mod process;
mod report;
mod text;

pub use messages::progress::Stage;
pub use process::caller::{Answer, Caller, CallerMessage, Refusal};
pub use tracemill_trace::run::error::ErrorClass;
pub use tracemill_trace::run::limits::{Cancel, Progress};

use args::{Cli, Verb};
use clap::{CommandFactory, FromArgMatches};
use commands::{Addresses, Answering};
use engine::QueryEngine;
use files::RunFiles;
use messages::Messages;
use outcome::exit::{Exit, Failure};
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use tracemill_cpuprofile::ProfileInputs;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::time::windows::TimeWindow;
use tracemill_trace::{Error, Limits, Source};

/// Returns the clap command with all flags, from which documentation or bindings can be generated.
pub fn flags() -> clap::Command {
    args::command()
}

/// Runs the program with a command line, whose first word is the program's name. `engine` answers
/// queries; without it, `query` runs the program `tracemill-query`.
///
/// Prints to standard output and standard error, installs signal handlers, and returns the exit
/// status.
pub fn main(words: impl IntoIterator<Item = OsString>, engine: Option<&dyn QueryEngine>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let command = match parse(&words) {
        Ok(command) => command,
        Err(error) => return messages::usage(&error, &words).code(),
    };
    tracemill_tokenizer::survive_lost_pages();
    silence_lost_temporary();
    let messages = Messages::new(command.verb.messages());
    if let Err(error) = messages::signal::watch() {
        // temporary files without a name are removed even without the handler
        messages.warning(&format!("cannot watch for signals: {error}"));
    }
    let answering = engine.map_or(Answering::ByProgram(&words), Answering::Here);
    let exit = match run(&command, &messages, answering) {
        Ok(exit) => exit,
        Err(failure) => {
            let exit = Exit::of(&failure);
            if exit != Exit::Complete {
                messages.failure(&failure);
            }
            exit
        }
    };
    exit.code()
}

/// A parsed command line, and the files that it names.
struct ParsedCommand {
    verb: Verb,
    files: RunFiles,
}

fn parse(words: &[OsString]) -> Result<ParsedCommand, clap::Error> {
    let mut words = words.to_vec();
    // a command line that begins with a file name means `info`
    if words.get(1).is_some_and(is_input) {
        words.insert(1, "info".into());
    }
    let mut matches = Cli::command().try_get_matches_from(words)?;
    let files = RunFiles::of(&matches);
    let mut verb = Cli::from_arg_matches_mut(&mut matches)?.verb;
    verb.take_words();
    Ok(ParsedCommand { verb, files })
}

/// Returns whether a word is an address, or names an existing file and is not a command.
fn is_input(word: &OsString) -> bool {
    let is_verb =
        || word.to_str().is_some_and(|word| args::command().find_subcommand(word).is_some());
    let path = std::path::Path::new(word);
    files::addresses::is_address(path) || path.exists() && !is_verb()
}

/// Runs a command. If a temporary file was damaged, its data reads as zeros. Then only that error
/// is reported, whatever the command returns, even if it panics.
fn run(
    command: &ParsedCommand,
    messages: &Messages,
    answering: Answering<'_>,
) -> Result<Exit, Failure> {
    command.files.check()?;
    let _folder = match commands::open(&command.files, answering, messages)? {
        Addresses::Ended(exit) => return Ok(exit),
        Addresses::Opened(folder) => folder,
    };
    let run = || commands::run(&command.verb, messages, answering);
    let ended = catch_unwind(AssertUnwindSafe(run));
    tracemill_trace::os::check_temporary()?;
    ended.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Suppresses the message of a panic after a temporary file was damaged; [`run`] reports the
/// damage.
fn silence_lost_temporary() {
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !tracemill_tokenizer::temporary_lost() {
            say(panic);
        }
    }));
}

/// Runs a command in this process. The first word is the name of the command.
///
/// The answer has the JSON of `--json` or `--report -`, and all messages. Traces and other text
/// still go to standard output, unless `-o` names a file.
///
/// Only one signal handler is installed: that for lost pages of mapped files. Without the handler,
/// a file that becomes shorter would end the process.
///
/// # Errors
/// Returns the message that the command would print, with its error class.
pub fn call(words: impl IntoIterator<Item = OsString>, caller: &Caller) -> Result<Answer, Refusal> {
    let command = command(words)?;
    tracemill_tokenizer::survive_lost_pages();
    let exit = run(&command, &Messages::to(caller), Answering::ByProgram(&[]))?;
    Ok(caller.answer(exit.code()))
}

/// The inputs and limits for a program that reads the events of a trace by calling this library.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The inputs. Several inputs are merged into one trace.
    pub sources: Vec<Source>,
    /// Limits of the run, including the caller's progress counters and cancellation.
    pub limits: Limits,
    /// Rules by which `.cpuprofile` inputs are converted.
    pub profiles: ProfileInputs,
    /// Requested time windows.
    pub windows: Vec<TimeWindow>,
    /// Messages, in order: changes by the merge, and losses so far.
    pub messages: Vec<CallerMessage>,
}

/// Returns the inputs and limits for the words of a `merge` command. Parses `windows` like the flag
/// of `slice`.
///
/// Several inputs are merged according to the flags, unless the flags keep all names and times.
/// With a `refusal`, inputs that need a merge are an error.
///
/// # Errors
/// Returns the message that the command would print, or `refusal`.
pub fn reading(
    words: impl IntoIterator<Item = OsString>,
    windows: &[String],
    refusal: Option<String>,
    caller: &Caller,
) -> Result<Reading, Refusal> {
    let Verb::Merge(args) = command(words)?.verb else {
        return Err(Failure::usage("only merge says what is read").into());
    };
    let window = |text: &String| {
        text::times::window(text)
            .map_err(|why| Failure::usage(format!("invalid value '{text}' for a window: {why}")))
    };
    let windows = windows.iter().map(window).collect::<Result<_, _>>()?;
    tracemill_tokenizer::survive_lost_pages();
    let (sources, config) = commands::read(&args, refusal, &Messages::to(caller))?;
    let messages = caller.answer(0).messages;
    Ok(Reading { sources, limits: config.limits, profiles: config.profiles, windows, messages })
}

/// Returns a message for each input and each kind of loss.
pub fn losses(inputs: &[InputReport]) -> Vec<String> {
    messages::loss_texts(inputs)
}

/// Parses a command line. The first word is the name of the command.
fn command(words: impl IntoIterator<Item = OsString>) -> Result<ParsedCommand, Refusal> {
    let words: Vec<OsString> = [OsString::from("tracemill")].into_iter().chain(words).collect();
    parse(&words).map_err(|error| {
        let text = messages::hints::message(&error, &words);
        // a caller cannot use the hint about --help
        let lines = text.lines().take_while(|line| !line.starts_with("For more information"));
        let text = lines.collect::<Vec<_>>().join("\n").trim_end().to_owned();
        Refusal { class: ErrorClass::Usage, text }
    })
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Refusal { class: failure.class(), text: messages::failure_text(&failure) }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Failure::from(error).into()
    }
}
