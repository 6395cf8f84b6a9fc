//! What only Linux has.

use memmap2::{Advice, MmapMut};
use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// A file without a name in `folder`, which can get one later; `None` where the file system has no such files or /proc is
/// not mounted.
pub fn nameless(folder: &Path) -> Option<File> {
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(folder, flags, mode).ok()?);
    std::fs::metadata(handle(&file)).is_ok().then_some(file)
}

/// Gives a file of [`nameless`] a name that nothing has.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`], and what the file system says.
pub fn give_name(file: &File, name: &Path) -> io::Result<()> {
    Ok(rustix::fs::linkat(CWD, handle(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// The path of an open file, which serves whatever its name is.
fn handle(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Makes the file as long as it will be. Where the file system cannot, the file grows as it is written.
///
/// # Errors
/// A full disk, or a limit of files.
pub fn reserve(file: &File, len: u64) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, len) {
        Err(full @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(full.into()),
        _ => Ok(()),
    }
}

/// Asks for huge pages: touching fresh memory costs more than reading a pipe, unless the pages are huge.
pub fn huge_pages(memory: &MmapMut) {
    let _ = memory.advise(Advice::HugePage);
}
