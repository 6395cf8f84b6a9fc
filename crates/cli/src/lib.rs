//! The command `tracemill`: flags, messages, reports, exit codes and signals.
//!
//! ```text
//!   args ─> inputs, output, limits ─> commands ─> pipeline ─> report ─> text, JSON ─> exit code
//! ```
//!
//! Standard output carries data only, standard error messages. This is the only crate that prints,
//! exits, or reads the environment; it does not parse traces itself.
//!
//! [`main()`] is the program. [`call`] runs a verb for another program, such as the Python package,
//! and returns what the command would print.
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
use files::RunFiles;
use messages::Messages;
use outcome::exit::{Exit, Failure};
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use tracemill_cpuprofile::ProfileInputs;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::time::windows::TimeWindow;
use tracemill_trace::{Error, Limits, Source};

/// Returns the clap command with all verbs and flags, to generate documentation or bindings from.
pub fn flags() -> clap::Command {
    args::command()
}

/// Runs the program with a command line, whose first word is the program's name.
///
/// Prints to standard output and standard error, installs signal handlers, and returns the exit
/// status.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let command = match parse(&words) {
        Ok(command) => command,
        Err(error) => return messages::usage(&error, &words).code(),
    };
    tracemill_tokenizer::survive_lost_pages();
    silence_lost_temporary();
    let messages = Messages::new(command.verb.messages());
    if let Err(error) = messages::signal::watch() {
        // temporary files without a name are removed all the same
        messages.warning(&format!("cannot watch for signals: {error}"));
    }
    let exit = match run(&command, &messages) {
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

/// A parsed command line and the files that it names.
struct ParsedCommand {
    verb: Verb,
    files: RunFiles,
}

fn parse(words: &[OsString]) -> Result<ParsedCommand, clap::Error> {
    let mut words = words.to_vec();
    // a file name without a verb means `info`
    if words.get(1).is_some_and(is_input) {
        words.insert(1, "info".into());
    }
    let mut matches = Cli::command().try_get_matches_from(words)?;
    let files = RunFiles::of(&matches);
    let mut verb = Cli::from_arg_matches_mut(&mut matches)?.verb;
    verb.take_regions();
    Ok(ParsedCommand { verb, files })
}

/// Whether a word names an existing file and is not a verb.
fn is_input(word: &OsString) -> bool {
    let is_verb =
        || word.to_str().is_some_and(|word| args::command().find_subcommand(word).is_some());
    std::path::Path::new(word).exists() && !is_verb()
}

/// Runs a verb. If a temporary file was lost, its data reads as zeros, so only that loss is
/// reported, whatever the result, error or panic.
fn run(command: &ParsedCommand, messages: &Messages) -> Result<Exit, Failure> {
    command.files.check()?;
    let ended = catch_unwind(AssertUnwindSafe(|| commands::run(&command.verb, messages)));
    tracemill_trace::os::check_temporary()?;
    ended.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Suppresses panic messages caused by a lost temporary file; [`run`] reports that loss.
fn silence_lost_temporary() {
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !tracemill_tokenizer::temporary_lost() {
            say(panic);
        }
    }));
}

/// Runs a verb in this process. The first word is the verb.
///
/// JSON of `--json` and `--report -` and all messages are returned in the answer. Traces and text
/// for people still go to standard output unless `-o` names a file. Of the signal handlers, only
/// the one for lost pages of mapped files is installed; without it a truncated file would end the
/// process.
///
/// # Errors
/// Returns the message that the command would print, with its error class.
pub fn call(words: impl IntoIterator<Item = OsString>, caller: &Caller) -> Result<Answer, Refusal> {
    let command = command(words)?;
    tracemill_tokenizer::survive_lost_pages();
    let exit = run(&command, &Messages::to(caller))?;
    Ok(caller.answer(exit.code()))
}

/// Inputs and limits for a program that reads the events of a trace itself.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Inputs, or the single merged trace of several inputs.
    pub sources: Vec<Source>,
    /// Limits of the run, with the progress counters and cancellation of the caller.
    pub limits: Limits,
    /// Conversion of `.cpuprofile` inputs.
    pub profiles: ProfileInputs,
    /// Requested time windows.
    pub windows: Vec<TimeWindow>,
    /// Messages, in order: changes made by the merge, and earlier losses.
    pub messages: Vec<CallerMessage>,
}

/// Determines inputs and limits from the words of a `merge` command, and parses `windows` like
/// `slice`.
///
/// Several inputs are merged according to the flags, unless the flags keep all names and times. If
/// `refusal` is given, inputs that need a merge are an error.
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

/// Returns one message per input and kind of loss.
pub fn losses(inputs: &[InputReport]) -> Vec<String> {
    messages::loss_texts(inputs)
}

/// Parses a command line that begins with its verb.
fn command(words: impl IntoIterator<Item = OsString>) -> Result<ParsedCommand, Refusal> {
    let words: Vec<OsString> = [OsString::from("tracemill")].into_iter().chain(words).collect();
    parse(&words).map_err(|error| {
        let text = messages::hints::message(&error, &words);
        // functions have no --help
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
