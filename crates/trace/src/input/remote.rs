//! Files on other machines. Byte ranges are copied to a local file before they are read.
//!
//! ```text
//!   remote file  ├──────────────────────────────────────────┤
//!   wanted            ▆▆▆                     ▆▆▆▆▆▆▆ …
//!   local file        ▆▆▆                     ▆▆▆▆▆▆▆           sparse, bytes in place
//! ```
//!
//! An index next to the local file says which ranges a command needs. A command that reads the whole
//! file copies all of it first.
//!
//! ```
//! use std::io::Write;
//! use std::ops::Range;
//! use std::path::PathBuf;
//! use std::sync::Arc;
//! use tracemill_trace::input::remote::{FetchRanges, RemoteFile};
//! use tracemill_trace::{Error, Limits, Source, Trace};
//!
//! struct OtherMachine(PathBuf);
//!
//! impl FetchRanges for OtherMachine {
//!     fn fetch(&self, _: &[Range<u64>], _: &Limits) -> Result<(), Error> {
//!         std::fs::write(&self.0, "[{\"ph\":\"i\"}]").map_err(|error| Error::read("a.json", error))
//!     }
//! }
//!
//! let folder = tempfile::tempdir().expect("the folder of temporary files takes folders");
//! let path = folder.path().join("a.json");
//! std::fs::write(&path, [0; 12]).expect("there is room");
//! let ranges = Arc::new(OtherMachine(path.clone()));
//! let source = Source::Remote(RemoteFile::new("https://example.com/a.json", path, 12, ranges));
//! let trace = Trace::open(&[source], &Limits::new(1, 64 << 20, std::env::temp_dir()))?;
//! assert_eq!((trace.len(), &*trace.inputs()[0].name), (1, "https://example.com/a.json"));
//! # Ok::<(), Error>(())
//! ```

use crate::run::error::Error;
use crate::run::limits::Limits;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Copies byte ranges of a remote file to a local file.
pub trait FetchRanges: Send + Sync {
    /// Copies ranges, which ascend. May copy more bytes.
    ///
    /// # Errors
    /// Returns an error if the remote file cannot be read or has changed, the local file cannot be
    /// written, or the run is cancelled.
    fn fetch(&self, ranges: &[Range<u64>], limits: &Limits) -> Result<(), Error>;
}

/// A remote file, and a local file with some of its byte ranges.
#[derive(Clone)]
pub struct RemoteFile {
    name: String,
    path: PathBuf,
    length: u64,
    ranges: Arc<dyn FetchRanges>,
}

impl RemoteFile {
    /// Creates a remote file named `name`, whose ranges are copied to the file at `path`. That file
    /// exists and has the length of the remote file.
    pub fn new(
        name: impl Into<String>,
        path: PathBuf,
        length: u64,
        ranges: Arc<dyn FetchRanges>,
    ) -> Self {
        RemoteFile { name: name.into(), path, length, ranges }
    }

    /// Returns the path of the local file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Copies byte ranges to the local file.
    ///
    /// # Errors
    /// Returns the errors of [`FetchRanges::fetch`].
    pub fn fetch(&self, ranges: &[Range<u64>], limits: &Limits) -> Result<(), Error> {
        self.ranges.fetch(ranges, limits)
    }
}

/// Copies ranges of a remote file when they are about to be read.
pub struct RangeReader {
    file: RemoteFile,
    limits: Limits,
}

impl RangeReader {
    /// Creates the reader for a run.
    pub fn new(file: &RemoteFile, limits: &Limits) -> Self {
        RangeReader { file: file.clone(), limits: limits.clone() }
    }

    /// Copies a range.
    ///
    /// # Errors
    /// Returns the errors of [`FetchRanges::fetch`].
    pub fn fetch(&self, range: Range<u64>) -> Result<(), Error> {
        self.file.fetch(std::slice::from_ref(&range), &self.limits)
    }
}

impl fmt::Display for RemoteFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for RemoteFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteFile").field(&self.name).finish()
    }
}

impl PartialEq for RemoteFile {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for RemoteFile {}

impl Hash for RemoteFile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
