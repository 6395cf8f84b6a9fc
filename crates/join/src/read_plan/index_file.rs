//! The index of the one input of a run, and the reasons for which the input is scanned nevertheless.

use crate::report::warning::Warning;
use std::fmt::Display;
use std::fs::Metadata;
use std::path::PathBuf;
use tracemill_trace::run::error::{Error, ErrorKind};

/// Why an index is not used. All of the trace is read then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    /// Of several inputs.
    Several,
    /// Of a strict run.
    Strict,
    /// Whether it is that of the trace as it is now is not certain.
    Copied,
    /// Pieces of the trace do not mean what they mean in all of it.
    Damaged,
    /// As `Damaged`, though nothing is wrong with it.
    Tied,
    /// Of the trace, or of what unpacking it takes.
    Most,
    /// The input can only be read as a whole.
    Packed,
    /// Of the index, or of what is read of it in memory.
    NoRoom,
}

impl Unused {
    /// Returns the message.
    pub fn text(self) -> &'static str {
        match self {
            Unused::Several => {
                "there are several inputs, and an event that begins in one may end in another"
            }
            Unused::Strict => "a strict run checks every byte",
            Unused::Copied => "the trace was modified after its index was built, or is a copy",
            Unused::Damaged => "the trace is damaged, or not strictly valid JSON",
            Unused::Tied => {
                "some events depend on others anywhere in the trace (DevTools annotations, E events of another name, long flows, several documents)"
            }
            Unused::Most => "the run needs most of the trace anyway",
            Unused::Packed => "the input is not seekable: it is a pipe, or compressed as one block",
            Unused::NoRoom => {
                "the index lacks the requested data, or the memory budget is too small for it"
            }
        }
    }
}

/// Why an index does not answer. Nothing was written.
pub enum Stop {
    /// There is no index.
    Missing,
    /// All must be read, for this reason.
    Cannot(Unused),
    /// The index is none of the trace: what is wrong with it.
    Wrong(String),
}

impl Stop {
    /// Returns that the trace does not hold what the index says.
    pub fn changed() -> Self {
        "the trace holds something else than the index says".into()
    }
}

impl From<Unused> for Stop {
    fn from(why: Unused) -> Self {
        Stop::Cannot(why)
    }
}

impl<P: Display> From<P> for Stop {
    fn from(problem: P) -> Self {
        Stop::Wrong(problem.to_string())
    }
}

/// What an index had to do with a run.
#[derive(Default)]
pub struct IndexOutcome {
    /// The index that was used, and the number of bytes of events that were read by it.
    pub used: Option<(PathBuf, u64)>,
    /// Why there is an index and it is not used.
    pub unused: Option<&'static str>,
    /// What is wrong with the index.
    pub warning: Option<Warning>,
}

impl From<Unused> for IndexOutcome {
    fn from(why: Unused) -> Self {
        IndexOutcome { unused: Some(why.text()), ..IndexOutcome::default() }
    }
}

/// The answer of an index, or why there is none: then the run scans its inputs.
pub enum Planned<T> {
    /// The answer.
    Plan(T),
    /// The inputs are scanned, for this reason.
    Scan(IndexOutcome),
}

/// The index that is queried about a trace.
#[derive(Clone, Debug)]
pub struct IndexFile {
    /// The trace.
    pub trace: PathBuf,
    /// Its index.
    pub index: PathBuf,
    /// Whether the user named the index: then it must be that of the trace.
    pub is_named: bool,
    /// The metadata of the trace before the index was opened.
    pub metadata: Metadata,
}

impl IndexFile {
    /// Returns why the run scans its inputs, now that the index does not answer.
    ///
    /// # Errors
    /// [`ErrorKind::NotATrace`] if the user named the index and it is not that of the trace.
    pub fn reject(&self, stop: Stop) -> Result<IndexOutcome, Error> {
        match stop {
            Stop::Missing => Ok(IndexOutcome::default()),
            Stop::Cannot(why) => Ok(why.into()),
            Stop::Wrong(problem) if self.is_named => Err(self.refused(problem)),
            Stop::Wrong(why) => {
                let [index, trace] =
                    [&self.index, &self.trace].map(|path| path.display().to_string());
                let warning = Some(Warning::IndexUnused { index, why, trace });
                Ok(IndexOutcome { warning, ..IndexOutcome::default() })
            }
        }
    }

    /// Returns the error that the index is not that of the trace.
    pub fn refused(&self, found: String) -> Error {
        let input = self.index.display().to_string();
        ErrorKind::NotATrace { input, offset: 0, found, around: None }.into()
    }

    /// Returns the error that the trace was written to after the index was opened.
    pub fn changed(&self) -> Error {
        let input = self.trace.display().to_string();
        ErrorKind::Changed { input, how: "was written to".to_owned() }.into()
    }

    /// Checks that the trace has the length and the modification time that it had before.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if it has not.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        let path = &self.trace;
        let now = std::fs::metadata(path).map_err(|e| Error::read(path.display(), e))?;
        let key = |metadata: &Metadata| (metadata.len(), metadata.modified().ok());
        if key(&now) == key(&self.metadata) { Ok(()) } else { Err(self.changed()) }
    }
}
