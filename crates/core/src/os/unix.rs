//! Files as all Unix systems have them.

use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::Path;

/// Which file it is, whatever its name: device and inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    /// Of the file that `metadata` are of; `path` is one of its paths, if it has one.
    pub fn of(_path: Option<&Path>, metadata: &Metadata) -> Option<Self> {
        Some(FileId(metadata.dev(), metadata.ino()))
    }
}

/// Writes at a place, whatever others write elsewhere in the same file.
///
/// # Errors
/// As [`Write::write_all`].
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Reads from a place.
///
/// # Errors
/// As [`io::Read::read_exact`].
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(bytes, offset)
}

/// Makes a folder that nobody else can look into, and those around it, unless it is there.
///
/// # Errors
/// If it cannot be made.
pub fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// What standard input is.
pub fn stdin_metadata() -> Option<Metadata> {
    metadata_of(&io::stdin())
}

/// What standard output is.
pub fn stdout_metadata() -> Option<Metadata> {
    metadata_of(&io::stdout())
}

fn metadata_of(stream: &impl AsFd) -> Option<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

/// Standard output as a plain file handle: std's own would search every slice for line ends.
pub fn stdout() -> Box<dyn Write + Send> {
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(handle) => Box::new(File::from(handle)),
        Err(_) => Box::new(io::stdout()),
    }
}

/// Asks for a larger pipe, which means fewer switches between writer and reader; where it is no pipe or may not grow,
/// nothing happens.
pub fn enlarge_pipe(pipe: &impl AsFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}
