//! File operations with the standard library only.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// The identity of a file: its canonical path. Hard links count as different files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId(PathBuf);

impl FileId {
    /// Returns the id of the file at `path`. Returns `None` for streams, which have no path.
    pub fn of(path: Option<&Path>, _metadata: &Metadata) -> Option<Self> {
        path?.canonicalize().ok().map(FileId)
    }
}

/// Lock held from a seek to its read or write, because handles of one file share a position.
static PLACED: Mutex<()> = Mutex::new(());

fn seek(mut file: &File, offset: u64) -> io::Result<MutexGuard<'static, ()>> {
    let placed = PLACED.lock().unwrap_or_else(|e| e.into_inner());
    file.seek(SeekFrom::Start(offset))?;
    Ok(placed)
}

/// Does nothing: files have no group.
pub fn keep_group(_file: &File, _of: &Metadata) {}

/// Creates a folder and its parents with default permissions, unless it exists.
///
/// # Errors
/// Returns an error if a folder cannot be created.
pub fn private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Writes at an offset, safely with concurrent calls for the same file.
///
/// # Errors
/// See [`Write::write_all`].
pub fn write_all_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    let _placed = seek(file, offset)?;
    file.write_all(bytes)
}

/// Reads at an offset.
///
/// # Errors
/// See [`Read::read_exact`].
pub fn read_exact_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    let _placed = seek(file, offset)?;
    file.read_exact(bytes)
}

/// Returns `None`: the file of the stream is unknown.
pub fn stdin_metadata() -> Option<Metadata> {
    None
}

/// Returns `None`: the file of the stream is unknown.
pub fn stdout_metadata() -> Option<Metadata> {
    None
}

/// Returns standard input.
pub fn stdin() -> Box<dyn Read + Send> {
    Box::new(io::stdin())
}

/// Returns standard output.
pub fn stdout() -> Box<dyn Write + Send> {
    Box::new(io::stdout())
}

/// Does nothing: the size of pipes is fixed.
pub fn enlarge_pipe<T>(_pipe: &T) {}
