//! Files with nothing but Rust's library.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// Which file it is: its path without links. Two hard links are two files here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId(PathBuf);

impl FileId {
    /// The id of the file at `path`; `None` if it has no path, as streams have none.
    pub fn of(path: Option<&Path>, _metadata: &Metadata) -> Option<Self> {
        path?.canonicalize().ok().map(FileId)
    }
}

/// Held between a seek and what it is for: handles of one file have one place together.
static PLACED: Mutex<()> = Mutex::new(());

fn seek(mut file: &File, offset: u64) -> io::Result<MutexGuard<'static, ()>> {
    let placed = PLACED.lock().unwrap_or_else(|e| e.into_inner());
    file.seek(SeekFrom::Start(offset))?;
    Ok(placed)
}

/// Does nothing: files have no group.
pub fn keep_group(_file: &File, _of: &Metadata) {}

/// Makes a folder, and those around it, unless it is there: as private as folders are.
///
/// # Errors
/// If it cannot be made.
pub fn private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Writes at a place, whatever others write elsewhere in the same file with this function.
///
/// # Errors
/// As [`Write::write_all`].
pub fn write_all_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    let _placed = seek(file, offset)?;
    file.write_all(bytes)
}

/// Reads from a place.
///
/// # Errors
/// As [`Read::read_exact`].
pub fn read_exact_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    let _placed = seek(file, offset)?;
    file.read_exact(bytes)
}

/// Nobody knows.
pub fn stdin_metadata() -> Option<Metadata> {
    None
}

/// Nobody knows.
pub fn stdout_metadata() -> Option<Metadata> {
    None
}

/// Standard input.
pub fn stdin() -> Box<dyn Read + Send> {
    Box::new(io::stdin())
}

/// Standard output.
pub fn stdout() -> Box<dyn Write + Send> {
    Box::new(io::stdout())
}

/// Pipes are as large as they are.
pub fn enlarge_pipe<T>(_pipe: &T) {}
