//! Exit codes of the program, and the failures that determine them.

use crate::outcome::remedies;
use std::{fmt, io};
use tracemill_trace::Error;
use tracemill_trace::run::around::Around;
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::losses::InputReport;

/// The exit status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was written, or the program that reads the output stopped reading.
    Complete,
    /// The run finished, but data was lost, the output is not valid JSON, or nothing matched.
    Lossy,
    /// The command line is invalid. Nothing was read or written.
    Usage,
    /// An input cannot be used, or `--strict` found a defect.
    Input,
    /// A system call failed, or the memory budget is impossible.
    System,
    /// A limit of `--fail-on` is broken.
    Broken,
    Interrupted,
    Terminated,
    /// The status with which the program ended that `record` ran.
    Program(u8),
}

impl Exit {
    /// Returns the status of a run that failed.
    pub(crate) fn of(failure: &Failure) -> Exit {
        match failure {
            // as in shells, 127 and 126 mean that a program cannot be started
            Failure::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Exit::Program(127)
            }
            Failure::Start { .. } => Exit::Program(126),
            _ => match failure.class() {
                ErrorClass::Usage => Exit::Usage,
                ErrorClass::Input => Exit::Input,
                ErrorClass::System => Exit::System,
                // the program that stopped reading has all that it needs
                ErrorClass::BrokenPipe => Exit::Complete,
                ErrorClass::Cancelled => Exit::Interrupted,
            },
        }
    }

    /// Returns the status of a run that finished and lost `lost` events or other parts.
    pub(crate) fn finished(lost: u64) -> Exit {
        if lost == 0 { Exit::Complete } else { Exit::Lossy }
    }

    /// Returns status 1 instead of 0 if `is_empty`, which means that nothing was found.
    pub(crate) fn unless_empty(self, is_empty: bool) -> Exit {
        if self == Exit::Complete && is_empty { Exit::Lossy } else { self }
    }

    /// Returns the status of a run that wrote a trace. It is complete if `lost` is 0 and all events
    /// of `inputs` are valid JSON.
    pub(crate) fn written(lost: u64, inputs: &[InputReport]) -> Exit {
        Exit::finished(lost + inputs.iter().map(|input| input.lapses.kept()).sum::<u64>())
    }

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

/// An error that ended a run.
#[derive(Debug)]
pub(crate) enum Failure {
    Usage(String),
    List {
        path: String,
        source: io::Error,
    },
    /// The report, or the text of `info`, could not be written.
    Write {
        path: String,
        source: io::Error,
    },
    Start {
        program: String,
        source: io::Error,
    },
    /// Traces could not be read or written.
    Run(Error),
}

impl Failure {
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Failure::Usage(text.into())
    }

    /// Returns the class of the failure: usage, input or system.
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

    /// Returns the text around the position of the error, if known.
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
    fn exit_codes_match_the_documented_numbers() {
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
    fn every_failure_maps_to_its_exit_code() {
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
    fn losses_set_exit_code_1() {
        assert_eq!(Exit::finished(0), Exit::Complete);
        assert_eq!(Exit::finished(3), Exit::Lossy);
        assert_eq!(Exit::finished(0).unless_empty(true), Exit::Lossy);
        assert_eq!(Exit::finished(0).unless_empty(false), Exit::Complete);
    }
}
