//! Writes runs of bytes to one file, and reads each run separately.
//!
//! ```
//! use tracemill_trace::spill::RunFile;
//!
//! let mut file = RunFile::new(&std::env::temp_dir());
//! for run in [&b"one"[..], b"", b"three"] {
//!     file.write(run)?;
//!     file.end_run();
//! }
//! assert!(file.finish()?.iter().eq([&b"one"[..], b"three"]));
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

use super::record::Record;
use super::scratch::Scratch;
use crate::run::error::Error;
use std::ops::Range;
use std::path::Path;
use tracemill_tokenizer::Mapped;

/// Runs being written, all in one file to save descriptors.
pub struct RunFile {
    scratch: Scratch,
    ranges: Vec<Range<usize>>,
    start: usize,
}

impl RunFile {
    /// Creates an empty file in `dir`.
    pub fn new(dir: &Path) -> Self {
        RunFile { scratch: Scratch::new(dir), ranges: Vec::new(), start: 0 }
    }

    /// Returns whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.scratch.is_empty()
    }

    /// Returns the number of complete runs.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Appends bytes to the current run.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.scratch.write(bytes)
    }

    /// Appends records to the current run.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn write_records<R: Record>(&mut self, records: &[R]) -> Result<(), Error> {
        self.scratch.write_records(records)
    }

    /// Ends the current run; an empty run is dropped.
    pub fn end_run(&mut self) {
        let end = self.scratch.len() as usize;
        if end > self.start {
            self.ranges.push(self.start..end);
        }
        self.start = end;
    }

    /// Returns the complete runs.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn finish(self) -> Result<DiskRuns, Error> {
        Ok(DiskRuns { mapped: self.scratch.into_mapped()?, ranges: self.ranges })
    }
}

/// Complete runs on disk.
#[derive(Default)]
pub struct DiskRuns {
    mapped: Option<Mapped>,
    ranges: Vec<Range<usize>>,
}

impl DiskRuns {
    /// Returns the number of runs.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the total bytes of all runs.
    pub fn bytes(&self) -> u64 {
        self.mapped.as_ref().map_or(0, |mapped| mapped.len() as u64)
    }

    /// Returns the bytes of a run by its index.
    pub fn run(&self, number: usize) -> &[u8] {
        &self.mapped.as_deref().unwrap_or_default()[self.ranges[number].clone()]
    }

    /// Returns the bytes of each run.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count()).map(|number| self.run(number))
    }
}
