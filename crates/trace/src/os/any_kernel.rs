//! Where the kernel has no help.

use memmap2::MmapMut;
use std::fs::File;
use std::io;
use std::path::Path;

/// There are none: files have names.
pub fn nameless(_folder: &Path) -> Option<File> {
    None
}

/// There is no such file.
///
/// # Errors
/// Always.
pub fn give_name(_file: &File, _name: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The file grows as it is written.
///
/// # Errors
/// None.
pub fn reserve(_file: &File, _len: u64) -> io::Result<()> {
    Ok(())
}

/// Pages are as large as they are.
pub fn huge_pages(_memory: &MmapMut) {}
