//! The one error type: what failed, where, and what to do about it.
//!
//! Texts are lower case without a full stop and name the file; the caller adds the program's name. [`Error::class`]
//! determines the exit code. No text names a flag: [`Remedy`] names what can be done, and each program
//! has its own words for it.
//!
//! ```
//! use tracemill_trace::run::error::ErrorClass;
//! use tracemill_trace::run::remedy::Remedy;
//! use tracemill_trace::{ErrorKind, Limits, Source, Trace};
//!
//! let limits = Limits { strict: true, ..Limits::new(1, 64 << 20, std::env::temp_dir()) };
//! let error = Trace::open(&[Source::bytes("a.json", r#"[{"ts":1},{"ts" 2}]"#)], &limits).err().expect("a colon is missing");
//! assert!(matches!(error.kind(), ErrorKind::Defect { offset: 16, .. }));
//! assert!(error.to_string().starts_with("a.json: defect at byte 16: expected "));
//! assert_eq!((error.class(), error.remedy()), (ErrorClass::Input, Some(Remedy::Lenient)));
//! let around = error.around().expect("the bytes are at hand");
//! assert_eq!(&around.bytes[around.at..], b"2}]");
//! ```
//!
//! Damage of inputs is no error unless the run is strict: see [`crate::run::losses`].

use crate::run::around::Around;
use crate::run::remedy::Remedy;
use std::path::Path;
use std::{fmt, io};

/// Why a run could not finish. Boxed, so that results stay small.
#[derive(Debug)]
pub struct Error(Box<ErrorKind>);

/// The facts of an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An input cannot be opened or read.
    Read {
        /// The input.
        input: String,
        /// The error of the system.
        source: io::Error,
    },
    /// An input is not a trace.
    NotATrace {
        /// The input.
        input: String,
        /// Offset of the byte that proves it.
        offset: u64,
        /// What it is instead, and what to do.
        found: String,
        /// The bytes there, if they help.
        around: Option<Around>,
    },
    /// No CPU profile to extract, or none that matches the request.
    Profiles {
        /// What was found instead.
        found: String,
        /// What can be done, if anything can.
        remedy: Option<Remedy>,
    },
    /// Options that exclude each other, or that name something that does not exist.
    Usage {
        /// Which, and why.
        problem: String,
        /// What can be done, if anything can.
        remedy: Option<Remedy>,
    },
    /// A trace cannot be split as requested: two parts with the same name, too many parts.
    Parts {
        /// The obstacle, and what to do.
        found: String,
    },
    /// A strict run met a defect.
    Defect {
        /// The input.
        input: String,
        /// Offset of the defect.
        offset: u64,
        /// What is wrong.
        problem: String,
        /// The bytes around it, if they are at hand.
        around: Option<Around>,
    },
    /// An input changed while it was read.
    Changed {
        /// The input.
        input: String,
        /// What happened to it.
        how: String,
    },
    /// A temporary file cannot be written or read.
    Scratch {
        /// The folder of temporary files.
        folder: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The output is one of the inputs.
    OutputIsInput {
        /// The output's path.
        path: String,
    },
    /// The output lies in a folder whose files are the inputs.
    OutputInFolder {
        /// The output's path.
        path: String,
        /// The folder, as it was named.
        folder: String,
    },
    /// The output exists and may not be replaced.
    OutputExists {
        /// The output's path.
        path: String,
    },
    /// Output cannot be written.
    Write {
        /// What was being written.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The reader of the output has gone.
    BrokenPipe,
    /// The caller ended the run.
    Cancelled,
    /// The memory budget is too small for anything.
    Budget {
        /// Bytes given.
        given: u64,
        /// Bytes needed at the least.
        least: u64,
    },
    /// Data that must stay in memory exceeds the budget.
    Exceeded {
        /// What it is, and what to do other than giving more memory.
        what: String,
        /// Bytes of the budget.
        given: u64,
    },
    /// A single compressed block of an input is too large to seek inside it.
    OnePiece {
        /// The input.
        input: String,
        /// Largest number of bytes of text that are decompressed at a time.
        most: u64,
    },
    /// More input than offsets can address.
    TooLarge {
        /// Bytes of input.
        bytes: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// A time window that cannot contain any event.
    Window {
        /// What was found instead.
        found: String,
    },
}

/// What an error means to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Called wrongly.
    Usage,
    /// The input cannot be used.
    Input,
    /// The system failed, or the budget is impossible.
    System,
    /// The reader of the output has gone: no message is needed.
    BrokenPipe,
    /// The caller ended the run.
    Cancelled,
}

impl Error {
    /// The facts.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// Whether an input is not a trace.
    pub fn is_no_trace(&self) -> bool {
        matches!(self.kind(), ErrorKind::NotATrace { .. })
    }

    /// Returns what it means to the caller.
    pub fn class(&self) -> ErrorClass {
        match *self.0 {
            ErrorKind::Read { .. } | ErrorKind::NotATrace { .. } | ErrorKind::Defect { .. } => {
                ErrorClass::Input
            }
            ErrorKind::Profiles { .. } | ErrorKind::OnePiece { .. } => ErrorClass::Input,
            ErrorKind::OutputIsInput { .. }
            | ErrorKind::OutputInFolder { .. }
            | ErrorKind::OutputExists { .. }
            | ErrorKind::Usage { .. }
            | ErrorKind::Parts { .. }
            | ErrorKind::Window { .. } => ErrorClass::Usage,
            ErrorKind::Write { .. }
            | ErrorKind::Scratch { .. }
            | ErrorKind::Changed { .. }
            | ErrorKind::Budget { .. }
            | ErrorKind::Exceeded { .. }
            | ErrorKind::TooLarge { .. } => ErrorClass::System,
            ErrorKind::BrokenPipe => ErrorClass::BrokenPipe,
            ErrorKind::Cancelled => ErrorClass::Cancelled,
        }
    }

    /// Returns the bytes around the place that it names. Its text leaves them out.
    pub fn around(&self) -> Option<&Around> {
        match &*self.0 {
            ErrorKind::NotATrace { around, .. } | ErrorKind::Defect { around, .. } => {
                around.as_ref()
            }
            _ => None,
        }
    }

    /// Returns what can be done about it, beyond what its text says. The text names no flags.
    pub fn remedy(&self) -> Option<Remedy> {
        match *self.0 {
            ErrorKind::Profiles { remedy, .. } | ErrorKind::Usage { remedy, .. } => remedy,
            ErrorKind::Defect { .. } => Some(Remedy::Lenient),
            ErrorKind::Scratch { .. } => Some(Remedy::OtherTmpDir),
            ErrorKind::OutputExists { .. } => Some(Remedy::Replace),
            ErrorKind::Budget { least, .. } => Some(Remedy::MoreMemory(least)),
            ErrorKind::Exceeded { .. } => Some(Remedy::RaiseMemory),
            ErrorKind::OnePiece { .. } => Some(Remedy::PackInParts),
            _ => None,
        }
    }

    /// Returns an error about wrong options.
    #[cold]
    pub fn usage(problem: impl Into<String>, remedy: Option<Remedy>) -> Self {
        ErrorKind::Usage { problem: problem.into(), remedy }.into()
    }

    /// Returns a failed write to `path`; a closed pipe is [`ErrorKind::BrokenPipe`].
    #[cold]
    pub fn write(path: impl fmt::Display, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::BrokenPipe {
            return ErrorKind::BrokenPipe.into();
        }
        ErrorKind::Write { path: path.to_string(), source }.into()
    }

    /// Returns a failure of temporary files in `folder`.
    #[cold]
    pub fn scratch(folder: &Path, source: io::Error) -> Self {
        ErrorKind::Scratch { folder: folder.display().to_string(), source }.into()
    }

    /// Returns a failed read of `input`.
    #[cold]
    pub fn read(input: impl fmt::Display, source: io::Error) -> Self {
        ErrorKind::Read { input: input.to_string(), source }.into()
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Error(Box::new(kind))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            ErrorKind::Read { input, source } => write!(f, "cannot read {input}: {source}"),
            // such as a folder: no byte is at fault
            ErrorKind::NotATrace { input, offset: 0, found, around: None } => {
                write!(f, "{input} is not a trace: {found}")
            }
            ErrorKind::NotATrace { input, offset, found, .. } => {
                write!(f, "{input} is not a trace (at byte {offset}): {found}")
            }
            ErrorKind::Usage { problem, .. } => f.write_str(problem),
            ErrorKind::Profiles { found, .. }
            | ErrorKind::Parts { found }
            | ErrorKind::Window { found } => f.write_str(found),
            ErrorKind::Defect { input, offset, problem, .. } => {
                write!(f, "{input}: defect at byte {offset}: {problem}")
            }
            ErrorKind::Changed { input, how } => {
                write!(
                    f,
                    "{input} {how} while it was read; wait until it is complete, then run again"
                )
            }
            ErrorKind::Scratch { folder, source } => {
                write!(f, "cannot keep temporary files in {folder}: {source}")
            }
            ErrorKind::OutputIsInput { path } => {
                write!(f, "the output {path} is one of the inputs; choose another name")
            }
            ErrorKind::OutputInFolder { path, folder } => write!(
                f,
                "the output {path} is in the input folder {folder} and would be read as an input; \
                 write it to another folder, or name the inputs one by one"
            ),
            ErrorKind::OutputExists { path } => {
                write!(f, "the output {path} exists already")
            }
            // files are created when they are written: only the folder can be missing
            ErrorKind::Write { path, source } if source.kind() == io::ErrorKind::NotFound => {
                write!(f, "cannot write {path}: its folder does not exist")
            }
            ErrorKind::Write { path, source } => write!(f, "cannot write {path}: {source}"),
            ErrorKind::BrokenPipe => f.write_str("the program that reads the output has closed it"),
            ErrorKind::Cancelled => f.write_str("the run was stopped"),
            ErrorKind::Budget { given, least } => write!(
                f,
                "the memory budget of {given} bytes is too small; expected at least {least}"
            ),
            ErrorKind::Exceeded { what, given } => {
                write!(f, "{what}, more than the memory budget of {} MiB has room for", given >> 20)
            }
            ErrorKind::OnePiece { input, most } => write!(
                f,
                "cannot seek inside {input}: a single compressed block exceeds {} MiB",
                most >> 20
            ),
            ErrorKind::TooLarge { bytes, most } => write!(
                f,
                "the inputs have {bytes} bytes, but one run reads at most {most}; merge them in two steps"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            ErrorKind::Read { source, .. }
            | ErrorKind::Write { source, .. }
            | ErrorKind::Scratch { source, .. } => Some(source),
            _ => None,
        }
    }
}
