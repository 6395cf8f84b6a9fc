//! Writes bytes to a temporary file, and maps them for reading.
//!
//! ```text
//!   write ─> buffer, 256 KiB ─> unlinked file ─ into_mapped ─> a map: evictable pages, no heap
//! ```
//!
//! The file is created after the first 256 KiB, so short data makes no system calls before it is
//! read.

use super::record::{Record, encode_all};
use crate::os::Temporary;
use crate::run::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use tracemill_tokenizer::Mapped;

const BUFFER: usize = 256 * 1024;
const BLOCK: usize = 1024;

/// An unlinked temporary file that grows and is then mapped. The file is created when the buffer is
/// full, or for the map.
pub struct Scratch {
    file: Option<Temporary>,
    /// Bytes after those in the file.
    buffer: Vec<u8>,
    len: u64,
    dir: PathBuf,
}

impl Scratch {
    /// Creates an empty scratch with a file in `dir`.
    pub fn new(dir: &Path) -> Self {
        Scratch { file: None, buffer: Vec::new(), len: 0, dir: dir.to_owned() }
    }

    /// Returns the number of bytes written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if the file cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.len += bytes.len() as u64;
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        if bytes.len() < BUFFER {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        append(&mut self.file, &self.dir, bytes)
    }

    /// Appends records of [`Record::BYTES`] each.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn write_records<R: Record>(&mut self, records: &[R]) -> Result<(), Error> {
        let mut bytes = Vec::new();
        records.chunks(BLOCK).try_for_each(|block| {
            encode_all(block, &mut bytes);
            self.write(&bytes)
        })
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        append(&mut self.file, &self.dir, &self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Returns the bytes written so far, and resets this scratch.
    pub(super) fn take(&mut self) -> Scratch {
        let anew = Scratch::new(&self.dir);
        std::mem::replace(self, anew)
    }

    /// Maps all written bytes. Returns `None` if nothing was written.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn into_mapped(mut self) -> Result<Option<Mapped>, Error> {
        self.flush()?;
        let mapped = self.file.as_ref().map_or(Ok(None), Temporary::map);
        mapped.map_err(|e| Error::scratch(&self.dir, e))
    }
}

fn append(file: &mut Option<Temporary>, dir: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |e| Error::scratch(dir, e);
    let file = match file {
        Some(file) => file,
        none => none.insert(Temporary::new(dir).map_err(failed)?),
    };
    file.write_all(bytes).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_bytes_are_read_back_for_any_write_size() {
        let all: Vec<u8> = (0..3 * BUFFER as u32).map(|n| ((n * 7) >> 3) as u8).collect();
        for piece in [1000, BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER] {
            let mut scratch = Scratch::new(&std::env::temp_dir());
            all.chunks(piece).try_for_each(|chunk| scratch.write(chunk)).expect("room on disk");
            assert_eq!(scratch.len(), all.len() as u64);
            let mapped = scratch.into_mapped().expect("room on disk").expect("not empty");
            assert!(*mapped == *all, "{piece}");
        }
        let none = Scratch::new(Path::new("/no/such/folder"));
        assert!(none.is_empty() && none.into_mapped().is_ok_and(|map| map.is_none()));
    }

    #[test]
    fn error_names_the_missing_folder() {
        let mut scratch = Scratch::new(Path::new("/no/such/folder"));
        scratch.write(b"few bytes wait").expect("no file yet");
        let error = scratch.into_mapped().expect_err("no folder").to_string();
        assert!(error.contains("/no/such/folder"), "{error}");
    }
}
