//! Replacements for kernel features that this operating system lacks.

use memmap2::MmapMut;
use std::fs::File;
use std::io;
use std::path::Path;

/// Returns `None`: unnamed files are not supported.
pub fn nameless(_folder: &Path) -> Option<File> {
    None
}

/// Returns an error. There are no unnamed files to name, because [`nameless`] returns `None`.
///
/// # Errors
/// Always an error.
pub fn give_name(_file: &File, _name: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing: the file grows as it is written.
///
/// # Errors
/// None.
pub fn reserve(_file: &File, _len: u64) -> io::Result<()> {
    Ok(())
}

/// Does nothing: huge pages are not supported.
pub fn huge_pages(_memory: &MmapMut) {}
