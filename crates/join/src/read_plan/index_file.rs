//! The index of the only input of a run, and the reasons for scanning the input instead.

use crate::report::warning::Warning;
use std::fmt::Display;
use std::fs::Metadata;
use std::path::PathBuf;
use tracemill_trace::run::error::{Error, ErrorKind};

/// The reason for scanning the whole trace instead of using its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    /// The run has several inputs.
    Several,
    /// The run is strict.
    Strict,
    /// The trace may have changed since its index was built.
    Copied,
    /// The trace is damaged, so a range could have another meaning if it is read alone.
    Damaged,
    /// Some events depend on events anywhere else in the trace.
    Tied,
    /// The run needs most of the trace, or most of its decompressed text.
    Most,
    /// The input is not seekable.
    Packed,
    /// The index, or the data read with it, exceeds the memory limit.
    NoRoom,
}

impl Unused {
    /// Returns the message for the user.
    pub fn text(self) -> &'static str {
        match self {
            Unused::Several => {
                "there are several inputs, and an event that begins in one may end in another"
            }
            Unused::Strict => "a strict run checks every byte",
            Unused::Copied => "the trace was modified after its index was built, or is a copy",
            Unused::Damaged => "the trace is damaged, or not strictly valid JSON",
            Unused::Tied => {
                "parts of the trace depend on events anywhere in it: DevTools annotations, long flows, several documents, or E events named differently from their B events"
            }
            Unused::Most => "the run needs most of the trace, so the index would save little",
            Unused::Packed => "the input is not seekable: it is a pipe, or compressed as one block",
            Unused::NoRoom => {
                "the index lacks the requested data, or the memory budget is too small for it"
            }
        }
    }
}

/// The reason why an index cannot answer a query. Nothing has been written yet.
pub enum Stop {
    /// The index does not exist.
    Missing,
    /// The whole trace must be read, for this reason.
    Cannot(Unused),
    /// The index is unusable or does not match the trace; the text says why.
    Wrong(String),
}

impl Stop {
    /// Creates the reason that the trace does not match its index.
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

/// The effect of an index on a run.
#[derive(Debug, Default)]
pub struct IndexOutcome {
    /// The index that was used, and the number of event bytes read with it.
    pub used: Option<(PathBuf, u64)>,
    /// Reason why an existing index was not used.
    pub unused: Option<&'static str>,
    /// Warning about an unusable index.
    pub warning: Option<Warning>,
}

impl From<Unused> for IndexOutcome {
    fn from(why: Unused) -> Self {
        IndexOutcome { unused: Some(why.text()), ..IndexOutcome::default() }
    }
}

/// The answer of an index, or the outcome of a run that scans its inputs instead.
pub enum Planned<T> {
    /// The answer of the index.
    Plan(T),
    /// The run scans its inputs.
    Scan(IndexOutcome),
}

/// An index that a run queries, and its trace.
#[derive(Clone, Debug)]
pub struct IndexFile {
    /// Path of the trace.
    pub trace: PathBuf,
    /// Path of the index.
    pub index: PathBuf,
    /// Whether the user named the index, which then must match the trace.
    pub is_named: bool,
    /// Whether the trace is on another machine, so that not all of its bytes can be compared.
    pub is_remote: bool,
    /// File metadata of the trace, read before the index was opened.
    pub metadata: Metadata,
}

impl IndexFile {
    /// Converts the reason of a failed query into the outcome of a run that scans its inputs.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotATrace`] if the user named an index that is unusable or does not
    /// match.
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

    /// Returns the error for an index that does not match the trace.
    pub fn refused(&self, found: String) -> Error {
        let input = self.index.display().to_string();
        ErrorKind::NotATrace { input, offset: 0, found, around: None }.into()
    }

    /// Returns the error for a trace that was modified after the index was opened.
    pub fn changed(&self) -> Error {
        let input = self.trace.display().to_string();
        ErrorKind::Changed { input, how: "was written to".to_owned() }.into()
    }

    /// Checks that the length and modification time of the trace have not changed.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Changed`] if they have changed.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        let path = &self.trace;
        let now = std::fs::metadata(path).map_err(|e| Error::read(path.display(), e))?;
        let key = |metadata: &Metadata| (metadata.len(), metadata.modified().ok());
        if key(&now) == key(&self.metadata) { Ok(()) } else { Err(self.changed()) }
    }
}
