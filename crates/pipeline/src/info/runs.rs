//! Sorted runs on disk, in one unlinked file.

use std::ops::Range;
use std::path::{Path, PathBuf};
use tracemill_core::error::Error;
use tracemill_core::order::Scratch;
use tracemill_tokenizer::Mapped;

/// Runs that are being written.
pub(super) struct RunFile {
    dir: PathBuf,
    /// Made when there is something to write.
    scratch: Option<Scratch>,
    ranges: Vec<Range<usize>>,
    start: usize,
    end: usize,
}

impl RunFile {
    pub(super) fn new(dir: &Path) -> Self {
        let (ranges, dir) = (Vec::new(), dir.to_owned());
        RunFile { dir, scratch: None, ranges, start: 0, end: 0 }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Appends to the current run.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            None => self.scratch.insert(Scratch::new(&self.dir)?),
        };
        self.end += bytes.len();
        scratch.write(bytes)
    }

    /// Ends the current run.
    pub(super) fn end_run(&mut self) {
        if self.end > self.start {
            self.ranges.push(self.start..self.end);
        }
        self.start = self.end;
    }

    /// Ends writing.
    pub(super) fn finish(self) -> Result<Runs, Error> {
        let mapped = self.scratch.map_or(Ok(None), Scratch::into_mapped)?;
        Ok(Runs { mapped, ranges: self.ranges })
    }
}

/// Runs that were written.
pub(super) struct Runs {
    mapped: Option<Mapped>,
    ranges: Vec<Range<usize>>,
}

impl Runs {
    /// The bytes of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let bytes = self.mapped.as_deref().unwrap_or_default();
        self.ranges.iter().map(move |range| &bytes[range.clone()])
    }
}
