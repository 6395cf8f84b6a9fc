//! Runs in one file: stretches of bytes, each written at once and read by itself.
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

/// Runs that are being written, one behind the other. One file, however many there are: no descriptors are spent on runs.
pub struct RunFile {
    scratch: Scratch,
    ranges: Vec<Range<usize>>,
    /// Where the current run begins.
    start: usize,
}

impl RunFile {
    /// No runs yet; they go to a file in `dir`.
    pub fn new(dir: &Path) -> Self {
        RunFile { scratch: Scratch::new(dir), ranges: Vec::new(), start: 0 }
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.scratch.is_empty()
    }

    /// How many runs are complete.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Appends bytes to the current run.
    ///
    /// # Errors
    /// As [`Scratch::write`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.scratch.write(bytes)
    }

    /// Appends records to the current run.
    ///
    /// # Errors
    /// As [`Scratch::write`].
    pub fn write_records<R: Record>(&mut self, records: &[R]) -> Result<(), Error> {
        self.scratch.write_records(records)
    }

    /// Ends the current run; one without bytes is none.
    pub fn end_run(&mut self) {
        let end = self.scratch.len() as usize;
        if end > self.start {
            self.ranges.push(self.start..end);
        }
        self.start = end;
    }

    /// Ends writing.
    ///
    /// # Errors
    /// As [`Scratch::write`].
    pub fn finish(self) -> Result<DiskRuns, Error> {
        Ok(DiskRuns { mapped: self.scratch.into_mapped()?, ranges: self.ranges })
    }
}

/// Runs that were written.
#[derive(Default)]
pub struct DiskRuns {
    mapped: Option<Mapped>,
    ranges: Vec<Range<usize>>,
}

impl DiskRuns {
    /// How many runs there are.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Bytes of all runs.
    pub fn bytes(&self) -> u64 {
        self.mapped.as_ref().map_or(0, |mapped| mapped.len() as u64)
    }

    /// The bytes of a run, by its number.
    pub fn run(&self, number: usize) -> &[u8] {
        &self.mapped.as_deref().unwrap_or_default()[self.ranges[number].clone()]
    }

    /// The bytes of each run.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count()).map(|number| self.run(number))
    }
}
