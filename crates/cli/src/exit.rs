//! How a run ends: the one table of exit codes, and the failures they are made from.

use crate::remedies;
use std::{fmt, io};
use tracemill_trace::Error;
use tracemill_trace::run::around::Around;
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::losses::InputReport;

/// The status a run ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done and nothing lost, or the reader of the output wanted no more.
    Complete,
    /// Finished, but something was lost, or written that is not JSON, or nothing was found that was asked for.
    Lossy,
    /// Called wrongly; nothing was read or written.
    Usage,
    /// An input cannot be used, or `--strict` met a defect.
    Input,
    /// The system failed, or the memory budget is impossible.
    System,
    /// A limit of `--fail-on` is broken.
    Broken,
    /// SIGINT.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// What a program that was recorded ended with.
    Program(u8),
}

impl Exit {
    /// The status of a run that failed.
    pub(crate) fn of(failure: &Failure) -> Exit {
        match failure {
            // as shells have it
            Failure::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Exit::Program(127)
            }
            Failure::Start { .. } => Exit::Program(126),
            _ => match failure.class() {
                ErrorClass::Usage => Exit::Usage,
                ErrorClass::Input => Exit::Input,
                ErrorClass::System => Exit::System,
                // who closed the pipe has what it wanted
                ErrorClass::BrokenPipe => Exit::Complete,
                ErrorClass::Cancelled => Exit::Interrupted,
            },
        }
    }

    /// The status of a run that finished, having lost `lost` pieces.
    pub(crate) fn finished(lost: u64) -> Exit {
        if lost == 0 { Exit::Complete } else { Exit::Lossy }
    }

    /// This status, but 1 instead of 0 if nothing was found that was asked for.
    pub(crate) fn unless_empty(self, is_empty: bool) -> Exit {
        if self == Exit::Complete && is_empty { Exit::Lossy } else { self }
    }

    /// The status of a run that wrote a trace of `inputs`, having lost `lost` pieces: complete says that it is JSON.
    pub(crate) fn written(lost: u64, inputs: &[InputReport]) -> Exit {
        Exit::finished(lost + inputs.iter().map(|input| input.lapses.kept()).sum::<u64>())
    }

    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Complete => 0,
            Exit::Lossy => 1,
            Exit::Usage => 2,
            Exit::Input => 3,
            Exit::System => 4,
            Exit::Broken => 5,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
            Exit::Program(code) => code,
        }
    }
}

/// Why a run could not finish.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Called wrongly.
    Usage(String),
    /// The list of `--files-from` cannot be read.
    List {
        /// Its name.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A report, or the text of `info`, cannot be written.
    Write {
        /// Its name.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A program cannot be started.
    Start {
        /// Its name.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The pipeline failed.
    Run(Error),
}

impl Failure {
    /// Called wrongly.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Failure::Usage(text.into())
    }

    /// Whether the user, the input or the system is at fault.
    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Failure::Usage(_) => ErrorClass::Usage,
            Failure::List { .. } => ErrorClass::Input,
            Failure::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                ErrorClass::BrokenPipe
            }
            Failure::Write { .. } | Failure::Start { .. } => ErrorClass::System,
            Failure::Run(error) => error.class(),
        }
    }

    /// The bytes around the place that it is about.
    pub(crate) fn around(&self) -> Option<&Around> {
        match self {
            Failure::Run(error) => error.around(),
            _ => None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Run(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) => f.write_str(text),
            Failure::List { path, source } => {
                write!(f, "cannot read the list of files {path}: {source}")
            }
            Failure::Write { path, source } if source.kind() == io::ErrorKind::NotFound => {
                write!(f, "cannot write {path}: its folder does not exist")
            }
            Failure::Write { path, source } => write!(f, "cannot write {path}: {source}"),
            Failure::Start { program, source } => write!(f, "cannot start {program}: {source}"),
            Failure::Run(error) => {
                let remedy = error.remedy().map_or_else(String::new, remedies::of);
                write!(f, "{error}{remedy}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_trace::ErrorKind;

    fn run(kind: ErrorKind) -> Exit {
        Exit::of(&Failure::Run(kind.into()))
    }

    #[test]
    fn numbers_are_those_of_the_contract() {
        let all = [
            (Exit::Complete, 0),
            (Exit::Lossy, 1),
            (Exit::Usage, 2),
            (Exit::Input, 3),
            (Exit::System, 4),
            (Exit::Broken, 5),
            (Exit::Interrupted, 130),
            (Exit::Terminated, 143),
        ];
        for (exit, code) in all {
            assert_eq!(exit.code(), code, "{exit:?}");
        }
    }

    #[test]
    fn every_failure_has_its_status() {
        let path = || "a.json".to_owned();
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(run(ErrorKind::OutputExists { path: path() }), Exit::Usage);
        assert_eq!(run(ErrorKind::OutputIsInput { path: path() }), Exit::Usage);
        assert_eq!(run(ErrorKind::Read { input: path(), source: denied() }), Exit::Input);
        assert_eq!(run(ErrorKind::Changed { input: path(), how: "grew".into() }), Exit::System);
        assert_eq!(run(ErrorKind::Budget { given: 1, least: 2 }), Exit::System);
        assert_eq!(run(ErrorKind::Exceeded { what: path(), given: 1 }), Exit::System);
        assert_eq!(run(ErrorKind::Scratch { folder: path(), source: denied() }), Exit::System);
        assert_eq!(run(ErrorKind::Write { path: path(), source: denied() }), Exit::System);
        assert_eq!(run(ErrorKind::BrokenPipe), Exit::Complete);
        assert_eq!(Exit::of(&Failure::usage("x")), Exit::Usage);
        assert_eq!(Exit::of(&Failure::List { path: path(), source: denied() }), Exit::Input);
        assert_eq!(Exit::of(&Failure::Write { path: path(), source: denied() }), Exit::System);
        let closed = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(Exit::of(&Failure::Write { path: path(), source: closed }), Exit::Complete);
    }

    #[test]
    fn losses_show_in_the_status() {
        assert_eq!(Exit::finished(0), Exit::Complete);
        assert_eq!(Exit::finished(3), Exit::Lossy);
        assert_eq!(Exit::finished(0).unless_empty(true), Exit::Lossy);
        assert_eq!(Exit::finished(0).unless_empty(false), Exit::Complete);
    }
}
