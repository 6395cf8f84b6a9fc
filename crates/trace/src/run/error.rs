//! The error type of all libraries: failure, location and suggested fix.
//!
//! Texts are lower case without a full stop and name the file. [`Error::class`] determines the exit
//! code. Texts name no flags: programs translate the [`Remedy`].
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
//! Damage of inputs is an error only in a strict run; otherwise see [`crate::run::losses`].

use crate::run::around::Around;
use crate::run::remedy::Remedy;
use std::path::Path;
use std::{fmt, io};

/// The reason why a run failed. Boxed to keep results small.
#[derive(Debug)]
pub struct Error(Box<ErrorKind>);

/// The kind of an [`Error`] with its details.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An input cannot be opened or read.
    Read {
        /// Name of the input.
        input: String,
        /// Error of the system.
        source: io::Error,
    },
    /// An input is not a trace.
    NotATrace {
        /// Name of the input.
        input: String,
        /// Offset of the byte that proves it.
        offset: u64,
        /// Actual content of the input, and a suggestion.
        found: String,
        /// Bytes around the offset, if they help.
        around: Option<Around>,
    },
    /// No CPU profile to extract, or none that matches the request.
    Profiles {
        /// Description of the profiles found.
        found: String,
        /// Suggested fix, if there is one.
        remedy: Option<Remedy>,
    },
    /// Options that exclude each other, or that name something that does not exist.
    Usage {
        /// The wrong options, and the reason.
        problem: String,
        /// Suggested fix, if there is one.
        remedy: Option<Remedy>,
    },
    /// A trace cannot be split as requested: two parts with the same name, too many parts.
    Parts {
        /// The reason, and a suggestion.
        found: String,
    },
    /// A strict run found a defect.
    Defect {
        /// Name of the input.
        input: String,
        /// Offset of the defect.
        offset: u64,
        /// Description of the defect.
        problem: String,
        /// Bytes around the defect, if they are available.
        around: Option<Around>,
    },
    /// An input changed while it was read.
    Changed {
        /// Name of the input.
        input: String,
        /// Description of the change.
        how: String,
    },
    /// A temporary file cannot be written or read.
    Scratch {
        /// Folder of temporary files.
        folder: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The output is one of the inputs.
    OutputIsInput {
        /// Path of the output.
        path: String,
    },
    /// The output is in a folder whose files are the inputs.
    OutputInFolder {
        /// Path of the output.
        path: String,
        /// Folder as given by the user.
        folder: String,
    },
    /// The output exists and may not be replaced.
    OutputExists {
        /// Path of the output.
        path: String,
    },
    /// An output cannot be written.
    Write {
        /// Name of the output.
        path: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The program that reads the output closed the pipe.
    BrokenPipe,
    /// The caller cancelled the run.
    Cancelled,
    /// The memory budget is below the minimum.
    Budget {
        /// Given budget in bytes.
        given: u64,
        /// Minimum budget in bytes.
        least: u64,
    },
    /// Data that cannot spill to disk exceeds the memory budget.
    Exceeded {
        /// Description of the data, and a fix other than more memory.
        what: String,
        /// Budget in bytes.
        given: u64,
    },
    /// A single compressed block of an input is too large to seek inside it.
    OnePiece {
        /// Name of the input.
        input: String,
        /// Maximum size of a seekable block in bytes of text.
        most: u64,
    },
    /// The inputs are larger than the address space.
    TooLarge {
        /// Size of the inputs in bytes.
        bytes: u64,
        /// Limit in bytes.
        most: u64,
    },
    /// A time window that cannot contain any event.
    Window {
        /// Description of the invalid window.
        found: String,
    },
}

/// The class of an error, for exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Invalid options.
    Usage,
    /// Unusable input.
    Input,
    /// A failure of the system, or an impossible budget.
    System,
    /// The program that reads the output closed the pipe; no message is needed.
    BrokenPipe,
    /// The caller cancelled the run.
    Cancelled,
}

impl Error {
    /// Returns the kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// Returns whether the error says that an input is not a trace.
    pub fn is_no_trace(&self) -> bool {
        matches!(self.kind(), ErrorKind::NotATrace { .. })
    }

    /// Returns the class of the error.
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

    /// Returns the bytes around the reported offset. The error text omits them.
    pub fn around(&self) -> Option<&Around> {
        match &*self.0 {
            ErrorKind::NotATrace { around, .. } | ErrorKind::Defect { around, .. } => {
                around.as_ref()
            }
            _ => None,
        }
    }

    /// Returns the suggested fix, if there is one.
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

    /// Creates an error about wrong options.
    #[cold]
    pub fn usage(problem: impl Into<String>, remedy: Option<Remedy>) -> Self {
        ErrorKind::Usage { problem: problem.into(), remedy }.into()
    }

    /// Creates an error for a failed write to `path`; a closed pipe becomes
    /// [`ErrorKind::BrokenPipe`].
    #[cold]
    pub fn write(path: impl fmt::Display, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::BrokenPipe {
            return ErrorKind::BrokenPipe.into();
        }
        ErrorKind::Write { path: path.to_string(), source }.into()
    }

    /// Creates an error for temporary files in `folder`.
    #[cold]
    pub fn scratch(folder: &Path, source: io::Error) -> Self {
        ErrorKind::Scratch { folder: folder.display().to_string(), source }.into()
    }

    /// Creates an error for a failed read of `input`.
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
            // no byte is at fault, for example in a folder
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
            // a write creates the file, so only its folder can be missing
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
