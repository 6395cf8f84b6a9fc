//! The command `tracemill`: flags, messages, reports, exit codes and signals around `tracemill-pipeline`.
//!
//! ```text
//!   args ─> inputs, output, limits ─> commands/* ─> pipeline ─> report ─> messages, JSON ─> exit code
//! ```
//!
//! stdout carries data only, stderr all talk. This is the only crate that prints, exits, or reads the environment; it
//! knows nothing of the bytes of a trace.
//!
//! [`main()`] is the program. [`call`] is for programs that offer its verbs as functions, as the Python package does: what the
//! command would print is handed to the caller.
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
mod caller;
#[cfg(test)]
mod catalogue;
mod commands;
mod exit;
mod files;
mod hints;
mod inputs;
mod manifest;
mod markdown;
mod memory;
mod messages;
mod pointer;
mod progress;
mod remedies;
mod report;
mod signal;
mod similar;
mod size;
mod summary;
mod table;
mod times;
mod whole_file;
mod wrap;

pub use caller::{Answer, Caller, CallerMessage, Refusal};
pub use progress::Stage;
pub use tracemill_trace::run::error::ErrorClass;
pub use tracemill_trace::run::limits::{Cancel, Progress};

use args::{Cli, Verb};
use clap::{CommandFactory, FromArgMatches};
use exit::{Exit, Failure};
use files::RunFiles;
use messages::Messages;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use tracemill_cpuprofile::ProfileInputs;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::time::windows::TimeWindow;
use tracemill_trace::{Error, Limits, Source};

/// The flags of all verbs, for what is made of them: documentation, functions of other languages.
pub fn flags() -> clap::Command {
    args::command()
}

/// Runs the program with these words, the first of which is its name; gives the status to end with. It prints, and watches for
/// signals, which may end the process.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let command = match parse(&words) {
        Ok(command) => command,
        Err(error) => return messages::usage(&error, &words).code(),
    };
    tracemill_tokenizer::survive_lost_pages();
    silence_lost_temporary();
    let messages = Messages::new(command.verb.messages());
    if let Err(error) = signal::watch() {
        // temporary files without a name vanish all the same
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

/// A command line: what to do, and the files that it names.
struct ParsedCommand {
    verb: Verb,
    files: RunFiles,
}

fn parse(words: &[OsString]) -> Result<ParsedCommand, clap::Error> {
    let mut words = words.to_vec();
    // a file alone is asked what it is
    if words.get(1).is_some_and(is_input) {
        words.insert(1, "info".into());
    }
    let mut matches = Cli::command().try_get_matches_from(words)?;
    let files = RunFiles::of(&matches);
    let mut verb = Cli::from_arg_matches_mut(&mut matches)?.verb;
    verb.take_regions();
    Ok(ParsedCommand { verb, files })
}

/// Whether a word is a file, and no verb.
fn is_input(word: &OsString) -> bool {
    let is_verb =
        || word.to_str().is_some_and(|word| args::command().find_subcommand(word).is_some());
    std::path::Path::new(word).exists() && !is_verb()
}

/// Runs a verb. Whatever it ends with, a result or an error that blames an input or a panic, comes of zeros if a temporary file is lost: then only that is told.
fn run(command: &ParsedCommand, messages: &Messages) -> Result<Exit, Failure> {
    command.files.check()?;
    let ended = catch_unwind(AssertUnwindSafe(|| commands::run(&command.verb, messages)));
    tracemill_trace::os::check_temporary()?;
    ended.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Has panics that come of a lost temporary file say nothing: [`run`] tells why.
fn silence_lost_temporary() {
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !tracemill_tokenizer::temporary_lost() {
            say(panic);
        }
    }));
}

/// Runs a verb with these words, the first of which is the verb, on the threads of this process.
///
/// What would go to standard output as JSON (`--json`, `--report -`) is in the answer, what would be said is with it, and nothing is
/// printed; text for people and traces are for standard output all the same, unless `-o` names a file. No handler of a signal is
/// installed but that for pages of mapped files that vanish, without which a file cut short ends the process.
///
/// # Errors
/// What the command would have said, and the class that its status tells.
pub fn call(words: impl IntoIterator<Item = OsString>, caller: &Caller) -> Result<Answer, Refusal> {
    let command = command(words)?;
    tracemill_tokenizer::survive_lost_pages();
    let exit = run(&command, &Messages::to(caller))?;
    Ok(caller.answer(exit.code()))
}

/// What a program reads by itself, which has a use for events that no verb has.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The inputs, or the one trace that a merge makes of several.
    pub sources: Vec<Source>,
    /// What it may take; its progress and its end are the caller's.
    pub limits: Limits,
    /// What `.cpuprofile` inputs become.
    pub profiles: ProfileInputs,
    /// The windows that were asked for.
    pub windows: Vec<TimeWindow>,
    /// What was said, in order: what the merge changed, and what was lost before.
    pub said: Vec<CallerMessage>,
}

/// What words of a `merge`, as for [`call`], say of inputs and limits, and `windows` as `slice` takes them. Several inputs are merged
/// by its flags, unless these leave all names and times as they are written; with a `refusal` that is an error.
///
/// # Errors
/// What the command would have said, and `refusal`.
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
        times::window(text)
            .map_err(|why| Failure::usage(format!("invalid value '{text}' for a window: {why}")))
    };
    let windows = windows.iter().map(window).collect::<Result<_, _>>()?;
    tracemill_tokenizer::survive_lost_pages();
    let (sources, config) = commands::read(&args, refusal, &Messages::to(caller))?;
    let said = caller.answer(0).said;
    Ok(Reading { sources, limits: config.limits, profiles: config.profiles, windows, said })
}

/// What is said of inputs that lost something.
pub fn losses(inputs: &[InputReport]) -> Vec<String> {
    messages::loss_texts(inputs)
}

/// A command line that begins with its verb.
fn command(words: impl IntoIterator<Item = OsString>) -> Result<ParsedCommand, Refusal> {
    let words: Vec<OsString> = [OsString::from("tracemill")].into_iter().chain(words).collect();
    parse(&words).map_err(|error| {
        let text = hints::message(&error, &words);
        // a function has no --help
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
