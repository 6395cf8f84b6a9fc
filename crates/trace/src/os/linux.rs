//! Kernel features of Linux.

use memmap2::{Advice, MmapMut};
use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Creates an unnamed file in `folder`, to be named later. Returns `None` if the file system lacks
/// `O_TMPFILE` or /proc is not mounted.
pub fn nameless(folder: &Path) -> Option<File> {
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(folder, flags, mode).ok()?);
    std::fs::metadata(handle(&file)).is_ok().then_some(file)
}

/// Names a file created by [`nameless`].
///
/// # Errors
/// Returns [`io::ErrorKind::AlreadyExists`] if the name exists, or any other I/O error.
pub fn give_name(file: &File, name: &Path) -> io::Result<()> {
    Ok(rustix::fs::linkat(CWD, handle(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Returns a path to an open file, with or without a name.
fn handle(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Allocates `len` bytes for a file. Does nothing if the file system does not support it.
///
/// # Errors
/// Returns an error if the disk is full or `len` exceeds a limit.
pub fn reserve(file: &File, len: u64) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, len) {
        Err(full @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(full.into()),
        _ => Ok(()),
    }
}

/// Requests huge pages, because page faults on fresh memory cost more than reading a pipe.
pub fn huge_pages(memory: &MmapMut) {
    let _ = memory.advise(Advice::HugePage);
}
